//! What everything that builds a part of a site shares: where it reads and writes, and what it has to say.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_archive::Archive;
use assay_report::site::Site;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::super::copies::Copies;
use super::folder::Folder;

/// Why something is not on the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// A file of a person has a mistake.
    Mistake,
    /// A check refuses it.
    Refused,
    /// A run is not as its ledger says.
    Damaged,
    /// A process writes it at this moment.
    Busy,
}

/// What is not on the site.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    pub what: String,
    pub because: Why,
    pub message: String,
}

/// What everything that builds a part of the site needs.
pub struct Builder<'a> {
    pub archive: &'a Archive,
    pub folder: &'a Folder,
    pub site: Site,
    pub no_redact: bool,
    pub quiet: bool,
    /// A hash of what every page depends on: the program, the site, what is redacted.
    pub settings: String,
    pub left_out: Mutex<Vec<LeftOut>>,
    pub notes: Mutex<Vec<String>>,
    /// Values that were replaced, files that were left out.
    pub redacted: (AtomicU64, AtomicU64),
    pub next: AtomicU64,
}

impl Builder<'_> {
    pub fn leave_out(&self, what: String, because: Why, message: &str) {
        let mut all = self.left_out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.push(LeftOut { what, because, message: message.to_owned() });
    }

    pub fn note(&self, note: String) {
        self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(note);
    }

    pub fn replaced(&self, copies: &Copies) {
        let (values, files) = copies.replaced();
        self.redacted.0.fetch_add(values, Ordering::Relaxed);
        self.redacted.1.fetch_add(files as u64, Ordering::Relaxed);
    }

    /// A name of its own in the scratch folder.
    pub fn scratch(&self, what: &str) -> PathBuf {
        self.folder.scratch().join(format!("{what}-{}", self.next.fetch_add(1, Ordering::Relaxed)))
    }

    /// A bar for a long build, on a terminal.
    pub fn bar(&self, runs: usize) -> ProgressBar {
        use std::io::IsTerminal as _;
        let shown = runs > 1 && !self.quiet && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs as u64), target);
        let style = ProgressStyle::with_template("runs [{bar:30}] {pos}/{len}  {eta} left");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("=> "));
        }
        bar
    }
}

//! State that all steps of a site's build share: inputs, output folder and messages.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use assay_archive::Archive;
use assay_publish::site::Site;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::super::copies::Copies;
use super::folder::SiteFolder;

/// Reason why something is not on the site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OmissionReason {
    /// A file that a person wrote has a mistake.
    Mistake,
    /// A check refuses to publish it.
    Refused,
    /// The run differs from its ledger.
    Damaged,
    /// A process is writing the run now.
    Busy,
}

/// A run, post or other part that is not on the site.
#[derive(Debug, Clone, Serialize)]
pub struct OmittedPart {
    pub what: String,
    pub because: OmissionReason,
    pub message: String,
}

/// State that all steps of a site's build share.
pub struct Builder<'a> {
    pub archive: &'a Archive,
    pub folder: &'a SiteFolder,
    pub site: Site,
    pub no_redact: bool,
    pub quiet: bool,
    /// Hash of everything that all pages depend on: the program, the site and the redacted names.
    pub settings: String,
    pub left_out: Mutex<Vec<OmittedPart>>,
    pub notes: Mutex<Vec<String>>,
    /// Number of values that were replaced, and of files that were left out.
    pub redacted: (AtomicU64, AtomicU64),
    pub next: AtomicU64,
}

impl Builder<'_> {
    pub fn leave_out(&self, what: String, because: OmissionReason, message: &str) {
        let mut all = self.left_out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.push(OmittedPart { what, because, message: message.to_owned() });
    }

    pub fn note(&self, note: String) {
        self.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(note);
    }

    pub fn replaced(&self, copies: &Copies) {
        let (values, files) = copies.replaced();
        self.redacted.0.fetch_add(values, Ordering::Relaxed);
        self.redacted.1.fetch_add(files as u64, Ordering::Relaxed);
    }

    /// Returns an unused path in the scratch folder.
    pub fn scratch(&self, what: &str) -> PathBuf {
        self.folder.scratch().join(format!("{what}-{}", self.next.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns a progress bar for a long build; hidden unless standard error is a terminal.
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

//! Whether an archive holds what it says: hashes, chains, versions, leftovers.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId, RunState, Severity, TrialRecord};

use crate::archive::Archive;
use crate::disk::{self, MAX_TEXT};
use crate::layout::{
    EXPERIMENT, LEDGER, LOCK, PLAN, RECORD, SAMPLES, STAGING, SYSTEM, TRIAL_STAGING, TRIALS, WAL,
    trial_folder,
};
use crate::lock::{Held, look};
use crate::reader::RunReader;
use crate::{Error, Result, listing, repair, samples};

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A trial was started and never ended: the process, the machine or a person ended it. The run
    /// can be resumed.
    InterruptedTrial,
    /// The ledger's chain is broken.
    Chain,
    /// A file is not what the ledger has the hash of.
    Hash,
    /// A file that should be there is not.
    Missing,
    /// A file cannot be read as what it should be.
    Unreadable,
    /// A file is of a newer format.
    Newer,
    /// A trial that the ledger does not know.
    Unknown,
    /// Something that a dead process left.
    Leftover,
}

impl ProblemKind {
    /// How bad it is: an interrupted trial is worth knowing, a leftover wants clearing, and with
    /// anything else the run's numbers must not be published.
    pub fn severity(self) -> Severity {
        match self {
            ProblemKind::InterruptedTrial => Severity::Note,
            ProblemKind::Leftover => Severity::Warning,
            _ => Severity::Invalid,
        }
    }
}

/// One thing that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// In which run; `None` for the archive itself.
    pub run: Option<RunId>,
    /// At which file or folder.
    pub path: PathBuf,
    /// What kind.
    pub kind: ProblemKind,
    /// What was found, as a sentence.
    pub message: String,
}

impl Archive {
    /// Checks one run, or everything. What a dead writer left is put in order first, as for every
    /// reader. A run that is being written is checked as far as it has come.
    pub fn verify(&self, run: Option<&RunId>) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        if let Some(id) = run {
            verify_run(&self.folder_of(id)?, id, &mut problems);
            return Ok(problems);
        }
        for name in listing::names(self.path())? {
            let folder = self.path().join(crate::layout::RUNS).join(&name);
            match name.parse() {
                Ok(id) => verify_run(&folder, &id, &mut problems),
                Err(e) => problems.push(Problem {
                    run: None,
                    path: folder,
                    kind: ProblemKind::Unknown,
                    message: format!("{e}; move the folder elsewhere"),
                }),
            }
        }
        for path in repair::list(&self.path().join(STAGING)).unwrap_or_default() {
            if !matches!(look(&path), Held::Alive(..)) {
                let message =
                    "a process died while it made or removed this; it can be deleted".to_owned();
                problems.push(Problem { run: None, path, kind: ProblemKind::Leftover, message });
            }
        }
        Ok(problems)
    }
}

/// Checks a run's folder, after putting it in order.
pub(crate) fn verify_run(folder: &Path, id: &RunId, problems: &mut Vec<Problem>) {
    let mut check = Check { folder, id, problems };
    match RunReader::open(folder, id) {
        Ok(run) => check.run(&run),
        Err(error) => check.error(folder, &error),
    }
}

struct Check<'a> {
    folder: &'a Path,
    id: &'a RunId,
    problems: &'a mut Vec<Problem>,
}

impl Check<'_> {
    fn found(&mut self, path: &Path, kind: ProblemKind, message: impl Into<String>) {
        self.problems.push(Problem {
            run: Some(self.id.clone()),
            path: path.to_owned(),
            kind,
            message: message.into(),
        });
    }

    fn error(&mut self, path: &Path, error: &Error) {
        let kind = match error {
            Error::Newer { .. } => ProblemKind::Newer,
            Error::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ProblemKind::Missing
            }
            _ => ProblemKind::Unreadable,
        };
        self.found(path, kind, error.to_string());
    }

    fn run(&mut self, run: &RunReader) {
        let live = run.state() == RunState::Started;
        let ledger = self.folder.join(LEDGER);
        if let Some(damage) = &run.chain().damage {
            let message = format!("line {}: {}", damage.line, damage.reason);
            self.found(&ledger, ProblemKind::Chain, message);
        }
        self.declared(run);
        for (name, result) in [
            (PLAN, run.plan().map(|_| ())),
            (SYSTEM, run.system().map(|_| ())),
            (crate::layout::METRICS, run.run_metrics().map(|_| ())),
        ] {
            if let Err(error) = result {
                self.error(&self.folder.join(name), &error);
            }
        }
        self.trials(run, live);
        if !live {
            self.leftovers();
        }
    }

    /// The experiment and the plan are what the ledger says they were.
    fn declared(&mut self, run: &RunReader) {
        let (mut experiment, mut plan) = (None, None);
        for entry in run.ledger() {
            match &entry.event {
                LedgerEvent::Planned { experiment_sha256, plan_sha256, .. } => {
                    (experiment, plan) = (Some(experiment_sha256), Some(plan_sha256));
                }
                LedgerEvent::BlocksFixed { plan_sha256, .. } => plan = Some(plan_sha256),
                _ => {}
            }
        }
        for (name, wanted) in [(EXPERIMENT, experiment), (PLAN, plan)] {
            let path = self.folder.join(name);
            match wanted {
                Some(wanted) => self.hash(&path, wanted),
                None => self.found(
                    &self.folder.join(LEDGER),
                    ProblemKind::Chain,
                    format!("it does not say what {name} was"),
                ),
            }
        }
    }

    fn hash(&mut self, path: &Path, wanted: &str) {
        match disk::read(path, MAX_TEXT) {
            Ok(bytes) if disk::sha256(&bytes) == wanted => {}
            Ok(_) => self.found(
                path,
                ProblemKind::Hash,
                "its hash is not the one in the ledger: it was changed afterwards",
            ),
            Err(error) => self.error(path, &error),
        }
    }

    /// Every trial of the ledger has its record, and every record its entry.
    fn trials(&mut self, run: &RunReader, live: bool) {
        let mut open = HashSet::new();
        let mut known = HashSet::new();
        for entry in run.ledger() {
            match &entry.event {
                LedgerEvent::TrialStarted { number, attempt } => {
                    open.insert((*number, *attempt));
                }
                LedgerEvent::TrialEnded { number, attempt, record_sha256, .. } => {
                    open.remove(&(*number, *attempt));
                    let folder = self.folder.join(trial_folder(*number, *attempt));
                    self.trial(&folder, (*number, *attempt), record_sha256);
                    known.insert(folder);
                }
                _ => {}
            }
        }
        if live {
            return; // its last trial runs, and a record comes before its entry
        }
        let mut open: Vec<(u32, u32)> = open.into_iter().collect();
        open.sort_unstable();
        for (number, attempt) in open {
            let message =
                format!("attempt {attempt} at trial {number} was started and never ended");
            self.found(
                &self.folder.join(trial_folder(number, attempt)),
                ProblemKind::InterruptedTrial,
                message,
            );
        }
        for folder in repair::list(&self.folder.join(TRIALS)).unwrap_or_default() {
            if !known.contains(&folder) {
                let message = "the ledger has no such trial";
                self.found(&folder, ProblemKind::Unknown, message);
            }
        }
    }

    fn trial(&mut self, folder: &Path, place: (u32, u32), wanted: &str) {
        let path = folder.join(RECORD);
        self.hash(&path, wanted);
        match disk::read_json::<TrialRecord>(&path) {
            Ok(record) if (record.number, record.attempt) == place => {}
            Ok(record) => {
                let message =
                    format!("it is attempt {} at trial {}", record.attempt, record.number);
                self.found(&path, ProblemKind::Hash, message);
            }
            // What is missing was said above.
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => self.error(&path, &error),
        }
        let path = folder.join(SAMPLES);
        if let Ok(file) = File::open(&path)
            && let Err(error) = samples::decode(file)
        {
            self.found(&path, ProblemKind::Unreadable, error.to_string());
        }
    }

    fn leftovers(&mut self) {
        for name in [LOCK, WAL, TRIAL_STAGING] {
            let path = self.folder.join(name);
            if path.exists() {
                let message = "a dead process left it, and it could not be put in order: make the \
                               archive writable, with some free space, and try again";
                self.found(&path, ProblemKind::Leftover, message);
            }
        }
    }
}

//! Whether an archive holds what it says: hashes, chains, versions, leftovers.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use assay_model::{RunId, RunState, Severity};

use crate::account::{Account, Gone, Key, Standing};
use crate::archive::Archive;
use crate::disk::{self, MAX_TEXT};
use crate::foreign::MAX_FILE;
use crate::layout::{
    EXPERIMENT, LEDGER, METRICS, PLAN, RECORDS, SAMPLES, STAGING, SYSTEM, TRIALS, is_run_file,
};
use crate::lock::{Held, look};
use crate::reader::RunReader;
use crate::{Error, Result, listing, records, repair, samples};

/// What kind of problem it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A trial was started and never ended: the process, the machine or a person ended it. The run
    /// can be resumed.
    InterruptedTrial,
    /// The ledger's chain is broken.
    Chain,
    /// A file or a record is not what the ledger has the hash of.
    Hash,
    /// A file, or the record of a trial, that should be there is not.
    Missing,
    /// The record of a trial that was among the last before a session was cut off is not there: the
    /// power went before it was flushed, or it was taken out.
    Lost,
    /// A file cannot be read as what it should be.
    Unreadable,
    /// A file is of a newer format.
    Newer,
    /// Something that the ledger does not know.
    Unknown,
    /// Something that a dead process left.
    Leftover,
}

impl ProblemKind {
    /// How bad it is: an interrupted trial is worth knowing, a lost one is to be told with the
    /// numbers, a leftover wants clearing, and with anything else they must not be published.
    pub fn severity(self) -> Severity {
        match self {
            ProblemKind::InterruptedTrial => Severity::Note,
            ProblemKind::Lost | ProblemKind::Leftover => Severity::Warning,
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
    /// Checks one run, or everything; changes nothing. A run that is being written is checked as far
    /// as it has come.
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

/// Checks a run's folder.
pub(crate) fn verify_run(folder: &Path, id: &RunId, problems: &mut Vec<Problem>) {
    let mut check = Check { folder, id, problems };
    match RunReader::open(folder, id) {
        Ok(run) => check.run(&run),
        Err(error) => check.error(folder, &error),
    }
}

const NO_ENTRY: &str = "is not in the ledger";

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
            (METRICS, run.run_metrics().map(|_| ())),
        ] {
            if let Err(error) = result {
                self.error(&self.folder.join(name), &error);
            }
        }
        self.imported(run);
        let account = Account::of(run.ledger());
        let recorded = self.records(&account, live);
        self.trials(&account, &recorded, live);
        self.folders(&recorded, live);
    }

    /// The experiment and the plan are what the ledger says they were.
    fn declared(&mut self, run: &RunReader) {
        let experiment = disk::read(&self.folder.join(EXPERIMENT), MAX_TEXT);
        for (name, bytes, wanted) in [
            (EXPERIMENT, experiment, run.chain().experiment_sha256()),
            (PLAN, run.plan_bytes(), run.chain().plan_sha256()),
        ] {
            let path = self.folder.join(name);
            match (bytes, wanted) {
                (Ok(bytes), Some(wanted)) if disk::sha256(&bytes) == wanted => {}
                (Ok(_), Some(_)) => self.found(
                    &path,
                    ProblemKind::Hash,
                    "its hash is not the one in the ledger: it was changed afterwards",
                ),
                (Ok(_), None) => self.found(
                    &self.folder.join(LEDGER),
                    ProblemKind::Chain,
                    format!("it does not say what {name} was"),
                ),
                (Err(error), _) => self.error(&path, &error),
            }
        }
    }

    /// The files that the run was imported from are there as they were.
    fn imported(&mut self, run: &RunReader) {
        for file in run.imported().map(|(_, files)| files).unwrap_or_default() {
            if !is_run_file(&file.kept) {
                let message = format!("`{}` is not the name of a run's file", file.kept);
                self.found(&self.folder.join(LEDGER), ProblemKind::Unreadable, message);
                continue;
            }
            let path = self.folder.join(&file.kept);
            match disk::read(&path, MAX_FILE) {
                Ok(bytes) if disk::sha256(&bytes) == file.sha256 => {}
                Ok(_) => self.found(
                    &path,
                    ProblemKind::Hash,
                    format!("it is not the `{}` that the trials were imported from", file.name),
                ),
                Err(error) => self.error(&path, &error),
            }
        }
    }

    /// Every record is whole and the ledger's. Returns the trials that have one.
    fn records(&mut self, account: &Account<'_>, live: bool) -> HashSet<Key> {
        let path = self.folder.join(RECORDS);
        let mut recorded = HashSet::new();
        // Records that the ledger does not have: fine at the end of a session that was cut off.
        let mut not_entered = Vec::new();
        let mut stray = Vec::new();
        let read = records::read_file(&path, |line, record| {
            let key = (record.number, record.attempt);
            if !recorded.insert(key) {
                stray.push((key, ProblemKind::Unknown, "is there twice"));
                return;
            }
            match account.standing(key, &disk::sha256(line)) {
                Standing::NotEntered => not_entered.push(key),
                Standing::Changed => stray.push((
                    key,
                    ProblemKind::Hash,
                    "does not have the hash in the ledger: it was changed afterwards",
                )),
                Standing::Entered => {
                    stray.extend(
                        not_entered.drain(..).map(|key| (key, ProblemKind::Unknown, NO_ENTRY)),
                    );
                }
            }
        });
        let ended = account.has_ended() && !live;
        match read.and_then(|end| end.check(&path).map(|()| end.torn)) {
            Ok(torn) if torn && ended => {
                let message = "its last line is torn, though the run came to an end";
                self.found(&path, ProblemKind::Unreadable, message);
            }
            Ok(_) => {}
            Err(Error::Damaged { reason, .. }) => {
                self.found(&path, ProblemKind::Unreadable, reason);
            }
            Err(error) => self.error(&path, &error),
        }
        if ended {
            stray.extend(not_entered.drain(..).map(|key| (key, ProblemKind::Unknown, NO_ENTRY)));
        }
        for ((number, attempt), kind, what) in stray {
            self.found(&path, kind, format!("attempt {attempt} at trial {number} {what}"));
        }
        recorded
    }

    /// Every trial of the ledger has its record.
    fn trials(&mut self, account: &Account<'_>, recorded: &HashSet<Key>, live: bool) {
        let path = self.folder.join(RECORDS);
        for Gone { key: (number, attempt), at_end } in account.gone(recorded) {
            let trial = format!("attempt {attempt} at trial {number} ended, and its record");
            if at_end {
                let message = format!(
                    "{trial}, one of the last before a session was cut off, is not here: the power \
                     went before it was flushed, or it was taken out"
                );
                self.found(&path, ProblemKind::Lost, message);
            } else {
                self.found(&path, ProblemKind::Missing, format!("{trial} is not here"));
            }
        }
        // The last trial of a live run runs.
        for (number, attempt) in
            account.open().into_iter().filter(|key| !live && !recorded.contains(key))
        {
            let message =
                format!("attempt {attempt} at trial {number} was started and never ended");
            self.found(&self.folder.join(LEDGER), ProblemKind::InterruptedTrial, message);
        }
    }

    /// The folders of trials are of trials, and their samples can be read.
    fn folders(&mut self, recorded: &HashSet<Key>, live: bool) {
        for folder in repair::list(&self.folder.join(TRIALS)).unwrap_or_default() {
            if repair::trial_of(&folder).is_none() {
                self.found(&folder, ProblemKind::Unknown, "it is not the folder of a trial");
                continue;
            }
            let path = folder.join(SAMPLES);
            if let Ok(file) = File::open(&path)
                && let Err(error) = samples::decode(file)
            {
                self.found(&path, ProblemKind::Unreadable, error.to_string());
            }
        }
        if live {
            return; // a trial's folder comes before its record
        }
        for path in repair::leftovers(self.folder, recorded).unwrap_or_default() {
            let message = "a dead process left it, and nothing depends on it: it can be deleted, and \
                           resuming the run deletes it";
            self.found(&path, ProblemKind::Leftover, message);
        }
    }
}

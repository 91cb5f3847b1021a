//! Verifies the integrity of an archive: hashes, chains, heads, format versions, leftovers.

mod files;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId, RunState, Severity, TrialRecord};

use crate::format::chain::Chain;
use crate::format::layout::{LEDGER, RECORDS, RUNS, STAGING, TRIALS};
use crate::format::records::TrialKey;
use crate::format::{disk, records};
use crate::store::account::{Account, AttemptKey, EntryStatus, LostTrial};
use crate::store::folder::Archive;
use crate::store::heads::{Head, HeadComparison};
use crate::store::lock::{LockState, read_state};
use crate::store::reader::RunReader;
use crate::store::repair;
use crate::store::{create, heads, listing, notes};
use crate::{Error, Result};

/// Kind of a problem that verification found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A trial was started but never ended: the process, the machine or a person stopped it. The
    /// run can be resumed.
    InterruptedTrial,
    Chain,
    /// The hash of a file or record differs from the one in the ledger.
    Hash,
    /// A file or the record of a trial is missing.
    Missing,
    /// The last data before a session was interrupted is missing: a power failure came before it
    /// was flushed, or somebody removed it.
    Lost,
    /// A file cannot be parsed.
    Unreadable,
    /// A file has a newer format version.
    Newer,
    /// The ledger does not list a file or record.
    Unknown,
    /// A dead process left a file or folder behind.
    Leftover,
    /// The ledger has no hash of a file, so that a change cannot be detected: an older assay wrote
    /// it, or its writer died before it added the hash.
    NotRecorded,
}

impl ProblemKind {
    /// Returns the severity. An interrupted trial and data that cannot be checked are notes. Lost
    /// trials (to be reported with the numbers) and leftovers (to be cleaned up) are warnings.
    /// Anything else makes the numbers unfit for publication.
    pub fn severity(self) -> Severity {
        match self {
            ProblemKind::InterruptedTrial | ProblemKind::NotRecorded => Severity::Note,
            ProblemKind::Lost | ProblemKind::Leftover => Severity::Warning,
            _ => Severity::Invalid,
        }
    }
}

/// A problem that verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The run; `None` for the archive itself.
    pub run: Option<RunId>,
    /// The file or folder that has the problem.
    pub path: PathBuf,
    pub kind: ProblemKind,
    /// Description of the problem as a sentence.
    pub message: String,
}

impl Problem {
    /// Returns the severity of the problem's kind.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

impl Archive {
    /// Verifies one run or the whole archive without changing anything. A run that is being written
    /// is verified as far as it exists.
    pub fn verify(&self, run: Option<&RunId>) -> Result<Vec<Problem>> {
        let mut problems = Vec::new();
        if let Some(id) = run {
            verify_run(&self.folder_of(id)?, id, self.kept_head(id), &mut problems);
            return Ok(problems);
        }
        for name in listing::names(self.path())? {
            let folder = self.path().join(RUNS).join(&name);
            match name.parse() {
                Ok(id) => verify_run(&folder, &id, self.kept_head(&id), &mut problems),
                Err(e) => problems.push(Problem {
                    run: None,
                    path: folder,
                    kind: ProblemKind::Unknown,
                    message: format!("{e}; move the folder elsewhere"),
                }),
            }
        }
        for path in repair::list(&self.path().join(STAGING)).unwrap_or_default() {
            if !matches!(read_state(&path), LockState::Alive(..)) {
                let message =
                    "a process died while it made or removed this; it can be deleted".to_owned();
                problems.push(Problem { run: None, path, kind: ProblemKind::Leftover, message });
            }
        }
        self.verify_heads(&mut problems)?;
        self.verify_notes(&mut problems)?;
        Ok(problems)
    }

    /// Verifies a run of this archive that was opened before and was not being written at that
    /// time.
    pub fn verify_open(&self, run: &RunReader) -> Vec<Problem> {
        let (id, mut problems) = (run.id(), Vec::new());
        RunVerification::new(run.dir(), id, &mut problems).run(run, self.kept_head(id));
        problems
    }

    /// Reads the stored head. Must be called before the ledger is read, because the ledger may grow
    /// meanwhile.
    fn kept_head(&self, id: &RunId) -> StoredHead {
        StoredHead { path: heads::path(self.path(), id), head: heads::read(self.path(), id) }
    }

    /// Checks that every head belongs to a run.
    fn verify_heads(&self, problems: &mut Vec<Problem>) -> Result<()> {
        for (path, run) in heads::list(self.path())? {
            let (kind, message) = match &run {
                None if repair::is_staged(&path) => (
                    ProblemKind::Leftover,
                    "a process died while it made this; it can be deleted".to_owned(),
                ),
                None => (ProblemKind::Unknown, "it belongs to no run's ledger".to_owned()),
                Some(id) if self.folder_of(id).is_ok() || self.is_in_trash(id) => continue,
                Some(id) if self.is_staged(id) => (
                    ProblemKind::Leftover,
                    format!("a process makes or removes run {id}, or died while it did"),
                ),
                Some(id) => (
                    ProblemKind::Missing,
                    format!("run {id} is missing, and `assay archive delete` did not delete it"),
                ),
            };
            problems.push(Problem { run, path, kind, message });
        }
        Ok(())
    }

    /// Checks that every notes file is readable and belongs to a run.
    fn verify_notes(&self, problems: &mut Vec<Problem>) -> Result<()> {
        for notes::NotesFile { path, run, problem } in notes::list(self.path())? {
            let (kind, message) = match (&run, problem) {
                (None, _) if repair::is_staged(&path) => (
                    ProblemKind::Leftover,
                    "a process died while it made this; it can be deleted".to_owned(),
                ),
                (None, _) => (ProblemKind::Unknown, "it belongs to no run".to_owned()),
                (Some(_), Some(error)) => (ProblemKind::Unreadable, error.to_string()),
                (Some(id), None) if self.folder_of(id).is_ok() || self.is_in_trash(id) => continue,
                (Some(id), None) => (
                    ProblemKind::Leftover,
                    format!("the archive has no run {id}; it can be deleted"),
                ),
            };
            problems.push(Problem { run, path, kind, message });
        }
        Ok(())
    }

    /// True if a process is creating or removing the run, or died while doing so.
    fn is_staged(&self, id: &RunId) -> bool {
        let staged = repair::list(&self.path().join(STAGING)).unwrap_or_default();
        staged.iter().any(|path| create::staged_run(path).as_ref() == Some(id))
    }
}

/// The stored head of a run's ledger.
pub(crate) struct StoredHead {
    pub path: PathBuf,
    /// The head; `None` if none was stored.
    pub head: Result<Option<Head>>,
}

/// Verifies the folder of a run.
pub(crate) fn verify_run(folder: &Path, id: &RunId, head: StoredHead, problems: &mut Vec<Problem>) {
    let mut check = RunVerification::new(folder, id, problems);
    match RunReader::open(folder, id) {
        Ok(run) => check.run(&run, head),
        Err(error) => check.error(error.path().unwrap_or(folder), &error),
    }
}

const NO_ENTRY: &str = "is not in the ledger";
struct RunVerification<'a> {
    folder: &'a Path,
    id: &'a RunId,
    problems: &'a mut Vec<Problem>,
    /// Names of files without a hash in the ledger.
    not_recorded: Vec<String>,
}

impl<'a> RunVerification<'a> {
    fn new(folder: &'a Path, id: &'a RunId, problems: &'a mut Vec<Problem>) -> Self {
        RunVerification { folder, id, problems, not_recorded: Vec::new() }
    }

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

    fn run(&mut self, run: &RunReader, head: StoredHead) {
        let live = run.state() == RunState::Started;
        let ledger = self.folder.join(LEDGER);
        let chain = run.chain();
        if let Some(damage) = &chain.damage {
            let message = format!("line {}: {}", damage.line, damage.reason);
            self.found(&ledger, ProblemKind::Chain, message);
        }
        self.head(chain, head, live);
        for entry in run.ledger() {
            if let LedgerEvent::EntriesLost { entries } = entry.event {
                let message =
                    format!("before its entry {}, {}", entry.seq, HeadComparison::Lost(entries));
                self.found(&ledger, ProblemKind::Lost, message);
            }
        }
        let account = Account::from_entries(run.ledger());
        let recorded = self.records(&account, live);
        self.trials(&account, &recorded, live);
        self.folders(&recorded, live);
        self.files(run, &account, &recorded, live);
        // Entries after a damaged line are not read, so their hashes only seem to be missing.
        if !self.not_recorded.is_empty() && chain.damage.is_none() {
            let message = files::not_recorded(&self.not_recorded);
            self.found(self.folder, ProblemKind::NotRecorded, message);
        }
    }

    /// Checks that the ledger ends where its head says. The head of a live run moves.
    fn head(&mut self, chain: &Chain, kept: StoredHead, live: bool) {
        let ledger = self.folder.join(LEDGER);
        let against = match kept.head {
            Ok(Some(head)) => head.against(chain),
            Ok(None) if chain.has_all_files() => {
                let message = format!(
                    "it was removed, and the end of {} cannot be checked without it",
                    ledger.display()
                );
                return self.found(&kept.path, ProblemKind::Missing, message);
            }
            Ok(None) => return self.not_recorded.push(format!("the end of {LEDGER}")),
            Err(error) if live && matches!(error, Error::Damaged { .. }) => return,
            Err(error) => return self.error(&kept.path, &error),
        };
        let kind = match against {
            HeadComparison::Agrees => None,
            HeadComparison::GoesOn(_) | HeadComparison::Lost(_) => Some(ProblemKind::Lost),
            HeadComparison::Added(_) | HeadComparison::Cut(_) | HeadComparison::Differs => {
                Some(ProblemKind::Chain)
            }
        };
        if let Some(kind) = kind.filter(|_| !live && chain.damage.is_none()) {
            self.found(&ledger, kind, format!("{against} ({})", kept.path.display()));
        } else if chain.torn && !live {
            let message = "its last line is torn: it was being written when its process died";
            self.found(&ledger, ProblemKind::Leftover, message);
        }
    }

    /// Checks that every record is complete and in the ledger; a record with the hash in the ledger
    /// is as it was written. Returns the trials that have a record.
    fn records(&mut self, account: &Account<'_>, live: bool) -> HashSet<AttemptKey> {
        let path = self.folder.join(RECORDS);
        let mut recorded = HashSet::new();
        // Records that are not in the ledger; legitimate at the end of an interrupted session.
        let mut not_entered = Vec::new();
        let mut stray = Vec::new();
        let read = records::read_file(&path, |line, record: TrialKey| {
            let key = (record.number, record.attempt);
            if !recorded.insert(key) {
                stray.push((key, ProblemKind::Unknown, "appears twice"));
                return;
            }
            match account.status(key, &disk::sha256(line)) {
                EntryStatus::NotEntered => {
                    if serde_json::from_slice::<TrialRecord>(line).is_err() {
                        stray.push((key, ProblemKind::Unreadable, "is incomplete"));
                    }
                    not_entered.push(key);
                }
                EntryStatus::Changed => stray.push((
                    key,
                    ProblemKind::Hash,
                    "does not have the hash in the ledger: it was changed later",
                )),
                EntryStatus::Entered => {
                    stray.extend(
                        not_entered.drain(..).map(|key| (key, ProblemKind::Unknown, NO_ENTRY)),
                    );
                }
            }
        });
        let ended = account.has_ended() && !live;
        match read.and_then(|end| end.check(&path).map(|()| end.torn)) {
            Ok(torn) if torn && ended => {
                let message = "its last line is torn, though the run ended";
                self.found(&path, ProblemKind::Unreadable, message);
            }
            Ok(torn) if torn && !live => {
                let message = "its last line is torn: it was being written when its process died";
                self.found(&path, ProblemKind::Leftover, message);
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

    /// Checks that every trial that ended has a record.
    fn trials(&mut self, account: &Account<'_>, recorded: &HashSet<AttemptKey>, live: bool) {
        let path = self.folder.join(RECORDS);
        for LostTrial { key: (number, attempt), at_end } in account.gone(recorded) {
            let trial = format!("attempt {attempt} at trial {number} ended, and its record");
            if at_end {
                let message = format!(
                    "{trial}, one of the last before a session was interrupted, is missing: the \
                     power failed before it was flushed, or it was removed"
                );
                self.found(&path, ProblemKind::Lost, message);
            } else {
                self.found(&path, ProblemKind::Missing, format!("{trial} is missing"));
            }
        }
        // The last trial of a live run may still be running.
        for (number, attempt) in
            account.open().into_iter().filter(|key| !live && !recorded.contains(key))
        {
            let message =
                format!("attempt {attempt} at trial {number} was started and never ended");
            self.found(&self.folder.join(LEDGER), ProblemKind::InterruptedTrial, message);
        }
    }

    /// Checks that every folder in `trials/` belongs to a trial.
    fn folders(&mut self, recorded: &HashSet<AttemptKey>, live: bool) {
        for folder in repair::list(&self.folder.join(TRIALS)).unwrap_or_default() {
            let is_folder = fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir());
            if repair::trial_of(&folder).is_none() || !is_folder {
                self.found(&folder, ProblemKind::Unknown, "it is not the folder of a trial");
            }
        }
        if live {
            return; // a trial's folder is written before its record
        }
        for path in repair::leftovers(self.folder, recorded).unwrap_or_default() {
            let message = "a dead process left it, and nothing depends on it: it can be deleted, \
                           and resuming the run deletes it";
            self.found(&path, ProblemKind::Leftover, message);
        }
    }
}

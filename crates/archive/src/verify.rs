//! Whether an archive holds what it says: hashes, chains, heads, versions, leftovers.

mod files;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use assay_model::{LedgerEvent, RunId, RunState, Severity, TrialRecord};

use crate::account::{Account, EntryStatus, Gone, Key};
use crate::archive::Archive;
use crate::chain::Chain;
use crate::heads::{Against, Head};
use crate::layout::{LEDGER, RECORDS, RUNS, STAGING, TRIALS};
use crate::lock::{Held, look};
use crate::reader::RunReader;
use crate::records::TrialKey;
use crate::{Error, Result, create, disk, heads, listing, notes, records, repair};

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
    /// What was written last before a session was interrupted is not there: the power went before it was
    /// flushed, or it was taken out.
    Lost,
    /// A file cannot be read as what it should be.
    Unreadable,
    /// A file is of a newer format.
    Newer,
    /// Something that the ledger does not know.
    Unknown,
    /// Something that a dead process left.
    Leftover,
    /// The ledger has no hash of a file, so a change of it cannot be noticed: an older assay wrote it,
    /// or its writer died before it was entered.
    NotRecorded,
}

impl ProblemKind {
    /// How bad it is: an interrupted trial and what cannot be checked are worth knowing, a lost one is
    /// to be reported with the numbers, a leftover wants clearing, and with anything else they must
    /// not be published.
    pub fn severity(self) -> Severity {
        match self {
            ProblemKind::InterruptedTrial | ProblemKind::NotRecorded => Severity::Note,
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

impl Problem {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

impl Archive {
    /// Checks one run, or everything; changes nothing. A run that is being written is checked as far
    /// as it has come.
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
            if !matches!(look(&path), Held::Alive(..)) {
                let message =
                    "a process died while it made or removed this; it can be deleted".to_owned();
                problems.push(Problem { run: None, path, kind: ProblemKind::Leftover, message });
            }
        }
        self.verify_heads(&mut problems)?;
        self.verify_notes(&mut problems)?;
        Ok(problems)
    }

    /// Checks a run of this archive that is open already and was not being written then.
    pub fn verify_open(&self, run: &RunReader) -> Vec<Problem> {
        let (id, mut problems) = (run.id(), Vec::new());
        Check::of(run.dir(), id, &mut problems).run(run, self.kept_head(id));
        problems
    }

    /// The head is read before the ledger, which may go on meanwhile.
    fn kept_head(&self, id: &RunId) -> KeptHead {
        KeptHead { path: heads::path(self.path(), id), head: heads::read(self.path(), id) }
    }

    /// Every head has its run.
    fn verify_heads(&self, problems: &mut Vec<Problem>) -> Result<()> {
        for (path, run) in heads::list(self.path())? {
            let (kind, message) = match &run {
                None if repair::is_staged(&path) => (
                    ProblemKind::Leftover,
                    "a process died while it made this; it can be deleted".to_owned(),
                ),
                None => (ProblemKind::Unknown, "it is the head of no run's ledger".to_owned()),
                Some(id) if self.folder_of(id).is_ok() || self.is_in_trash(id) => continue,
                Some(id) if self.is_staged(id) => (
                    ProblemKind::Leftover,
                    format!("a process makes or removes run {id}, or died while it did"),
                ),
                Some(id) => (
                    ProblemKind::Missing,
                    format!("run {id} is gone, and not by `assay archive delete`"),
                ),
            };
            problems.push(Problem { run, path, kind, message });
        }
        Ok(())
    }

    /// Every file of notes can be read and has its run.
    fn verify_notes(&self, problems: &mut Vec<Problem>) -> Result<()> {
        for notes::NotesFile { path, run, problem } in notes::list(self.path())? {
            let (kind, message) = match (&run, problem) {
                (None, _) if repair::is_staged(&path) => (
                    ProblemKind::Leftover,
                    "a process died while it made this; it can be deleted".to_owned(),
                ),
                (None, _) => (ProblemKind::Unknown, "it is the notes of no run".to_owned()),
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

    /// Whether a process makes or removes the run, or died while it did.
    fn is_staged(&self, id: &RunId) -> bool {
        let staged = repair::list(&self.path().join(STAGING)).unwrap_or_default();
        staged.iter().any(|path| create::staged_run(path).as_ref() == Some(id))
    }
}

/// The head that was kept of a run's ledger.
pub(crate) struct KeptHead {
    /// Where.
    pub path: PathBuf,
    /// The head; `None` when none was kept.
    pub head: Result<Option<Head>>,
}

/// Checks a run's folder.
pub(crate) fn verify_run(folder: &Path, id: &RunId, head: KeptHead, problems: &mut Vec<Problem>) {
    let mut check = Check::of(folder, id, problems);
    match RunReader::open(folder, id) {
        Ok(run) => check.run(&run, head),
        Err(error) => check.error(error.path().unwrap_or(folder), &error),
    }
}

const NO_ENTRY: &str = "is not in the ledger";
struct Check<'a> {
    folder: &'a Path,
    id: &'a RunId,
    problems: &'a mut Vec<Problem>,
    /// What no hash was kept of.
    not_recorded: Vec<String>,
}

impl<'a> Check<'a> {
    fn of(folder: &'a Path, id: &'a RunId, problems: &'a mut Vec<Problem>) -> Self {
        Check { folder, id, problems, not_recorded: Vec::new() }
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

    fn run(&mut self, run: &RunReader, head: KeptHead) {
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
                let message = format!("before its entry {}, {}", entry.seq, Against::Lost(entries));
                self.found(&ledger, ProblemKind::Lost, message);
            }
        }
        let account = Account::of(run.ledger());
        let recorded = self.records(&account, live);
        self.trials(&account, &recorded, live);
        self.folders(&recorded, live);
        self.files(run, &account, &recorded, live);
        // What follows a damaged line is not read, so it cannot be missed.
        if !self.not_recorded.is_empty() && chain.damage.is_none() {
            let message = files::not_recorded(&self.not_recorded);
            self.found(self.folder, ProblemKind::NotRecorded, message);
        }
    }

    /// The ledger ends where its head says. The head of a live run moves.
    fn head(&mut self, chain: &Chain, kept: KeptHead, live: bool) {
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
            Against::Agrees => None,
            Against::GoesOn(_) | Against::Lost(_) => Some(ProblemKind::Lost),
            Against::Added(_) | Against::Cut(_) | Against::Differs => Some(ProblemKind::Chain),
        };
        if let Some(kind) = kind.filter(|_| !live && chain.damage.is_none()) {
            self.found(&ledger, kind, format!("{against} ({})", kept.path.display()));
        } else if chain.torn && !live {
            let message = "its last line is torn: it was being written when its process died";
            self.found(&ledger, ProblemKind::Leftover, message);
        }
    }

    /// Every record is whole and the ledger's: one with the hash that was entered is as it was written. Returns the
    /// trials that have one.
    fn records(&mut self, account: &Account<'_>, live: bool) -> HashSet<Key> {
        let path = self.folder.join(RECORDS);
        let mut recorded = HashSet::new();
        // Records that the ledger does not have: fine at the end of a session that was interrupted.
        let mut not_entered = Vec::new();
        let mut stray = Vec::new();
        let read = records::read_file(&path, |line, record: TrialKey| {
            let key = (record.number, record.attempt);
            if !recorded.insert(key) {
                stray.push((key, ProblemKind::Unknown, "is there twice"));
                return;
            }
            match account.status(key, &disk::sha256(line)) {
                EntryStatus::NotEntered => {
                    if serde_json::from_slice::<TrialRecord>(line).is_err() {
                        stray.push((key, ProblemKind::Unreadable, "is not whole"));
                    }
                    not_entered.push(key);
                }
                EntryStatus::Changed => stray.push((
                    key,
                    ProblemKind::Hash,
                    "does not have the hash in the ledger: it was changed afterwards",
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
                let message = "its last line is torn, though the run came to an end";
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

    /// Every trial of the ledger has its record.
    fn trials(&mut self, account: &Account<'_>, recorded: &HashSet<Key>, live: bool) {
        let path = self.folder.join(RECORDS);
        for Gone { key: (number, attempt), at_end } in account.gone(recorded) {
            let trial = format!("attempt {attempt} at trial {number} ended, and its record");
            if at_end {
                let message = format!(
                    "{trial}, one of the last before a session was interrupted, is not here: the power \
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

    /// The folders of trials are of trials.
    fn folders(&mut self, recorded: &HashSet<Key>, live: bool) {
        for folder in repair::list(&self.folder.join(TRIALS)).unwrap_or_default() {
            let is_folder = fs::symlink_metadata(&folder).is_ok_and(|meta| meta.is_dir());
            if repair::trial_of(&folder).is_none() || !is_folder {
                self.found(&folder, ProblemKind::Unknown, "it is not the folder of a trial");
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

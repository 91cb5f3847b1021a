//! Compares the trials in the ledger with the trial records on disk.
//!
//! A trial's record is written before its `TrialEnded` entry, so the two can differ only after a
//! crash: the last record may not be in the ledger yet, and after a power failure the last entries
//! of a session may refer to records that had not been flushed.

use std::collections::{HashMap, HashSet};

use assay_model::{FileHash, LedgerEntry, LedgerEvent};

use crate::format::layout::{IO, SAMPLES};

/// A trial's number and its attempt.
pub(crate) type AttemptKey = (u32, u32);

/// Comparison of a trial record with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryStatus {
    /// The ledger has an entry for the record with the same hash.
    Entered,
    /// The ledger has no entry that ends this trial.
    NotEntered,
    /// The ledger has an entry for the trial with a different hash.
    Changed,
}

/// A trial that ended according to the ledger but has no record on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostTrial {
    pub key: AttemptKey,
    /// True if the trial is among the last ones of a session that did not end properly, which is
    /// what a power failure leaves. If false, somebody removed the record.
    pub at_end: bool,
}

/// The files of a trial as listed in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrialFiles<'a> {
    /// The files with their hashes; `None` if the entry was written by an older assay, which did
    /// not hash them.
    pub files: Option<&'a [FileHash]>,
    /// True if a power failure may explain missing files: their session did not end properly, and
    /// neither they nor anything written after them is known to have been flushed.
    pub perhaps_lost: bool,
}

/// Index of a ledger's entries by trial.
#[derive(Debug)]
pub(crate) struct Account<'a> {
    entries: &'a [LedgerEntry],
    /// True for attempts whose last entry is `TrialStarted`.
    open: HashMap<AttemptKey, bool>,
    /// Hashes of the records that ended an attempt. There is more than one if a power failure took
    /// the first record and the attempt was repeated.
    hashes: HashSet<(AttemptKey, &'a str)>,
    /// Files of the last `TrialEnded` entry of each attempt.
    files: HashMap<AttemptKey, TrialFiles<'a>>,
}

impl<'a> Account<'a> {
    pub(crate) fn from_entries(entries: &'a [LedgerEntry]) -> Self {
        let (mut open, mut hashes) = (HashMap::new(), HashSet::new());
        for entry in entries {
            match &entry.event {
                LedgerEvent::TrialStarted { number, attempt } => {
                    open.insert((*number, *attempt), true);
                }
                LedgerEvent::TrialEnded { number, attempt, record_sha256, .. } => {
                    let key = (*number, *attempt);
                    open.insert(key, false);
                    hashes.insert((key, record_sha256.as_str()));
                }
                _ => {}
            }
        }
        Account { entries, open, hashes, files: files(entries) }
    }

    /// Returns the files of an attempt, or `None` if the ledger has no entry that ends it.
    pub(crate) fn files(&self, key: AttemptKey) -> Option<TrialFiles<'a>> {
        self.files.get(&key).copied()
    }

    /// Compares a record with this hash with the ledger.
    pub(crate) fn status(&self, key: AttemptKey, sha256: &str) -> EntryStatus {
        if self.hashes.contains(&(key, sha256)) {
            EntryStatus::Entered
        } else if self.open.get(&key).copied().unwrap_or(true) {
            EntryStatus::NotEntered
        } else {
            EntryStatus::Changed
        }
    }

    /// Returns the attempts that were started but did not end, sorted.
    pub(crate) fn open(&self) -> Vec<AttemptKey> {
        let mut open: Vec<AttemptKey> =
            self.open.iter().filter(|(_, open)| **open).map(|(key, _)| *key).collect();
        open.sort_unstable();
        open
    }

    /// True if the last session that wrote to the ledger ended properly.
    pub(crate) fn has_ended(&self) -> bool {
        let last =
            self.entries.iter().rev().find(|entry| {
                matches!(entry.event, LedgerEvent::Ended { .. } | LedgerEvent::Resumed)
            });
        last.is_some_and(|entry| matches!(entry.event, LedgerEvent::Ended { .. }))
    }

    /// Returns the trials that ended according to the ledger but are not in `there`, the set of
    /// trials that have a record.
    pub(crate) fn gone(&self, there: &HashSet<AttemptKey>) -> Vec<LostTrial> {
        let mut gone: Vec<LostTrial> = Vec::new();
        // Backwards, so that the last entries of each session are visited first.
        let mut ended_again = HashSet::new();
        let mut at_end = true;
        for entry in self.entries.iter().rev() {
            match entry.event {
                LedgerEvent::Resumed => at_end = true,
                LedgerEvent::Ended { .. } => at_end = false,
                LedgerEvent::TrialEnded { number, attempt, .. } => {
                    let key = (number, attempt);
                    // If an attempt was made twice, the record on disk is that of the second one.
                    if ended_again.insert(key) && there.contains(&key) {
                        at_end = false;
                    } else {
                        gone.push(LostTrial { key, at_end });
                    }
                }
                _ => {}
            }
        }
        gone.reverse();
        gone
    }
}

fn files(entries: &[LedgerEntry]) -> HashMap<AttemptKey, TrialFiles<'_>> {
    let mut all = HashMap::new();
    let mut perhaps_lost = true;
    for entry in entries.iter().rev() {
        match &entry.event {
            LedgerEvent::Resumed => perhaps_lost = true,
            LedgerEvent::Ended { .. } => perhaps_lost = false,
            LedgerEvent::TrialEnded { number, attempt, files, .. } => {
                let files = files.as_deref();
                // Samples are flushed, with everything written before them, before the record is
                // written.
                let sampled = |f: &FileHash| [SAMPLES, IO].contains(&f.path.as_str());
                perhaps_lost &= !files.is_some_and(|files| files.iter().any(sampled));
                all.entry((*number, *attempt)).or_insert(TrialFiles { files, perhaps_lost });
            }
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{RunState, TrialOutcome};

    fn started(number: u32) -> LedgerEvent {
        LedgerEvent::TrialStarted { number, attempt: 1 }
    }

    fn ended(number: u32, hash: &str) -> LedgerEvent {
        let record_sha256 = hash.to_owned();
        LedgerEvent::TrialEnded {
            number,
            attempt: 1,
            outcome: TrialOutcome::Completed,
            record_sha256,
            files: None,
        }
    }

    fn ended_with(number: u32, file: &str) -> LedgerEvent {
        let LedgerEvent::TrialEnded { number, attempt, outcome, record_sha256, .. } =
            ended(number, "")
        else {
            unreachable!("that is what it makes")
        };
        let files = Some(vec![crate::format::disk::hash_of(file, b"")]);
        LedgerEvent::TrialEnded { number, attempt, outcome, record_sha256, files }
    }

    fn the_end() -> LedgerEvent {
        LedgerEvent::Ended { state: RunState::Interrupted, reason: String::new() }
    }

    fn entries(events: &[LedgerEvent]) -> Vec<LedgerEntry> {
        let entry = |event: &LedgerEvent| LedgerEntry {
            seq: 0,
            at: String::new(),
            prev: String::new(),
            event: event.clone(),
        };
        events.iter().map(entry).collect()
    }

    fn gone(events: &[LedgerEvent], there: &[u32]) -> Vec<(u32, bool)> {
        let there = there.iter().map(|n| (*n, 1)).collect();
        let gone = Account::from_entries(&entries(events)).gone(&there);
        gone.iter().map(|g| (g.key.0, g.at_end)).collect()
    }

    #[test]
    fn a_lost_power_takes_only_the_end_of_a_session() {
        let three =
            [started(1), ended(1, "a"), started(2), ended(2, "b"), started(3), ended(3, "c")];
        assert_eq!(gone(&three, &[1, 2, 3]), []);
        assert_eq!(gone(&three, &[1]), [(2, true), (3, true)]);
        assert_eq!(gone(&three, &[2, 3]), [(1, false)]);
        assert_eq!(gone(&three, &[3]), [(1, false), (2, false)]);
        let finished = [&three[..], &[the_end()]].concat();
        assert_eq!(gone(&finished, &[1, 2]), [(3, false)], "finish flushes first");
        let again = [&three[..], &[LedgerEvent::Resumed, started(4), ended(4, "d")]].concat();
        assert_eq!(gone(&again, &[1, 2, 4]), [(3, true)]);
        let same = [&three[..], &[LedgerEvent::Resumed, started(3), ended(3, "d")]].concat();
        assert_eq!(gone(&same, &[1, 2, 3]), [(3, true)], "the first of its two executions");
    }

    #[test]
    fn a_lost_power_takes_only_files_that_were_not_flushed() {
        let perhaps_lost = |events: &[LedgerEvent]| -> Vec<bool> {
            let entries = entries(events);
            let account = Account::from_entries(&entries);
            (1..=3).map(|n| account.files((n, 1)).unwrap().perhaps_lost).collect()
        };
        let cut = [
            ended_with(1, "stdout.log"),
            ended_with(2, "samples.parquet"),
            ended_with(3, "stdout.log"),
        ];
        assert_eq!(perhaps_lost(&cut), [false, false, true]);
        assert_eq!(perhaps_lost(&[&cut[..], &[the_end()]].concat()), [false; 3]);
        let resumed = [&cut[..2], &[LedgerEvent::Resumed, cut[2].clone(), the_end()]].concat();
        assert_eq!(perhaps_lost(&resumed), [false; 3]);
    }

    #[test]
    fn the_last_word_counts() {
        let entries = entries(&[started(1), ended(1, "a"), started(2), ended(2, "b"), started(2)]);
        let account = Account::from_entries(&entries);
        assert_eq!(account.status((1, 1), "a"), EntryStatus::Entered);
        assert_eq!(account.status((1, 1), "b"), EntryStatus::Changed);
        assert_eq!(account.status((2, 1), "b"), EntryStatus::Entered);
        assert_eq!(account.status((2, 1), "x"), EntryStatus::NotEntered);
        assert_eq!(account.status((3, 1), "x"), EntryStatus::NotEntered);
        assert_eq!(account.open(), [(2, 1)]);
        assert!(!account.has_ended());
    }
}

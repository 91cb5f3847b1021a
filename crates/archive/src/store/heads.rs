//! The heads of the ledgers: for each run, outside its folder, the number of entries in its ledger
//! and the hash of the last one. A ledger cannot prove where it ends; the head does.
//!
//! A head is one line of fixed length in a file of its own, `heads/<run-id>.json`. The holder of
//! the run's lock is its only writer, so writers of different runs never touch the same file, and
//! the scheme also works on a file system without locks. The head is written in place after each
//! write to the ledger. A process that dies between the two writes leaves a ledger that is longer
//! by one entry, or by a trial's end and the entry after it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use assay_model::nouns::count;
use assay_model::{LedgerEvent, RunId, SCHEMA_VERSION};
use serde::{Deserialize, Serialize};

use crate::format::chain::{Chain, Tip};
use crate::format::disk::{self, Durability};
use crate::format::layout::{HEADS, NEWEST};
use crate::store::repair;
use crate::{Error, Result};

/// Returns the run that was written last, if known.
pub(crate) fn newest(archive: &Path) -> Option<RunId> {
    std::fs::read_to_string(archive.join(NEWEST)).ok()?.parse().ok()
}

/// Stores which run was written last; does nothing in an archive that cannot be written.
pub(crate) fn set_newest(archive: &Path, id: &RunId) {
    let _ = std::fs::write(archive.join(NEWEST), id.as_str());
}

/// The end of a run's ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    schema_version: u32,
    /// Number of entries in the ledger.
    pub entries: u64,
    /// Number of entries known to be on the storage device when this was written; a power failure
    /// cannot lose those.
    pub flushed: u64,
    /// SHA-256 of the last line, in hexadecimal.
    pub sha256: String,
}

/// Result of comparing a ledger with its head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadComparison {
    /// The ledger ends at the head, or is longer by the one write that a crash of the writer
    /// leaves.
    Agrees,
    /// The ledger is longer by this many entries, which is what a power failure leaves.
    GoesOn(u64),
    /// The ledger has this many entries after the end of the run.
    Added(u64),
    /// The last entries (this many) are missing, and none of them was known to be flushed.
    Lost(u64),
    /// The last entries (this many) are missing, although some of them were flushed.
    Cut(u64),
    /// The entry that the head has the hash of is a different one.
    Differs,
}

impl std::fmt::Display for HeadComparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let entries = |n: u64| count(usize::try_from(n).unwrap_or(usize::MAX), "entry");
        match *self {
            HeadComparison::Agrees => write!(f, "its end matches its head"),
            HeadComparison::GoesOn(n) => write!(
                f,
                "it has {} more than its head counts: the power failed before the head was \
                 flushed, or they were added",
                entries(n)
            ),
            HeadComparison::Added(n) => {
                write!(f, "{} were added after the end of the run", entries(n))
            }
            HeadComparison::Lost(n) => write!(
                f,
                "its end, {}, is missing: the power failed before it was flushed, or it was \
                 changed or removed",
                entries(n)
            ),
            HeadComparison::Cut(n) => {
                write!(f, "its end, {}, was changed or removed later", entries(n))
            }
            HeadComparison::Differs => {
                write!(f, "it is not the ledger of its head: it was changed later")
            }
        }
    }
}

impl Head {
    /// Makes the head of a ledger that is flushed.
    pub(crate) fn flushed(tip: &Tip) -> Self {
        Head {
            schema_version: SCHEMA_VERSION,
            entries: tip.seq,
            flushed: tip.seq,
            sha256: tip.prev.clone(),
        }
    }

    /// Compares this head with a ledger whose chain is valid.
    pub(crate) fn against(&self, chain: &Chain) -> HeadComparison {
        let have = chain.tip.seq;
        if have < self.entries {
            let gone = self.entries - have;
            return if have < self.flushed {
                HeadComparison::Cut(gone)
            } else {
                HeadComparison::Lost(gone)
            };
        }
        let at = usize::try_from(self.entries).unwrap_or(usize::MAX);
        let there = chain.entries.get(at).map_or(&chain.tip.prev, |next| &next.prev);
        if *there != self.sha256 {
            return HeadComparison::Differs;
        }
        let event = |at: usize| chain.entries.get(at).map(|entry| &entry.event);
        let ended = at
            .checked_sub(1)
            .is_some_and(|last| matches!(event(last), Some(LedgerEvent::Ended { .. })));
        match have - self.entries {
            0 => HeadComparison::Agrees,
            1 if !ended || matches!(event(at), Some(LedgerEvent::Resumed)) => {
                HeadComparison::Agrees
            }
            // The end of a short trial is written together with the entry after it.
            2 if matches!(event(at), Some(LedgerEvent::TrialEnded { .. })) && !ended => {
                HeadComparison::Agrees
            }
            more if ended => HeadComparison::Added(more),
            more => HeadComparison::GoesOn(more),
        }
    }

    fn put(&self, line: &mut Vec<u8>) {
        put_line(line, self.entries, self.flushed, &self.sha256);
    }
}

/// Formats the head as a line, which always has the same length.
fn put_line(line: &mut Vec<u8>, entries: u64, flushed: u64, sha256: &str) {
    line.clear();
    let _ = writeln!(
        line, // writing to memory does not fail
        "{{\"schema_version\":{SCHEMA_VERSION},\"entries\":{entries:>10},\
         \"flushed\":{flushed:>10},\"sha256\":\"{sha256}\"}}"
    );
}

/// Returns the path of a run's head.
pub(crate) fn path(archive: &Path, id: &RunId) -> PathBuf {
    archive.join(HEADS).join(format!("{id}.json"))
}

/// Reads the head of a run; `None` if it has no head.
///
/// # Errors
/// `Damaged` if the file differs in any byte from what assay writes.
pub(crate) fn read(archive: &Path, id: &RunId) -> Result<Option<Head>> {
    let path = path(archive, id);
    let Some(bytes) = disk::read_if_there(&path, 4096)? else { return Ok(None) };
    let head: Head = disk::parse_json(&bytes, &path)?;
    let mut line = Vec::new();
    head.put(&mut line);
    if line != bytes || head.flushed > head.entries {
        return Err(Error::damaged(&path, "it was changed since assay wrote it"));
    }
    Ok(Some(head))
}

/// Writes the head of a run, completely or not at all.
pub(crate) fn put(archive: &Path, id: &RunId, head: &Head, durability: Durability) -> Result<()> {
    let path = path(archive, id);
    let mut line = Vec::new();
    head.put(&mut line);
    disk::make_folder(&archive.join(HEADS))?;
    disk::replace(&path, &line, durability)
}

/// Removes the head of a run that is being removed. A missing head is no error.
pub(crate) fn forget(archive: &Path, id: &RunId) -> Result<()> {
    disk::remove(&path(archive, id))
}

/// Returns the files in the heads folder with their runs; the run is `None` for a file whose name
/// is not a run's.
pub(crate) fn list(archive: &Path) -> Result<Vec<(PathBuf, Option<RunId>)>> {
    let mut heads = repair::files_of_runs(&archive.join(HEADS))?;
    heads.sort();
    Ok(heads)
}

/// The head of a run that is being written, held open.
#[derive(Debug)]
pub(crate) struct HeadFile {
    file: File,
    path: PathBuf,
    flushed: u64,
    line: Vec<u8>,
}

impl HeadFile {
    /// Opens a head that was written with [`put`] and has all its entries flushed.
    pub(crate) fn open(archive: &Path, id: &RunId, tip: &Tip) -> Result<Self> {
        let path = path(archive, id);
        match OpenOptions::new().write(true).open(&path) {
            Ok(file) => Ok(HeadFile { file, path, flushed: tip.seq, line: Vec::new() }),
            Err(e) => Err(Error::io("write", &path, e)),
        }
    }

    /// Writes the new end of the ledger.
    pub(crate) fn moves_to(&mut self, tip: &Tip) -> Result<()> {
        put_line(&mut self.line, tip.seq, self.flushed, &tip.prev);
        self.file.write_all_at(&self.line, 0).map_err(|e| Error::io("write", &self.path, e))
    }

    /// Notes that the ledger is on the device up to `tip`; the next write of the head stores this.
    pub(crate) fn ledger_is_flushed(&mut self, tip: &Tip) {
        self.flushed = tip.seq;
    }

    /// Records that the ledger is on the device up to `tip`, and flushes the head before it
    /// returns.
    pub(crate) fn flushed(&mut self, tip: &Tip, durability: Durability) -> Result<()> {
        self.ledger_is_flushed(tip);
        self.moves_to(tip)?;
        match durability {
            Durability::Synced => {
                self.file.sync_data().map_err(|e| Error::io("flush", &self.path, e))
            }
            Durability::Cached => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::chain;
    use assay_model::RunState;

    /// Makes a ledger, and its head after each entry.
    fn ledger(events: Vec<LedgerEvent>) -> (Vec<Vec<u8>>, Vec<Head>) {
        let mut tip = Tip::default();
        events.into_iter().map(|e| (tip.line(e).unwrap(), Head::flushed(&tip))).unzip()
    }

    fn started(number: u32) -> LedgerEvent {
        LedgerEvent::TrialStarted { number, attempt: 1 }
    }

    fn end() -> LedgerEvent {
        LedgerEvent::Ended { state: RunState::Interrupted, reason: String::new() }
    }

    #[test]
    fn a_head_tells_an_end_that_was_cut_off_from_one_that_a_death_left() {
        let (lines, heads) = ledger(vec![started(1), started(2), end(), started(3), started(4)]);
        let read = |n: usize| chain::read(&lines[..n].concat());
        let third = |flushed| Head { flushed, ..heads[2].clone() };
        assert_eq!(third(3).against(&read(3)), HeadComparison::Agrees);
        assert_eq!(third(3).against(&read(2)), HeadComparison::Cut(1));
        assert_eq!(third(2).against(&read(2)), HeadComparison::Lost(1));
        assert_eq!(third(2).against(&read(1)), HeadComparison::Cut(2));
        assert_eq!(
            third(3).against(&read(4)),
            HeadComparison::Added(1),
            "only a resume follows an end"
        );
        assert_eq!(
            heads[3].against(&read(5)),
            HeadComparison::Agrees,
            "its writer died in between"
        );
        assert_eq!(heads[0].against(&read(3)), HeadComparison::GoesOn(2));
        let ended = |number| LedgerEvent::TrialEnded {
            number,
            attempt: 1,
            outcome: assay_model::TrialOutcome::Completed,
            record_sha256: String::new(),
            files: None,
        };
        let (lines, heads) = ledger(vec![started(1), ended(1), started(2), ended(2), end()]);
        let read_to = |n: usize| chain::read(&lines[..n].concat());
        assert_eq!(
            heads[0].against(&read_to(3)),
            HeadComparison::Agrees,
            "an end and the next start"
        );
        assert_eq!(
            heads[1].against(&read_to(4)),
            HeadComparison::GoesOn(2),
            "no write adds these two"
        );
        assert_eq!(heads[0].against(&read_to(4)), HeadComparison::GoesOn(3));
        let (_, others) = ledger(vec![started(1), started(7), end()]);
        assert_eq!(others[1].against(&read(3)), HeadComparison::Differs);
        assert_eq!(others[2].against(&read(3)), HeadComparison::Differs);
    }

    #[test]
    fn a_head_is_read_as_it_was_written_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let id: RunId = "20261122-101112-abcd".parse().unwrap();
        assert_eq!(read(folder.path(), &id).unwrap(), None);
        let (_, heads) = ledger((0..12).map(started).collect());
        put(folder.path(), &id, &heads[0], Durability::Cached).unwrap();
        let size = std::fs::metadata(path(folder.path(), &id)).unwrap().len();
        let mut tip = Tip::default();
        let mut file = HeadFile::open(folder.path(), &id, &tip).unwrap();
        for number in 0..12 {
            tip.line(started(number)).unwrap();
            file.moves_to(&tip).unwrap();
        }
        let kept = read(folder.path(), &id).unwrap().unwrap();
        assert_eq!((kept.entries, kept.flushed, &kept.sha256), (12, 0, &tip.prev));
        let bytes = std::fs::read(path(folder.path(), &id)).unwrap();
        assert_eq!(bytes.len() as u64, size);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            std::fs::write(path(folder.path(), &id), &changed).unwrap();
            let noticed = read(folder.path(), &id).map_or(true, |head| head != Some(kept.clone()));
            assert!(noticed, "byte {at}");
        }
    }
}

//! The ledger's file format: lines of JSON, each of which holds the hash of the line before.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{FileHash, LedgerEntry, LedgerEvent, TrialOutcome};
use serde::Deserialize;

use crate::format::disk::{self, MAX_TEXT, sha256};
use crate::format::layout::{EXPERIMENT, PLAN, staged};
use crate::{Error, Result};

/// The first place where a ledger is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damage {
    /// Line number, counted from 1.
    pub line: usize,
    pub reason: String,
}

/// The end of a chain, which the next entry continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tip {
    /// Sequence number of the next entry.
    pub seq: u64,
    /// SHA-256 of the last line, in hexadecimal.
    pub prev: String,
    /// Length of the ledger in bytes, up to and including the last line.
    pub bytes: u64,
}

impl Default for Tip {
    fn default() -> Self {
        Tip { seq: 0, prev: "0".repeat(64), bytes: 0 }
    }
}

impl Tip {
    /// Returns the line (with its newline) that records `event` at the current time, and advances
    /// the tip past it.
    pub(crate) fn line(&mut self, event: LedgerEvent) -> serde_json::Result<Vec<u8>> {
        self.again(&format!("{:.3}", jiff::Timestamp::now()), event)
    }

    /// Returns the line of an entry that is written again, with its original time `at`, and
    /// advances the tip past it.
    pub(crate) fn again(&mut self, at: &str, event: LedgerEvent) -> serde_json::Result<Vec<u8>> {
        let prev = std::mem::take(&mut self.prev);
        let entry = LedgerEntry { seq: self.seq, at: at.to_owned(), prev, event };
        let mut line = serde_json::to_vec(&entry)?;
        self.pass(&line);
        line.push(b'\n');
        Ok(line)
    }

    fn pass(&mut self, line: &[u8]) {
        self.seq += 1;
        self.prev = sha256(line);
        self.bytes += line.len() as u64 + 1;
    }
}

/// The part of a ledger that can be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Chain {
    /// The entries of the valid part, in order.
    pub entries: Vec<LedgerEntry>,
    /// The end of the valid part.
    pub tip: Tip,
    /// True if an incomplete tail follows that was being written when the power or the process
    /// failed. Nothing in it is an entry, so it may be cut off.
    pub torn: bool,
    /// The first invalid line, unless it is only a torn tail.
    pub damage: Option<Damage>,
}

impl Chain {
    /// Returns an error if more than the tail is invalid.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        match &self.damage {
            None => Ok(()),
            Some(Damage { line, reason }) => {
                Err(Error::damaged(path, format!("line {line}: {reason}")))
            }
        }
    }

    /// Returns the path and the latest hash of every file in the ledger that is not part of a
    /// trial.
    pub(crate) fn files(&self) -> BTreeMap<&str, &str> {
        let mut files = BTreeMap::new();
        for entry in &self.entries {
            match &entry.event {
                LedgerEvent::Planned { experiment_sha256, plan_sha256, files: others, .. } => {
                    files.insert(EXPERIMENT, experiment_sha256.as_str());
                    files.insert(PLAN, plan_sha256);
                    files.extend(others.iter().map(|f| (f.path.as_str(), f.sha256.as_str())));
                }
                LedgerEvent::BlocksFixed { plan_sha256, .. } => {
                    files.insert(PLAN, plan_sha256);
                }
                LedgerEvent::FilesKept { files: kept } => {
                    files.extend(kept.iter().map(|f| (f.path.as_str(), f.sha256.as_str())));
                }
                LedgerEvent::Imported { files: read, .. } => {
                    files.extend(read.iter().map(|f| (f.kept.as_str(), f.sha256.as_str())));
                }
                _ => {}
            }
        }
        files
    }

    /// True if the ledger has the hashes of all files that are not part of a trial. An older assay
    /// hashed only the experiment and the plan.
    pub(crate) fn has_all_files(&self) -> bool {
        self.entries.iter().any(
            |entry| matches!(&entry.event, LedgerEvent::Planned { files, .. } if !files.is_empty()),
        )
    }

    /// Returns the replacement of a file of `run` whose hash is already in the ledger but which has
    /// not been renamed into place yet.
    pub(crate) fn staged(&self, run: &Path, name: &str) -> Result<Option<Vec<u8>>> {
        let staged = disk::read_if_there(&run.join(staged(name)), MAX_TEXT)?;
        Ok(staged.filter(|bytes| Some(&sha256(bytes).as_str()) == self.files().get(name)))
    }
}

/// Reads a ledger. Everything after the first invalid line is ignored.
pub(crate) fn read(bytes: &[u8]) -> Chain {
    let mut chain = Chain::default();
    let mut rest = bytes;
    let mut wrong = None;
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let line = &rest[..end];
        match check(line, &chain.tip) {
            Ok(entry) => {
                chain.tip.pass(line);
                chain.entries.push(entry);
            }
            Err(reason) => {
                wrong = Some(Damage { line: chain.entries.len() + 1, reason });
                break;
            }
        }
        rest = &rest[end + 1..];
    }
    // A tail without a single entry was never finished; one with entries was changed afterwards.
    let has_entries =
        rest.split(|b| *b == b'\n').any(|line| serde_json::from_slice::<LedgerEntry>(line).is_ok());
    let complete = rest.contains(&b'\n');
    if has_entries && complete {
        chain.damage = wrong;
    } else {
        chain.torn = !rest.is_empty();
    }
    chain
}

fn check(line: &[u8], tip: &Tip) -> std::result::Result<LedgerEntry, String> {
    let entry = entry(line).map_err(|e| format!("it is not an entry ({e})"))?;
    if entry.prev != tip.prev {
        return Err("it does not continue the line before: that line was changed, or lines were \
                    removed or inserted"
            .to_owned());
    }
    if entry.seq != tip.seq {
        return Err(format!("it is number {} and should be {}", entry.seq, tip.seq));
    }
    Ok(entry)
}

/// A ledger entry about a trial, as nearly all are.
#[derive(Deserialize)]
struct TrialEntry<'a> {
    seq: u64,
    at: String,
    prev: String,
    event: &'a str,
    number: u32,
    attempt: u32,
    outcome: Option<TrialOutcome>,
    record_sha256: Option<String>,
    files: Option<Vec<FileHash>>,
}

/// Parses a line. Entries about trials are read directly, because serde first reads a tagged enum
/// into a tree.
fn entry(line: &[u8]) -> serde_json::Result<LedgerEntry> {
    let read = serde_json::from_slice::<TrialEntry<'_>>(line).ok().and_then(|of| {
        let TrialEntry { seq, at, prev, number, attempt, files, .. } = of;
        let event = match (of.event, of.outcome, of.record_sha256) {
            ("trial-started", ..) => LedgerEvent::TrialStarted { number, attempt },
            ("trial-ended", Some(outcome), Some(record_sha256)) => {
                LedgerEvent::TrialEnded { number, attempt, outcome, record_sha256, files }
            }
            _ => return None,
        };
        Some(LedgerEntry { seq, at, prev, event })
    });
    read.map_or_else(|| serde_json::from_slice(line), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_trials_read_as_any_other() {
        let outcome = r#""attempt":1,"outcome":"completed","record_sha256":"a""#;
        let ended = format!(r#""event":"trial-ended","number":1,{outcome}"#);
        let files = r#""files":[{"path":"x","bytes":1,"sha256":"b"}]"#;
        let own = [
            r#""event":"trial-started","number":1,"attempt":1"#,
            r#""event":"trial-\u0073tarted","number":1,"attempt":1"#,
            r#""event":"trial-started","number":1,"attempt":1,"outcome":"none","new":[1]"#,
            r#""event":"trial-started","number":1,"number":2,"attempt":1"#,
            r#""event":"trial-started","number":1"#,
            r#""event":"trial-ended","number":1,"attempt":1"#,
            &format!(r#""number":1,"event":"trial-ended",{outcome}"#),
            &format!(r#"{ended},"files":null"#),
            &format!("{ended},{files}"),
            &format!(r#""event":"trial-ended","number":-1,{outcome}"#),
            r#""event":"looked","number":1,"attempt":1,"blocks":1,"decision":"x""#,
            r#""event":"resumed""#,
        ];
        for own in own {
            let line = format!(r#"{{"seq":1,"at":"t","prev":"p",{own}}}"#);
            let (read, any) = (entry(line.as_bytes()), serde_json::from_str::<LedgerEntry>(&line));
            assert_eq!(read.as_ref().ok(), any.as_ref().ok(), "{line}");
        }
        assert!(entry(format!(r#"{{"seq":1,"at":"t","prev":"p",{}}}"#, own[0]).as_bytes()).is_ok());
    }

    fn ledger(n: u32) -> Vec<u8> {
        let mut tip = Tip::default();
        (1..=n)
            .flat_map(|number| tip.line(LedgerEvent::TrialStarted { number, attempt: 1 }).unwrap())
            .collect()
    }

    #[test]
    fn a_whole_ledger() {
        let bytes = ledger(5);
        let chain = read(&bytes);
        assert_eq!((chain.entries.len(), chain.torn, chain.damage), (5, false, None));
        assert_eq!(chain.tip.bytes, bytes.len() as u64);
    }

    #[test]
    fn every_torn_tail_keeps_the_lines_before() {
        let bytes = ledger(4);
        let three = ledger_end(&bytes, 3);
        for cut in three + 1..bytes.len() {
            let chain = read(&bytes[..cut]);
            assert_eq!((chain.entries.len(), chain.torn), (3, true), "cut at {cut}");
            assert_eq!(chain.damage, None);
            assert_eq!(chain.tip.bytes, three as u64);
        }
        let mut zeros = bytes.clone();
        zeros.extend([0; 100]);
        zeros.push(b'\n');
        assert!(read(&zeros).torn);
        assert_eq!(read(&zeros).entries.len(), 4);
    }

    fn ledger_end(bytes: &[u8], lines: usize) -> usize {
        bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(lines - 1).unwrap().0 + 1
    }

    #[test]
    fn a_changed_or_missing_line_is_damage() {
        let text = String::from_utf8(ledger(4)).unwrap();
        let changed = text.replace("\"number\":2", "\"number\":7");
        let chain = read(changed.as_bytes());
        assert_eq!(chain.damage.unwrap().line, 3, "the line after it no longer fits");
        let mut lines: Vec<&str> = text.lines().collect();
        lines.remove(1);
        let chain = read(format!("{}\n", lines.join("\n")).as_bytes());
        assert_eq!(chain.damage.unwrap().line, 2);
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            failure_persistence: None, ..Default::default()
        })]
        #[test]
        fn never_panics(at in 0usize..600, byte: u8, cut in 0usize..600) {
            let mut bytes = ledger(3);
            let n = bytes.len();
            bytes[at % n] = byte;
            bytes.truncate(cut.max(1));
            let chain = read(&bytes);
            proptest::prop_assert!(chain.tip.bytes <= bytes.len() as u64);
        }
    }
}

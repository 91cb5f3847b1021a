//! The ledger: an append-only list of a run's intentions and actions. Each entry contains the hash
//! of the one before, so that an omitted trial is detected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::TrialOutcome;

/// Event in the life of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LedgerEvent {
    /// The run was registered, before its first trial.
    Planned {
        /// SHA-256 of `experiment.toml`, hexadecimal.
        experiment_sha256: String,
        /// SHA-256 of `plan.json`, hexadecimal.
        plan_sha256: String,
        /// Rule by which the run stops, as a sentence.
        stop_rule: String,
        /// Version of assay that started the run.
        assay: String,
        /// Other files that describe the run; empty for a run of an assay version that did not hash
        /// them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileHash>,
    },
    /// The number of blocks, which the experiment left open, was fixed by the duration of the first
    /// block.
    BlocksFixed {
        /// Number of blocks from now on.
        blocks: u32,
        /// Reason for this number, as a sentence.
        reason: String,
        /// SHA-256 of the new `plan.json`.
        plan_sha256: String,
    },
    /// A trial is about to start.
    TrialStarted {
        /// Number of the trial in the plan.
        number: u32,
        /// Number of the attempt, from 1.
        attempt: u32,
    },
    /// A trial has ended and its record is written.
    TrialEnded {
        /// Number of the trial in the plan.
        number: u32,
        /// Number of the attempt, from 1.
        attempt: u32,
        /// Outcome of the trial.
        outcome: TrialOutcome,
        /// SHA-256 of the trial's line in `records.jsonl`, without the newline, hexadecimal.
        record_sha256: String,
        /// Files of the trial's folder; absent for a run of an assay version that did not hash
        /// them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<Vec<FileHash>>,
    },
    /// Files of the run outside its trials were written or replaced.
    FilesKept {
        /// The files, by their paths inside the run.
        files: Vec<FileHash>,
    },
    /// The end of the ledger was missing when the run was resumed: a power failure lost entries
    /// that were not flushed, or someone removed them.
    EntriesLost {
        /// Number of entries that the head of the ledger counted and the ledger no longer had.
        entries: u64,
    },
    /// The A/A floor that was known when the run began.
    FloorKnown {
        /// Newest A/A run of this workload on this machine.
        floor: Box<crate::KnownFloor>,
    },
    /// The stop rule examined the data.
    Looked {
        /// Number of complete blocks at that time.
        blocks: u32,
        /// Decision of the stop rule, as a sentence.
        decision: String,
    },
    /// The trials were not run by assay: they were imported from files that another program wrote.
    Imported {
        /// Name of the program that measured (`hyperfine`).
        tool: String,
        /// Version of that program; absent where the files do not contain it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The imported files, in the order in which they were read.
        files: Vec<ImportedFile>,
    },
    /// This run is a copy for publication: private values were replaced, and the hashes above are
    /// those of the copy.
    Redacted {
        /// SHA-256 of the last line of the original ledger, hexadecimal.
        ledger_sha256: String,
        /// Number of values that were replaced.
        replaced: u64,
        /// Files that cannot be searched for private values and are not in the copy.
        #[serde(default, alias = "left_out", skip_serializing_if = "Vec::is_empty")]
        excluded: Vec<String>,
        /// Version of assay that made the copy.
        assay: String,
    },
    /// The run was resumed.
    Resumed,
    /// The run has ended.
    Ended {
        /// State at the end: `completed`, `failed` or `interrupted`.
        state: crate::RunState,
        /// Reason for the end, as a sentence.
        reason: String,
    },
}

/// Path, size and hash of a file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileHash {
    /// Path of the file, with `/`, relative to the run's folder, or for a file of a trial to the
    /// trial's folder.
    pub path: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// A file from which trials were imported. It is kept in the run's folder, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// Name of the original file, without its folder.
    pub name: String,
    /// Path of the copy inside the run's folder (`imported/0001`).
    pub kept: String,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// One line of `ledger.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerEntry {
    /// Number of the entry, from 0.
    pub seq: u64,
    /// Time of the entry: ISO 8601, UTC.
    pub at: String,
    /// SHA-256 of the previous line, hexadecimal; 64 zeros for the first.
    pub prev: String,
    /// The event that the entry records.
    #[serde(flatten)]
    pub event: LedgerEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_earlier_versions_is_read() {
        let line = r#"{"event":"redacted","ledger_sha256":"aa","replaced":1,"left_out":["x"],
            "assay":"0.1.0"}"#;
        let LedgerEvent::Redacted { excluded, .. } = serde_json::from_str(line).unwrap() else {
            panic!("{line}");
        };
        assert_eq!(excluded, ["x"]);
    }
}

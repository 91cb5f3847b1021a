//! The ledger: an append-only list of what a run set out to do and did, each entry chained to the
//! one before by its hash, so that a trial that was left out can be seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LedgerEvent {
    /// The run was registered, before its first trial.
    Planned {
        /// SHA-256 of `experiment.toml`, hexadecimal.
        experiment_sha256: String,
        /// SHA-256 of `plan.json`, hexadecimal.
        plan_sha256: String,
        /// The rule by which the run stops, as a sentence.
        stop_rule: String,
        /// The version of assay.
        assay: String,
        /// The other files that describe the run; empty in a run of an assay that did not hash them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileHash>,
    },
    /// The number of blocks, left open by the experiment, was fixed from the time of the first block.
    BlocksFixed {
        /// How many blocks.
        blocks: u32,
        /// Why, as a sentence.
        reason: String,
        /// SHA-256 of the new `plan.json`.
        plan_sha256: String,
    },
    /// A trial is about to start.
    TrialStarted {
        /// Its number.
        number: u32,
        /// Which attempt.
        attempt: u32,
    },
    /// A trial has ended and its record is written.
    TrialEnded {
        /// Its number.
        number: u32,
        /// Which attempt.
        attempt: u32,
        /// How it ended.
        outcome: Outcome,
        /// SHA-256 of its line in `records.jsonl`, without the newline, hexadecimal.
        record_sha256: String,
        /// The files of its folder; absent in a run of an assay that did not hash them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<Vec<FileHash>>,
    },
    /// Files beside the trials were written or replaced.
    FilesKept {
        /// The files, by their paths inside the run.
        files: Vec<FileHash>,
    },
    /// The end of the ledger was gone when the run was taken up again: a lost power took it before it
    /// was flushed, or somebody did.
    EntriesLost {
        /// How many entries the head of the ledger counted and the ledger no longer had.
        entries: u64,
    },
    /// What was known of the A/A floor when the run began.
    FloorKnown {
        /// The newest A/A run of this workload on this machine.
        floor: Box<crate::KnownFloor>,
    },
    /// A look at the data by the stop rule.
    Looked {
        /// How many complete blocks it saw.
        blocks: u32,
        /// What it decided, as a sentence.
        decision: String,
    },
    /// The trials were not run here: they were read from files that another program wrote.
    Imported {
        /// The program that measured (`hyperfine`).
        tool: String,
        /// Its version; absent where the files do not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// The files, in the order in which they were read.
        files: Vec<ImportedFile>,
    },
    /// This is a copy for publication: values that are nobody else's business were replaced, and the
    /// hashes above are those of the copy.
    Redacted {
        /// SHA-256 of the last line of the ledger that was copied, hexadecimal.
        ledger_sha256: String,
        /// How many values were replaced.
        replaced: u64,
        /// Files that cannot be searched and are not in the copy.
        #[serde(default, alias = "left_out", skip_serializing_if = "Vec::is_empty")]
        excluded: Vec<String>,
        /// The version of assay.
        assay: String,
    },
    /// The run was taken up again.
    Resumed,
    /// The run ended.
    Ended {
        /// `completed`, `failed` or `interrupted`.
        state: crate::RunState,
        /// Why, as a sentence.
        reason: String,
    },
}

/// A file of a run as its ledger vouches for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileHash {
    /// Its path, with `/`: inside the run's folder, or for a file of a trial inside the trial's.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// A file that trials were imported from. It is kept in the run's folder, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedFile {
    /// Its name where it was read, without its folder.
    pub name: String,
    /// Where it is kept, inside the run's folder (`imported/0001`).
    pub kept: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content, hexadecimal.
    pub sha256: String,
}

/// One line of `ledger.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerEntry {
    /// Its number, from 0.
    pub seq: u64,
    /// When: ISO 8601, UTC.
    pub at: String,
    /// SHA-256 of the line before, hexadecimal; 64 zeros for the first.
    pub prev: String,
    /// What happened.
    #[serde(flatten)]
    pub event: LedgerEvent,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_earlier_versions_is_read() {
        let line = r#"{"event":"redacted","ledger_sha256":"aa","replaced":1,"left_out":["x"],"assay":"0.1.0"}"#;
        let LedgerEvent::Redacted { excluded, .. } = serde_json::from_str(line).unwrap() else {
            panic!("{line}");
        };
        assert_eq!(excluded, ["x"]);
    }
}

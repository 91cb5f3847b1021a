//! Specs passed from the lab to the process that runs the copies, and from there to each copy.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The copies of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicasSpec {
    /// Folder of the pipes that synchronize the copies.
    pub dir: PathBuf,
    /// Process id of the lab, whose end also ends the copies; 0: none.
    pub lab: u32,
    /// The copies, at least one.
    pub copies: Vec<CopySpec>,
    /// Time of a single copy on the reference machine in seconds; `None`: there is no reference.
    pub reference_s: Option<f64>,
}

/// One copy of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopySpec {
    /// The program and its arguments; bytes that are not UTF-8 cannot be passed.
    pub argv: Vec<String>,
    /// Environment variables to set.
    pub env: Vec<(String, String)>,
    /// Folder of the copy, in which `stdout` and `stderr` are written too.
    pub dir: PathBuf,
    /// File for standard input; `None`: `/dev/null`.
    pub stdin: Option<PathBuf>,
    /// CPUs that the copy may use; empty: those of the trial.
    pub cpus: Vec<usize>,
}

/// Spec of one copy's start: the JSON of `assay __work copy JSON`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyStart {
    /// Number of the copy, from 0.
    pub index: usize,
    /// The copy, without environment and standard input, which it inherits.
    pub copy: CopySpec,
    /// Folder of the pipes that synchronize the copies.
    pub dir: PathBuf,
}

/// Returns the pipe below `dir` on which copies report that they are ready, and when they began.
pub fn ready_pipe(dir: &Path) -> PathBuf {
    dir.join("ready")
}

/// Returns the pipe below `dir` on which copies receive their start time.
pub fn go_pipe(dir: &Path) -> PathBuf {
    dir.join("go")
}

/// A message of a copy on the pipe `ready`. It has a fixed size, so that messages of several copies
/// never mix (writes of up to 4096 bytes to a pipe are atomic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicaMessage {
    /// Number of the copy, from 0.
    pub index: u64,
    /// Start time, ns of `CLOCK_MONOTONIC`; 0: the copy is ready and waits.
    pub began_ns: u64,
}

/// Size of a [`ReplicaMessage`] in bytes.
pub const WORD: usize = 16;

impl ReplicaMessage {
    pub fn to_bytes(self) -> [u8; WORD] {
        let mut bytes = [0; WORD];
        bytes[..8].copy_from_slice(&self.index.to_le_bytes());
        bytes[8..].copy_from_slice(&self.began_ns.to_le_bytes());
        bytes
    }

    pub fn from_bytes(bytes: [u8; WORD]) -> Self {
        let (index, began) = bytes.split_at(8);
        let number = |b: &[u8]| b.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        ReplicaMessage { index: number(index), began_ns: number(began) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let word = ReplicaMessage { index: 767, began_ns: u64::MAX - 12 };
        assert_eq!(ReplicaMessage::from_bytes(word.to_bytes()), word);
    }
}

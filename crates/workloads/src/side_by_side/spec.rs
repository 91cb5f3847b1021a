//! What the lab hands to the process that runs the copies, and that one to each copy.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The copies of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrewSpec {
    /// The folder for the pipes that the copies meet at.
    pub dir: PathBuf,
    /// The process of the lab, without which the copies do not go on; 0: nobody's.
    pub lab: u32,
    /// The copies, at least one.
    pub copies: Vec<CopySpec>,
    /// What one copy alone took on the reference machine, seconds; `None`: there is no reference.
    pub reference_s: Option<f64>,
}

/// One copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopySpec {
    /// The program and its arguments; bytes that are no UTF-8 cannot be passed.
    pub argv: Vec<String>,
    /// Environment variables to set.
    pub env: Vec<(String, String)>,
    /// Its folder, where `stdout` and `stderr` go too.
    pub dir: PathBuf,
    /// A file for standard input; `/dev/null` when absent.
    pub stdin: Option<PathBuf>,
    /// The CPUs that it may use; empty: those of the trial.
    pub cpus: Vec<usize>,
}

/// Start of one copy: the JSON of `assay __work copy JSON`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CopyStart {
    /// Which copy, from 0.
    pub index: usize,
    /// The copy, without its environment and standard input, which it inherits.
    pub copy: CopySpec,
    /// The folder of the pipes that the copies meet at.
    pub dir: PathBuf,
}

/// The pipe below `dir` on which copies say that they are there, and when they began.
pub fn ready_pipe(dir: &Path) -> PathBuf {
    dir.join("ready")
}

/// The pipe below `dir` on which copies hear when to begin.
pub fn go_pipe(dir: &Path) -> PathBuf {
    dir.join("go")
}

/// A word of a copy on the pipe `ready`: fixed in size, so that those of several copies never mix
/// (writes of up to 4096 bytes to a pipe are whole).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Which copy.
    pub index: u64,
    /// When it began, ns of `CLOCK_MONOTONIC`; 0: it is there and waits.
    pub began_ns: u64,
}

/// How many bytes a [`Word`] takes.
pub const WORD: usize = 16;

impl Word {
    /// As bytes.
    pub fn to_bytes(self) -> [u8; WORD] {
        let mut bytes = [0; WORD];
        bytes[..8].copy_from_slice(&self.index.to_le_bytes());
        bytes[8..].copy_from_slice(&self.began_ns.to_le_bytes());
        bytes
    }

    /// From bytes.
    pub fn from_bytes(bytes: [u8; WORD]) -> Self {
        let (index, began) = bytes.split_at(8);
        let number = |b: &[u8]| b.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
        Word { index: number(index), began_ns: number(began) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        let word = Word { index: 767, began_ns: u64::MAX - 12 };
        assert_eq!(Word::from_bytes(word.to_bytes()), word);
    }
}

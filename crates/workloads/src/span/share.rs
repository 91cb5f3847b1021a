//! What a node has made ready for the ranks that come to it: a file in its agent's folder of state.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_sut::{ProcessSetup, state_file};
use serde::{Deserialize, Serialize};

const FILE: &str = "share.json";

/// What a task of a node has for its ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The step whose ranks it is for.
    pub step: String,
    /// The trial's folder there.
    pub dir: PathBuf,
    /// The CPUs.
    pub cpus: Vec<usize>,
    /// What the treatment's controls set for processes.
    pub setup: ProcessSetup,
    /// The folder in which each rank leaves its process number as a file's name.
    pub ranks: PathBuf,
    /// A folder in memory, for what ranks of one node share; gone with the trial.
    pub memory: Option<PathBuf>,
}

impl Share {
    /// Writes it into an agent's folder of state.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        state_file::write(&folder.join(FILE), &text)
    }

    /// Reads it again.
    ///
    /// # Errors
    /// It is not there, or no share.
    pub fn read(folder: &Path) -> io::Result<Self> {
        serde_json::from_slice(&fs::read(folder.join(FILE))?).map_err(io::Error::other)
    }

    /// Removes it; that there is none is fine.
    pub fn remove(folder: &Path) {
        let _ = fs::remove_file(folder.join(FILE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("nodes/n1");
        let share = Share {
            step: "assay-mpi-1-1".into(),
            dir: "/scratch".into(),
            cpus: vec![0, 3],
            setup: ProcessSetup { nice: Some(3), ..ProcessSetup::default() },
            ranks: "/state/ranks".into(),
            memory: None,
        };
        share.write(&folder).unwrap();
        assert_eq!(Share::read(&folder).unwrap(), share);
        Share::remove(&folder);
        assert!(Share::read(&folder).is_err());
        fs::write(folder.join(FILE), "{}").unwrap();
        assert!(Share::read(&folder).is_err());
    }
}

//! Resources that a node has prepared for its ranks: a file in its agent's state folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay_system::{ProcessSetup, state_file};
use serde::{Deserialize, Serialize};

const FILE: &str = "share.json";

/// Resources of a task on a node for its ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Name of the step whose ranks may use it.
    pub step: String,
    /// Folder of the trial on this node.
    pub dir: PathBuf,
    /// CPUs for the ranks.
    pub cpus: Vec<usize>,
    /// Settings for processes from the treatment's controls.
    pub setup: ProcessSetup,
    /// Folder in which each rank creates a file named after its process id.
    pub ranks: PathBuf,
    /// Folder in memory for data that ranks of one node share; removed after the trial.
    pub memory: Option<PathBuf>,
}

impl Share {
    /// Writes the share into an agent's state folder.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        state_file::write(&folder.join(FILE), &text)
    }

    /// Reads the share from an agent's state folder.
    ///
    /// # Errors
    /// Fails if the file is missing or invalid.
    pub fn read(folder: &Path) -> io::Result<Self> {
        serde_json::from_slice(&fs::read(folder.join(FILE))?).map_err(io::Error::other)
    }

    /// Removes the share, if there is one.
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

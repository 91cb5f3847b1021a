//! A made-up machine for tests: a folder with the files of `/proc`, `/sys` and others that a test
//! needs.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::Root;

/// The machine. Its files are gone when this is dropped. Paths are those on the system: `/proc/stat`.
pub(crate) struct Machine(TempDir);

impl Machine {
    /// A machine without a file.
    pub(crate) fn new() -> Self {
        Machine(tempfile::tempdir().unwrap())
    }

    /// Where a file of the machine really is.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// What a file says, without the white space around it.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap().trim().to_owned()
    }

    /// The machine as the code under test sees it.
    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }
}

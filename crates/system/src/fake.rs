//! A fake machine for tests: a folder with the files of `/proc`, `/sys` and others that a test
//! needs.

use std::path::PathBuf;

use tempfile::TempDir;

use crate::Root;

/// A fake machine. Paths are those on a real system, such as `/proc/stat`; the files are removed on
/// drop.
pub(crate) struct FakeMachine(TempDir);

impl FakeMachine {
    /// Makes a machine without files.
    pub(crate) fn new() -> Self {
        FakeMachine(tempfile::tempdir().unwrap())
    }

    /// Returns the real path of a file of the machine.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path.trim_start_matches('/'))
    }

    /// Writes a file and creates its parent folders.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Returns a file's content without surrounding white space.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap().trim().to_owned()
    }

    /// Returns the root that the code under test reads.
    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }
}

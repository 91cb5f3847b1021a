//! Test processes: an ignored test of this program that another test starts.

use std::path::Path;
use std::process::{Command, Stdio};

use assay_archive::Archive;

const ARCHIVE: &str = "ASSAY_TEST_ARCHIVE";

/// Returns a command that runs only the given ignored test of this program, on the archive at
/// `path`.
pub fn command(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env(ARCHIVE, path).stdout(Stdio::null());
    command
}

/// Returns the archive that the test has to use. If no other test started this one, prints the
/// reason for skipping it and returns `None`.
pub fn archive() -> Option<Archive> {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        println!("skipped: because it is started by the other tests of its file");
        return None;
    };
    Some(Archive::open(path).unwrap())
}

//! Processes of their own: an ignored test of this program, started by another.

use std::path::Path;
use std::process::{Command, Stdio};

use assay_archive::Archive;

const ARCHIVE: &str = "ASSAY_TEST_ARCHIVE";

/// This program with that ignored test alone, which works on the archive at `path`.
pub fn command(test: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env(ARCHIVE, path).stdout(Stdio::null());
    command
}

/// The archive that the test shall work on; `None`, with the reason printed, where no other started
/// it.
pub fn archive() -> Option<Archive> {
    let Some(path) = std::env::var_os(ARCHIVE) else {
        println!("skipped: because it is started by the other tests of its file");
        return None;
    };
    Some(Archive::open(path).unwrap())
}

//! Runs the system programs that create, mount and remove storage.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Unavailable;
use crate::read::which::which;

/// Environment variable with the path of the storage.
pub(super) const VARIABLE: &str = "ASSAY_STORAGE";
/// Folders that a user's `$PATH` may lack.
const ALSO: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// Returns the path of a program.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    which(program).or_else(|| ALSO.iter().find_map(|dir| which(format!("{dir}/{program}"))))
}

/// Runs a program to its end and returns its output. The program's environment holds the storage's
/// folder, so that it can be found if assay is killed meanwhile.
///
/// # Errors
/// The program is missing, or its error message.
pub(super) fn run<A: AsRef<OsStr>>(
    folder: &Path,
    program: &str,
    arguments: impl IntoIterator<Item = A>,
) -> Result<String, Unavailable> {
    let path = find(program).ok_or_else(|| format!("there is no program `{program}`"))?;
    let done = Command::new(path)
        .args(arguments)
        .env("LC_ALL", "C")
        .env(VARIABLE, folder.join(""))
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot start `{program}`: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
    }
    let stderr = String::from_utf8_lossy(&done.stderr);
    let stderr: Vec<&str> =
        stderr.lines().map(str::trim).filter(|l| !l.is_empty()).take(3).collect();
    Err(format!("`{program}` failed: {}", stderr.join("; ")).into())
}

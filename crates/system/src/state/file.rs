//! Lock files, and small state files that only their owner reads. At any moment, even after a
//! crash, there is the complete old file or the complete new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// Source of unpredictable bytes.
pub const URANDOM: &str = "/dev/urandom";

/// Writes `content` to `path` (mode 0600): writes a temporary file next to it, flushes and renames
/// it, and flushes the folder.
///
/// # Errors
/// If the file or its folder cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = path.with_extension("part");
    let mut out =
        OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
    out.write_all(content)?;
    out.sync_all()?;
    fs::rename(&part, path)?;
    flush_folder(path)
}

/// Removes `path` permanently. It is no error if it does not exist.
///
/// # Errors
/// If the file cannot be removed or its folder cannot be flushed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => flush_folder(path),
    }
}

/// Takes a lock file if it is free, and writes this process's id into it. `Ok(Err(who))` names the
/// process that holds it. The kernel releases the lock when the file is dropped.
///
/// # Errors
/// The file cannot be created with `mode`, or read.
pub fn try_lock(path: &Path, mode: u32) -> io::Result<Result<File, String>> {
    let mut options = OpenOptions::new();
    let mut file =
        options.read(true).write(true).create(true).truncate(false).mode(mode).open(path)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        let mut who = String::new();
        file.take(64).read_to_string(&mut who)?;
        let who = who.trim();
        return Ok(Err(if who.is_empty() { "another process" } else { who }.to_owned()));
    }
    // Written over the name before it: a full disk may not give back a page that is freed. The lock
    // holds without a name.
    let name = format!("process {}\n", std::process::id());
    let written = file.write_all(name.as_bytes()).map_or(0, |()| name.len() as u64);
    let _ = file.set_len(written);
    Ok(Ok(file))
}

/// Returns `N` bytes that nobody can predict.
///
/// # Errors
/// `/dev/urandom` cannot be read.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open(URANDOM)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn flush_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_holds_on_a_full_disk() {
        assert!(try_lock(Path::new("/dev/full"), 0o600).unwrap().is_ok());
    }

    #[test]
    fn a_shorter_name_replaces_a_longer_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "process 12345678901234567890\n").unwrap();
        let lock = try_lock(file.path(), 0o600).unwrap();
        let me = format!("process {}", std::process::id());
        assert_eq!(try_lock(file.path(), 0o600).unwrap().unwrap_err(), me);
        drop(lock);
    }
}

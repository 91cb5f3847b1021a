//! Cache of builds: a build is locked while in use, and the least recently used ones are removed
//! beyond a size limit.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use crate::revisions::RevisionError;

/// Default size limit of all builds in bytes.
pub const DEFAULT_LIMIT: u64 = 10 << 30;
/// Lock file of a build, in its folder.
const LOCK: &str = "lock";

/// Opens the lock of the build in `dir`, which must exist.
pub(crate) fn lock_file(dir: &Path) -> Result<File, RevisionError> {
    let path = dir.join(LOCK);
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(RevisionError::io("open", &path))
}

/// Takes a lock, waiting until others release it.
pub(crate) fn take(file: &File, how: FlockOperation, dir: &Path) -> Result<(), RevisionError> {
    loop {
        match flock(file, how) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(RevisionError::io("lock", dir)(e.into())),
        }
    }
}

/// Removes the least recently used builds until all of them take at most `limit` bytes. Builds in
/// use are kept. Returns the number of builds removed.
pub fn sweep(cache: &Path, limit: u64) -> usize {
    let Ok(entries) = fs::read_dir(cache) else { return 0 };
    let mut all: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|e| e.path().is_dir())
        .map(|e| {
            let used = fs::metadata(e.path().join(LOCK)).and_then(|m| m.modified());
            (used.unwrap_or(SystemTime::UNIX_EPOCH), bytes(&e.path()), e.path())
        })
        .collect();
    all.sort();
    let mut total: u64 = all.iter().map(|b| b.1).sum();
    let mut removed = 0;
    for (_, size, dir) in all {
        if total <= limit {
            break;
        }
        let Ok(lock) = lock_file(&dir) else { continue };
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
            && fs::remove_dir_all(&dir).is_ok()
        {
            total = total.saturating_sub(size);
            removed += 1;
        }
    }
    removed
}

/// Returns the disk space of a folder in bytes; unreadable entries count as 0.
fn bytes(dir: &Path) -> u64 {
    let mut open = vec![dir.to_owned()];
    let mut sum = 0;
    while let Some(dir) = open.pop() {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            sum += meta.blocks() * 512;
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    sum
}

/// Returns true if an open lock file is still the one in `dir`.
pub(crate) fn is_the_one(lock: &File, dir: &Path) -> bool {
    match (lock.metadata(), fs::metadata(dir.join(LOCK))) {
        (Ok(mine), Ok(there)) => (mine.dev(), mine.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

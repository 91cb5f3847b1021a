//! Ensures one writer per run: a lock file names its process, so that a dead owner can be told from
//! a living one without help from the file system.
//!
//! The file is created with `O_EXCL`, which network file systems honor too. Taking over a dead
//! owner's lock is guarded by `flock` on the run's folder if the file system supports it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use assay_system::start_ticks;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::format::disk;
use crate::format::layout::LOCK;
use crate::{Error, Result};

/// The operation that holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LockPurpose {
    /// A process writes trials.
    Write,
    /// A process imports a run.
    Import,
}

/// The process that holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    schema_version: u32,
    purpose: LockPurpose,
    host: String,
    boot_id: String,
    /// The PID namespace: process ids cannot be compared across namespaces.
    namespace: String,
    pid: u32,
    /// Start time of the process in clock ticks since boot; distinguishes processes that had the
    /// same pid.
    start_time: Option<u64>,
}

/// State of a run's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LockState {
    Free,
    /// The owner is alive, or cannot be checked from here (another host).
    Alive(LockPurpose, String),
    /// The owner no longer runs.
    Dead,
}

impl Owner {
    fn this_process(purpose: LockPurpose) -> Self {
        let pid = std::process::id();
        Owner {
            schema_version: assay_model::SCHEMA_VERSION,
            purpose,
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            boot_id: boot_id(),
            namespace: namespace(),
            pid,
            start_time: start_ticks(pid),
        }
    }

    fn held(&self) -> LockState {
        let here = Owner::this_process(self.purpose);
        let alive = if self.host != here.host {
            true
        } else if self.boot_id != here.boot_id {
            false
        } else if self.namespace != here.namespace {
            true
        } else {
            let now = start_ticks(self.pid);
            now.is_some() && (now == self.start_time || self.start_time.is_none())
        };
        if alive {
            LockState::Alive(self.purpose, format!("process {} on {}", self.pid, self.host))
        } else {
            LockState::Dead
        }
    }
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map_or_else(|_| String::new(), |p| p.display().to_string())
}

/// Reads the lock in `folder` without changing it.
pub(crate) fn read_state(folder: &Path) -> LockState {
    let path = folder.join(LOCK);
    match disk::read(&path, 4096) {
        Ok(bytes) => match serde_json::from_slice::<Owner>(&bytes) {
            Ok(owner) => owner.held(),
            // Half-written: the writer is about to fill the file or died before it did.
            Err(_) if is_recent(&path) => {
                LockState::Alive(LockPurpose::Write, "a process".to_owned())
            }
            Err(_) => LockState::Dead,
        },
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            LockState::Free
        }
        Err(_) => LockState::Alive(LockPurpose::Write, "an invisible process".to_owned()),
    }
}

fn is_recent(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|m| m.modified()).map(|t| t.elapsed());
    matches!(age, Ok(Ok(age)) if age.as_secs() < 10)
}

/// A held lock; dropping it releases it.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of `folder`, even from a dead owner. Returns `Ok(Err(owner))` if it is held.
    pub(crate) fn take(
        folder: &Path,
        purpose: LockPurpose,
    ) -> Result<std::result::Result<Self, String>> {
        let path = folder.join(LOCK);
        let guard = File::open(folder).map_err(|e| Error::io("open", folder, e))?;
        // Without flock (some network file systems), the O_EXCL creation below still protects.
        let _ = flock(&guard, FlockOperation::LockExclusive);
        match read_state(folder) {
            LockState::Alive(_, owner) => return Ok(Err(owner)),
            LockState::Dead => disk::remove(&path)?,
            LockState::Free => {}
        }
        let owner = disk::to_json(&Owner::this_process(purpose), &path)?;
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                return Ok(Err("another process".to_owned()));
            }
            Err(e) => return Err(Error::io("create", &path, e)),
        };
        if let Err(e) = file.write_all(&owner) {
            let _ = fs::remove_file(&path);
            return Err(Error::io("write", &path, e));
        }
        Ok(Ok(Lock { path }))
    }

    /// Updates the lock's path after its folder was renamed.
    pub(crate) fn moved_to(&mut self, folder: &Path) {
        self.path = folder.join(LOCK);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock file that cannot be removed names this process, so it counts as dead once the
        // process is gone.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(folder.path(), LockPurpose::Write).unwrap().unwrap();
        assert!(matches!(read_state(folder.path()), LockState::Alive(LockPurpose::Write, _)));
        assert!(Lock::take(folder.path(), LockPurpose::Import).unwrap().is_err());
        drop(lock);
        assert_eq!(read_state(folder.path()), LockState::Free);
    }

    #[test]
    fn dead_owners_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK);
        let mut owner = Owner::this_process(LockPurpose::Write);
        let mut put = |change: &dyn Fn(&mut Owner)| {
            change(&mut owner);
            fs::write(&path, serde_json::to_vec(&owner).unwrap()).unwrap();
            read_state(folder.path())
        };
        assert!(matches!(put(&|_| {}), LockState::Alive(..)));
        assert_eq!(put(&|o| o.start_time = Some(1)), LockState::Dead, "a reused pid");
        assert_eq!(put(&|o| o.pid = u32::MAX), LockState::Dead);
        assert_eq!(put(&|o| o.boot_id = "another".into()), LockState::Dead);
        assert!(matches!(put(&|o| o.host = "elsewhere".into()), LockState::Alive(..)));
        assert!(Lock::take(folder.path(), LockPurpose::Write).unwrap().is_err());
    }
}

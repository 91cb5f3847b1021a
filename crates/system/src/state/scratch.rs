//! Scratch folders for files that nobody needs after the process that made them. Their names show
//! whether a folder is in use or was left by a killed process.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::start_ticks;

const PREFIX: &str = "assay-scratch-";

/// Mode of a folder that everybody may access, subject to the umask.
pub const EVERYBODY: u32 = 0o777;
/// Mode of a folder that only its owner may access.
pub const OWNER: u32 = 0o700;

/// Returns the parent of scratch folders: `$ASSAY_SCRATCH`, else the system's temporary folder.
pub fn root() -> PathBuf {
    std::env::var_os("ASSAY_SCRATCH").map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Returns the user's cache folder: `$XDG_CACHE_HOME` if it is absolute, else `~/.cache`, else the
/// system's temporary folder.
pub fn cache_root() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir)
}

/// Creates a folder in `root`. Its name contains this process's id and start time, by which
/// [`sweep`] knows whether it is still in use. The caller must remove it.
///
/// # Errors
/// If the folder could not be created.
pub fn make(root: &Path, mode: u32) -> io::Result<PathBuf> {
    loop {
        let dir = root.join(name());
        match fs::DirBuilder::new().mode(mode).create(&dir) {
            Ok(()) => return Ok(dir),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Returns a name that [`sweep`] recognizes, a new one at each call.
pub(crate) fn name() -> String {
    format!("{PREFIX}{}", unique())
}

/// True if the folder has a name made by [`name`].
pub(crate) fn is_name(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(PREFIX))
}

/// Returns this process's id and start time and a counter: a new text at each call.
pub(crate) fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = std::process::id();
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("{pid}-{}-{n}", start_ticks(pid).unwrap_or(0))
}

/// Removes the folders of processes that have exited, and returns their number. Skips folders that
/// contain a mount, because the mount may be a user's device.
pub fn sweep(root: &Path) -> usize {
    let mounts = crate::read::mounts::all(&crate::Root::system());
    let Ok(entries) = fs::read_dir(root) else { return 0 };
    let gone = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|n| n.strip_prefix(PREFIX)) else { return false };
        let mut parts = rest.split('-');
        let pid = parts.next().and_then(|p| p.parse::<u32>().ok());
        let start = parts.next().and_then(|p| p.parse::<u64>().ok());
        matches!((pid, start), (Some(pid), Some(start)) if start_ticks(pid) != Some(start))
    });
    let free = |dir: &Path| !mounts.iter().any(|m| m.point.starts_with(dir));
    gone.filter(|entry| free(&entry.path()))
        .filter(|entry| fs::remove_dir_all(entry.path()).is_ok())
        .count()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_what_nobody_uses_is_swept() {
        let root = tempfile::tempdir().unwrap();
        let mine = make(root.path(), OWNER).unwrap();
        let other = make(root.path(), EVERYBODY).unwrap();
        assert_eq!(fs::metadata(&mine).unwrap().permissions().mode() & 0o777, OWNER);
        let dead = root.path().join(format!("{PREFIX}{}-1-0", std::process::id()));
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("memcached.log"), "x").unwrap();
        fs::create_dir(root.path().join("somebody-elses")).unwrap();
        assert_eq!(sweep(root.path()), 1);
        assert!(!dead.exists() && mine.exists() && other.exists());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 3);
    }
}

//! Small state files that only their owner reads. At any moment, even after a crash, there is the
//! complete old file or the complete new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

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

fn flush_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
}

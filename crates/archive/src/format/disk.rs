//! Durable writes, and reads that do not trust the size of a file.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use assay_model::{FileHash, SCHEMA_VERSION};
pub(crate) use assay_system::{hex, sha256};

use crate::{Error, Result};

/// Maximum size of a JSON or TOML file, in bytes.
pub(crate) const MAX_TEXT: u64 = 64 << 20;
/// Maximum size of a ledger, log or samples file, in bytes.
pub(crate) const MAX_DATA: u64 = 1 << 30;

/// Choice of whether a write waits until the storage device has the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Synced,
    /// In the page cache: the data survives the process but not a power failure.
    Cached,
}

/// Serializes a value as indented JSON with a final newline: the bytes that are hashed and written.
pub(crate) fn to_json<T: Serialize>(value: &T, path: &Path) -> Result<Vec<u8>> {
    let mut bytes =
        serde_json::to_vec_pretty(value).map_err(|e| Error::damaged(path, e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a new file that no reader can see yet (in a staging folder).
pub(crate) fn write_new(path: &Path, bytes: &[u8], durability: Durability) -> Result<()> {
    let write = || {
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(path)?;
        file.write_all(bytes)?;
        // An empty file is durable when its folder is.
        if durability == Durability::Synced && !bytes.is_empty() {
            file.sync_all()?;
        }
        Ok(())
    };
    write().map_err(|e| Error::io("write", path, e))
}

/// Moves a file into a staging folder, even from another file system.
pub(crate) fn move_file(from: &Path, to: &Path) -> Result<()> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map_err(|e| Error::io("write", to, e))?;
    fs::remove_file(from).map_err(|e| Error::io("remove", from, e))
}

/// Replaces `path` by `bytes`: writes a temporary file, flushes it, renames it and flushes the
/// folder. A reader sees the old or the new content, never a part of it.
pub(crate) fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let staged = Path::new(&name);
    let put = || {
        write_new(staged, bytes, durability)?;
        fs::rename(staged, path).map_err(|e| Error::io("rename", staged, e))
    };
    if let Err(error) = put() {
        let _ = fs::remove_file(staged);
        return Err(error);
    }
    match path.parent() {
        Some(folder) if durability == Durability::Synced => sync(folder),
        _ => Ok(()),
    }
}

/// Returns the ledger's description of a file with this content.
pub(crate) fn hash_of(path: &str, content: &[u8]) -> FileHash {
    FileHash { path: path.to_owned(), bytes: content.len() as u64, sha256: sha256(content) }
}

/// Like [`hash_of`], for the file at `place`, which may be large.
pub(crate) fn hash_file(path: &str, place: &Path) -> Result<FileHash> {
    let fail = |e| Error::io("read", place, e);
    let mut file = File::open(place).map_err(fail)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        let n = file.read(&mut buffer).map_err(fail)?;
        if n == 0 {
            let sha256 = hex(&hash.finalize());
            return Ok(FileHash { path: path.to_owned(), bytes, sha256 });
        }
        hash.update(&buffer[..n]);
        bytes += n as u64;
    }
}

/// Flushes a file or folder to the storage device.
pub(crate) fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|f| f.sync_all()).map_err(|e| Error::io("flush", path, e))
}

/// Creates a folder and its parents.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| Error::io("create", path, e))
}

/// Removes a file, or a folder with its content. It is no error if nothing is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let gone = match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(e) => Err(e),
    };
    match gone {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|e| Error::io("remove", path, e)),
    }
}

/// Opens a regular file of at most `limit` bytes, and returns it with its size.
pub(crate) fn open(path: &Path, limit: u64) -> Result<(File, u64)> {
    let fail = |e| Error::io("read", path, e);
    // Opening another kind of file might block.
    let meta = fs::metadata(path).map_err(fail)?;
    if !meta.is_file() {
        return Err(Error::damaged(path, "it is not a regular file"));
    }
    if meta.len() > limit {
        return Err(Error::TooLarge { path: path.to_owned(), found: meta.len(), limit });
    }
    Ok((File::open(path).map_err(fail)?, meta.len()))
}

/// Reads a regular file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let (file, size) = open(path, limit)?;
    let mut bytes = Vec::with_capacity(size as usize);
    // The file may grow between the size check and the read.
    file.take(limit).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    Ok(bytes)
}

/// Like [`read`], but returns `None` if the file does not exist.
pub(crate) fn read_if_there(path: &Path, limit: u64) -> Result<Option<Vec<u8>>> {
    match read(path, limit) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

#[derive(Deserialize)]
struct Version {
    schema_version: u64,
}

/// Parses a JSON file written by assay. Checks the format version before the content.
pub(crate) fn parse_json<T: DeserializeOwned>(bytes: &[u8], path: &Path) -> Result<T> {
    let anywhere = || serde_json::from_slice::<Version>(bytes).map(|found| found.schema_version);
    let found = leading_version(bytes).map_or_else(anywhere, Ok);
    let found = found.map_err(|e| Error::damaged(path, e))?;
    if found > u64::from(SCHEMA_VERSION) {
        return Err(Error::Newer { path: path.to_owned(), found });
    }
    serde_json::from_slice(bytes).map_err(|e| Error::damaged(path, e))
}

/// Returns the version if it is the first field, as assay writes it; then the rest need not be
/// parsed to find it.
fn leading_version(bytes: &[u8]) -> Option<u64> {
    let rest = ["{", "\"schema_version\"", ":"]
        .iter()
        .try_fold(bytes, |rest, part| rest.trim_ascii_start().strip_prefix(part.as_bytes()))?
        .trim_ascii_start();
    let (digits, after) = rest.split_at(rest.iter().position(|b| !b.is_ascii_digit())?);
    let version = str::from_utf8(digits).ok()?.parse().ok()?;
    after.trim_ascii_start().starts_with(b",").then_some(version)
}

/// Reads a JSON file written by assay.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T> {
    parse_json(&read(path, MAX_TEXT)?, path)
}

/// Reads a text file written by assay.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path, MAX_TEXT)?).map_err(|e| Error::damaged(path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_wherever_it_stands() {
        let parse = |text: &str| parse_json::<serde_json::Value>(text.as_bytes(), Path::new("x"));
        for (text, leads) in [
            ("{\"schema_version\": 2, \"x\": 1}", true),
            ("\n{ \"schema_version\"\n:2\n, \"x\": 1}", true),
            ("{\"x\": 1, \"schema_version\": 2}", false),
            ("{\"schema_version\": 2}", false),
            ("{\"schema_version\": 2 }", false),
        ] {
            assert_eq!(leading_version(text.as_bytes()), leads.then_some(2), "{text}");
            assert!(matches!(parse(text), Err(Error::Newer { found: 2, .. })), "{text}");
            assert!(parse(&text.replace('2', "1")).is_ok(), "{text}");
        }
        for text in [
            "",
            "{",
            "{\"schema_version\":",
            "{\"schema_version\":1",
            "{\"schema_version\": -1, \"x\": 1}",
        ] {
            assert!(matches!(parse(text), Err(Error::Damaged { .. })), "{text}");
        }
    }
}

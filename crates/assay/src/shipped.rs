//! The kits, experiments and posts that come with assay. They are embedded in the program and are
//! unpacked once into the cache, so that the paths in the help work in any folder.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::exit::Usage;

/// Compressed archive of the embedded files.
const FILES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shipped.tar.gz"));

/// Hash of the embedded files.
const CONTENT: &str = env!("SHIPPED_CONTENT");

/// Top-level folders of the embedded files.
const FOLDERS: [&str; 3] = ["experiments", "kits", "posts"];

/// Returns the path of one of [`FOLDERS`], unpacking the files if necessary.
///
/// # Errors
/// The cache cannot be written.
pub fn folder(name: &str) -> io::Result<PathBuf> {
    Ok(unpacked()?.join(name))
}

/// Returns the path of a file or folder as given if it exists. Otherwise, if the path is in one of
/// [`FOLDERS`], returns the copy that comes with assay and prints a message about it.
///
/// # Errors
/// Neither exists, or the files cannot be unpacked. The text names the places that were searched.
pub fn find(named: &Path) -> Result<PathBuf, Usage> {
    if named.exists() {
        return Ok(named.to_owned());
    }
    let first = match named.components().find(|c| !matches!(c, Component::CurDir)) {
        Some(Component::Normal(first)) => first.to_str().unwrap_or_default(),
        _ => "",
    };
    let here = std::env::current_dir().unwrap_or_default();
    if !FOLDERS.contains(&first) {
        return Err(Usage(format!("{} does not exist", here.join(named).display())));
    }
    let in_there = unpacked().map_err(|e| {
        Usage(format!(
            "{} does not exist, and the files that come with assay cannot be unpacked: {e}",
            named.display()
        ))
    })?;
    let found = in_there.join(named);
    if found.exists() {
        crate::screen::say(&format!("using the {} that comes with assay", named.display()));
        return Ok(found);
    }
    let looked = [here, in_there].map(|p| p.display().to_string()).join(" and in ");
    Err(Usage(format!("{} does not exist: looked in {looked}", named.display())))
}

/// Returns name and text of the embedded files of a folder, without unpacking them.
///
/// # Errors
/// One of them is not a text.
pub fn texts(folder: &str) -> io::Result<Vec<(String, String)>> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(FILES));
    let mut texts = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?.into_owned();
        if path.parent() == Some(Path::new(folder)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            texts.push((name, io::read_to_string(&mut entry)?));
        }
    }
    Ok(texts)
}

/// Returns the folder with all unpacked files. Its name has their hash, so that another version has
/// another folder.
fn unpacked() -> io::Result<PathBuf> {
    let cache = assay_lab::cache_dir();
    let dir = cache.join(format!("shipped-{CONTENT}"));
    if dir.is_dir() {
        return Ok(dir);
    }
    fs::create_dir_all(&cache)?;
    // Unpacks all files or none: another assay may do the same at the same moment.
    let making = cache.join(format!("shipped-{CONTENT}.{}.tmp", std::process::id()));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(FILES));
    archive.set_preserve_mtime(false);
    let moved = archive.unpack(&making).and_then(|()| fs::rename(&making, &dir));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&making);
    }
    if dir.is_dir() { Ok(dir) } else { moved.map(|()| dir) }
}

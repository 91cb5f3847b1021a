//! What comes with assay: its kits, experiments and posts. They are in the program itself and are unpacked once
//! into the cache, so that what the help names works from any folder.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Path and content of each file.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// A name for that content.
const CONTENT: &str = env!("SHIPPED_CONTENT");

/// Which folders of it there are.
const FOLDERS: [&str; 3] = ["experiments", "kits", "posts"];

/// The folder that holds one of [`FOLDERS`]; unpacks it where it is not there yet.
///
/// # Errors
/// The cache cannot be written.
pub fn folder(name: &str) -> io::Result<PathBuf> {
    Ok(unpacked()?.join(name))
}

/// A file or folder that was named: where it is if it is there as named; else, where it is one of
/// [`FOLDERS`] or below and came with assay, that one, which is printed.
///
/// # Errors
/// It is nowhere; the text names where was looked.
pub fn find(named: &Path) -> Result<PathBuf, String> {
    if named.exists() {
        return Ok(named.to_owned());
    }
    let first = match named.components().find(|c| !matches!(c, Component::CurDir)) {
        Some(Component::Normal(first)) => first.to_str().unwrap_or_default(),
        _ => "",
    };
    let here = std::env::current_dir().unwrap_or_default();
    if !FOLDERS.contains(&first) {
        return Err(format!("{} is not there", here.join(named).display()));
    }
    let in_there = unpacked().map_err(|e| {
        format!(
            "{} is not there, and what comes with assay cannot be unpacked: {e}",
            named.display()
        )
    })?;
    let found = in_there.join(named);
    if found.exists() {
        crate::screen::say(&format!("{} is the one that comes with assay", named.display()));
        return Ok(found);
    }
    let looked = [here, in_there].map(|p| p.display().to_string()).join(" and in ");
    Err(format!("{} does not exist: looked in {looked}", named.display()))
}

/// The folder with all of it, named after its content: another version has another folder.
fn unpacked() -> io::Result<PathBuf> {
    let cache = assay_lab::cache_dir();
    let dir = cache.join(format!("shipped-{CONTENT}"));
    if dir.is_dir() {
        return Ok(dir);
    }
    fs::create_dir_all(&cache)?;
    // Whole or not at all: another assay may do the same at the same moment.
    let making = cache.join(format!("shipped-{CONTENT}.{}.tmp", std::process::id()));
    let made = FILES.iter().try_for_each(|(path, bytes)| {
        let to = making.join(path);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(to, bytes)
    });
    let moved = made.and_then(|()| fs::rename(&making, &dir));
    if moved.is_err() {
        let _ = fs::remove_dir_all(&making);
    }
    if dir.is_dir() { Ok(dir) } else { moved.map(|()| dir) }
}

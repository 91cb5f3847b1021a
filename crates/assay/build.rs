//! Embeds the kits, experiments and posts of the repository in the program, so that the paths in
//! the help work in any folder. Writes a table of their paths and contents.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders of the repository whose files are embedded.
const FOLDERS: [&str; 3] = ["experiments", "kits", "posts"];

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let repository = variable("CARGO_MANIFEST_DIR")?.join("../..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&repository.join(folder), &mut files)?;
    }
    files.sort();
    let (mut table, mut content) = (String::from("&[\n"), DefaultHasher::new());
    for file in &files {
        let name = text(file.strip_prefix(&repository).map_err(io::Error::other)?)?;
        (name, fs::read(file)?).hash(&mut content);
        let _ =
            writeln!(table, "({:?}, include_bytes!({:?})),", name, text(&fs::canonicalize(file)?)?);
    }
    table.push_str("]\n");
    // Short, because paths below that folder are shown.
    println!("cargo::rustc-env=SHIPPED_CONTENT={:08x}", content.finish() >> 32);
    fs::write(variable("OUT_DIR")?.join("shipped.rs"), table)
}

fn text(path: &Path) -> io::Result<&str> {
    path.to_str().ok_or_else(|| io::Error::other(format!("{} is no text", path.display())))
}

/// Collects the files below a folder, except those whose name begins with a dot.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let hidden = path.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"."));
        if path.is_dir() {
            collect(&path, files)?;
        } else if !hidden {
            files.push(path);
        }
    }
    Ok(())
}

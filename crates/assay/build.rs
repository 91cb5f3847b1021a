//! Embeds the schemas, kits, experiments and posts of the repository in the program, so that the
//! paths in the help work in any folder. Writes them to a compressed archive.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::{Compression, write::GzEncoder};

/// Folders of the repository whose files are embedded.
const FOLDERS: [&str; 4] = ["docs/schema", "experiments", "kits", "posts"];

fn main() -> io::Result<()> {
    let variable = |name: &str| env::var_os(name).map(PathBuf::from).ok_or(io::ErrorKind::NotFound);
    let repository = variable("CARGO_MANIFEST_DIR")?.join("../..");
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&repository.join(folder), &mut files)?;
    }
    files.sort();
    let mut content = DefaultHasher::new();
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    archive.mode(tar::HeaderMode::Deterministic);
    for file in &files {
        let name = file.strip_prefix(&repository).map_err(io::Error::other)?;
        (name, fs::read(file)?).hash(&mut content);
        archive.append_path_with_name(file, name)?;
    }
    // Short, because paths below that folder are shown.
    println!("cargo::rustc-env=SHIPPED_CONTENT={:08x}", content.finish() >> 32);
    fs::write(variable("OUT_DIR")?.join("shipped.tar.gz"), archive.into_inner()?.finish()?)
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

//! Puts a kit's third-party files into the cache, after comparing each with its SHA-256 in the kit.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::apt::Apt;
use super::format::Fetch;
use super::lock::Lock;
use crate::WorkloadError;
use assay_system::{sha256, sha256_file};

/// Returns the folder of a kit's fetched files below the kit's cache folder. Its name is a hash
/// over the files' names and hashes, so that another version gets another folder.
pub(crate) fn folder(kit_cache: &Path, rows: &[Fetch]) -> PathBuf {
    let mut key = String::new();
    for row in rows {
        for (name, digest) in &row.files {
            let _ = writeln!(key, "{name} {}", digest.get_ref());
        }
    }
    kit_cache.join(format!("fetch-{}", &sha256(key.as_bytes())[..16]))
}

/// Makes sure that every file is present with the hash in the kit, and returns their folder. A file
/// that is already there, whatever its origin, is used if its hash is right and refused if not.
///
/// # Errors
/// Fails if a file has another hash or apt-get fails.
pub(crate) fn ensure(
    kit: &str,
    rows: &[Fetch],
    kit_cache: &Path,
    cache_dir: &Path,
) -> Result<PathBuf, WorkloadError> {
    let dir = folder(kit_cache, rows);
    fs::create_dir_all(&dir).map_err(WorkloadError::io("create", &dir))?;
    let _lock = Lock::take(&dir.with_extension("lock"))?;
    for row in rows {
        if row.files.keys().all(|name| dir.join(name).is_file()) {
            verify(kit, row, &dir)?;
        } else {
            download(kit, row, &dir, cache_dir)?;
        }
    }
    Ok(dir)
}

fn download(kit: &str, row: &Fetch, dir: &Path, cache_dir: &Path) -> Result<(), WorkloadError> {
    let partial = dir.join("partial");
    match fs::remove_dir_all(&partial) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(WorkloadError::io("remove", &partial)(e));
        }
        _ => fs::create_dir(&partial).map_err(WorkloadError::io("create", &partial))?,
    }
    let apt = Apt::open(cache_dir, Path::new("/etc/apt"), row.from)?;
    apt.download(row.package.get_ref(), row.version.get_ref(), &partial)
        .map_err(|e| unfetched(e, row, dir))?;
    verify(kit, row, &partial)?;
    for name in row.files.keys() {
        let to = dir.join(name);
        fs::rename(partial.join(name), &to).map_err(WorkloadError::io("write", &to))?;
    }
    fs::remove_dir_all(&partial).map_err(WorkloadError::io("remove", &partial))
}

/// Extends apt-get's error with the version that the kit needs and the folder for files from
/// elsewhere, because the repository may no longer have the version.
fn unfetched(error: WorkloadError, row: &Fetch, dir: &Path) -> WorkloadError {
    let WorkloadError::Step { step, mut detail } = error else { return error };
    let _ = write!(
        detail,
        "\nThe kit needs {} {}; if the registry no longer has it, put these files with these \
         SHA-256 into {} by hand:",
        row.package.get_ref(),
        row.version.get_ref(),
        dir.display()
    );
    for (name, digest) in &row.files {
        let _ = write!(detail, "\n  {}  {name}", digest.get_ref());
    }
    WorkloadError::Step { step, detail }
}

/// Checks the hash of every file of `row` in `dir`.
fn verify(kit: &str, row: &Fetch, dir: &Path) -> Result<(), WorkloadError> {
    let refused = |detail| WorkloadError::Step { step: format!("fetch for kit {kit}"), detail };
    for (name, digest) in &row.files {
        let path = dir.join(name);
        let found = match sha256_file(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Err(refused(format!(
                    "the package {} {} did not contain the file {name} that kit.toml names",
                    row.package.get_ref(),
                    row.version.get_ref()
                )));
            }
            found => found.map_err(WorkloadError::io("read", &path))?,
        };
        if found != *digest.get_ref() {
            return Err(refused(format!(
                "{} was rejected: its SHA-256 is {found}, but kit.toml requires {}; if the kit is \
                 right, remove the file to fetch it again",
                path.display(),
                digest.get_ref()
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::format::Origin;
    use toml::Spanned;

    use crate::kit::format::Placed;

    #[test]
    fn a_file_that_is_there_is_taken_and_a_changed_one_refused() {
        let text = |t: &str| Placed(Spanned::new(0..0, t.to_owned()));
        let rows = [Fetch {
            from: Origin::DebianSource,
            package: text("p"),
            version: text("1"),
            files: [("a.tar".to_owned(), text(&sha256(b"right")))].into(),
        }];
        let cache = tempfile::tempdir().unwrap();
        let dir = folder(cache.path(), &rows);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("a.tar"), "right").unwrap();
        assert_eq!(ensure("k", &rows, cache.path(), cache.path()).unwrap(), dir);
        let gone = WorkloadError::Step { step: "fetch of p=1".into(), detail: "not found".into() };
        let error = unfetched(gone, &rows[0], &dir).to_string();
        assert!(error.contains("needs p 1") && error.contains(&sha256(b"right")), "{error}");
        fs::write(dir.join("a.tar"), "wrong").unwrap();
        let error = ensure("k", &rows, cache.path(), cache.path()).unwrap_err().to_string();
        assert!(error.contains("was rejected") && error.contains(&sha256(b"wrong")), "{error}");
    }
}

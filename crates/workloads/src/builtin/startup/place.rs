//! The models as files: made once per run, and copied to the storage of each trial.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use assay_model::units::format_bytes;

use crate::WorkloadError;
use crate::builtin::startup::params::StartupParams;

/// Size of the reads and writes in bytes.
const CHUNK: usize = 1 << 20;

/// Returns the path of a model in the run's folder.
fn source(params: &StartupParams, run_dir: &Path, spoilt: bool) -> PathBuf {
    let model = params.model();
    let kind = if spoilt { "spoilt-" } else { "" };
    run_dir.join(format!("startup-{kind}{}-{}-{}.mps", model.seed, model.rows(), model.columns()))
}

/// Makes the models that a trial needs and the run does not have yet.
pub fn generate(params: &StartupParams, run_dir: &Path) -> Result<(), WorkloadError> {
    for spoilt in [false, true] {
        let path = source(params, run_dir, spoilt);
        if path.exists() || !params.files().iter().any(|(_, s)| *s == spoilt) {
            continue;
        }
        let partial = path.with_extension("partial");
        let make = || {
            let mut file = File::create(&partial)?;
            params.model().write(&mut file, spoilt)?;
            fs::rename(&partial, &path)
        };
        make().map_err(WorkloadError::io("write", &path))?;
    }
    Ok(())
}

/// Copies the models to the input folder and drops them from the page cache.
pub fn place(params: &StartupParams, run_dir: &Path, dir: &Path) -> Result<(), WorkloadError> {
    let files = params.files();
    for (n, (name, spoilt)) in files.iter().enumerate() {
        let from = source(params, run_dir, *spoilt);
        let to = dir.join(name);
        copy(&from, &to).map_err(|e| {
            let step = format!("writing model {} of {} to the storage", n + 1, files.len());
            let detail = format!("`{}`: {e}{}", to.display(), room(&e, &from, files.len()));
            WorkloadError::step(step, detail)
        })?;
    }
    Ok(())
}

/// Returns a remedy if the storage is full.
fn room(error: &io::Error, from: &Path, count: usize) -> String {
    if !matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
        return String::new();
    }
    let each = fs::metadata(from).map_or(0, |m| m.len());
    format!(
        "; {count} models need {} each: give the storage a larger size=, or set files to one",
        format_bytes(each)
    )
}

/// Copies by reading and writing, so that no file system can share the blocks of the copies. The
/// copy is synced to the device and dropped from the page cache.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = BufWriter::with_capacity(CHUNK, File::create(to)?);
    let mut buffer = vec![0; CHUNK];
    loop {
        let n = source.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        target.write_all(&buffer[..n])?;
    }
    let target = target.into_inner().map_err(io::IntoInnerError::into_error)?;
    target.sync_all()?;
    // Not every file system supports this; a storage that is made cold has its own method.
    let _ = rustix::fs::fadvise(&target, 0, None, rustix::fs::Advice::DontNeed);
    Ok(())
}

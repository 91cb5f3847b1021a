//! Notes about Slurm jobs of this machine's assay: `STATE/slurm/NAME.json`, one file per job,
//! written before the job is submitted and removed once it is known to be gone. A file whose
//! process is gone names a job to cancel.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use assay_system::{Owner, OwnerState, state_file};
use serde::{Deserialize, Serialize};

use crate::ClusterError;
use crate::slurm::{call, job_named};

const VERSION: u32 = 1;

/// Contents of one note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    schema_version: u32,
    #[serde(flatten)]
    owner: Owner,
    /// Host of the process: several machines may share a state folder.
    host: String,
    /// Name of the job in Slurm.
    job_name: String,
    /// Path of Slurm's configuration from `SLURM_CONF`; empty for the default.
    slurm_conf: String,
}

/// The note of one job.
#[derive(Debug)]
pub struct JobNote {
    path: PathBuf,
}

fn failed(path: &Path, doing: &'static str) -> impl FnOnce(io::Error) -> ClusterError {
    let path = path.to_owned();
    move |source| ClusterError::Left { path, doing, source }
}

fn conf() -> String {
    std::env::var("SLURM_CONF").unwrap_or_default()
}

/// Returns the host name of this machine.
pub(crate) fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

impl JobNote {
    /// Notes a job; the note is on disk when this returns.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn note(state_dir: &Path, name: &str) -> Result<Self, ClusterError> {
        let dir = state_dir.join("slurm");
        DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed(&dir, "made"))?;
        let path = dir.join(format!("{name}.json"));
        let owner = Owner::this().map_err(|e| failed(&path, "written")(io::Error::other(e)))?;
        let note = Note {
            schema_version: VERSION,
            owner,
            host: host(),
            job_name: name.to_owned(),
            slurm_conf: conf(),
        };
        serde_json::to_vec_pretty(&note)
            .map_err(io::Error::other)
            .and_then(|text| state_file::write(&path, &text))
            .map_err(failed(&path, "written"))?;
        Ok(JobNote { path })
    }

    /// Removes the note, once the job is gone.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn done(self) -> Result<(), ClusterError> {
        remove(&self.path)
    }
}

fn remove(path: &Path) -> Result<(), ClusterError> {
    state_file::remove(path).map_err(failed(path, "removed"))
}

/// Returns the names of the jobs whose process is gone.
pub fn left(state_dir: &Path) -> Vec<String> {
    notes(state_dir).into_iter().map(|(_, note)| note.job_name).collect()
}

fn notes(state_dir: &Path) -> Vec<(PathBuf, Note)> {
    let Ok(entries) = fs::read_dir(state_dir.join("slurm")) else { return Vec::new() };
    let mut found: Vec<(PathBuf, Note)> = entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .filter_map(|path| {
            let note: Note = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            let gone = note.host == host()
                && !matches!(note.owner.determine_state(), Ok(OwnerState::Alive) | Err(_));
            gone.then_some((path, note))
        })
        .collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

/// Cancels the jobs that killed runs left. Returns a sentence for each job that still existed, or
/// that cannot be queried and stays noted.
pub fn cancel(state_dir: &Path) -> Vec<String> {
    notes(state_dir).into_iter().filter_map(|(path, note)| cancel_one(&path, &note)).collect()
}

fn cancel_one(path: &Path, note: &Note) -> Option<String> {
    let name = &note.job_name;
    if note.slurm_conf != conf() {
        return Some(format!(
            "a killed run may have left the job {name} in another Slurm; run a command of assay \
            with SLURM_CONF={}",
            note.slurm_conf
        ));
    }
    let job = match job_named(name) {
        Ok(Some(job)) if job.active() => job,
        Ok(_) => return remove(path).err().map(|e| e.to_string()),
        Err(e) => {
            return Some(format!("a killed run may have left the Slurm job {name}: {e}"));
        }
    };
    if let Err(e) = call("scancel", &[format!("--name={name}")]) {
        return Some(format!(
            "the Slurm job {} of a killed run could not be cancelled: {e}",
            job.id
        ));
    }
    let message = format!("cancelled the Slurm job {}, which a killed run had left", job.id);
    // The note stays until Slurm reports that the job is over.
    match job_named(name) {
        Ok(Some(job)) if job.active() => {}
        Ok(_) => {
            if let Err(e) = remove(path) {
                return Some(e.to_string());
            }
        }
        Err(_) => {}
    }
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_jobs_of_processes_that_are_gone_are_left() {
        let dir = tempfile::tempdir().unwrap();
        assert!(left(dir.path()).is_empty());
        let mine = JobNote::note(dir.path(), "assay-1").unwrap();
        assert!(left(dir.path()).is_empty(), "its process lives");
        let text = fs::read_to_string(&mine.path).unwrap();
        let mut note: Note = serde_json::from_str(&text).unwrap();
        note.owner.start_ticks += 1;
        note.job_name = "assay-2".into();
        let put = |name: &str, note: &Note| {
            fs::write(dir.path().join("slurm").join(name), serde_json::to_vec(note).unwrap())
                .unwrap();
        };
        put("assay-2.json", &note);
        put("assay-3.json", &Note { host: "elsewhere".into(), ..note.clone() });
        fs::write(dir.path().join("slurm/assay-4.json"), "{").unwrap();
        assert_eq!(left(dir.path()), ["assay-2"]);
        mine.done().unwrap();
        assert!(!dir.path().join("slurm/assay-1.json").exists());
    }
}

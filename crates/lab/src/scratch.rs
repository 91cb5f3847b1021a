//! Folders for the files of a run: created when it starts, removed when it ends, and swept by the
//! next command if the run was killed.

use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use rustix::fs::{RawDir, SeekFrom, Timespec, Timestamps, fstat, futimens, seek};

use assay_system::scratch;
pub use assay_system::scratch::{root as scratch_root, sweep};

use crate::LabError;

/// Modification time that marks an empty trial folder: creating anything in it sets another time.
/// The value is unlikely enough that no unpacked archive carries it.
const UNTOUCHED: Timespec = Timespec { tv_sec: 3, tv_nsec: 141_592_653 };

/// Returns the folder for downloads and builds that are kept: `$ASSAY_CACHE`, else the XDG cache
/// folder.
pub fn cache_dir() -> PathBuf {
    if let Some(dir) = std::env::var_os("ASSAY_CACHE") {
        return dir.into();
    }
    scratch::cache_root().join("assay")
}

/// The scratch folder of one run, removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    dir: PathBuf,
    run_dir: PathBuf,
    trial_dir: PathBuf,
    /// The trial's folder, held open because every trial pays for inspecting it.
    trial: File,
}

impl Scratch {
    /// Creates a folder in the scratch root, after removing those that killed runs left there.
    ///
    /// # Errors
    /// The folder could not be created.
    pub fn new() -> Result<Self, LabError> {
        let root = scratch_root();
        sweep(&root);
        Scratch::create(&root).map_err(|source| LabError::Scratch { root, source })
    }

    /// Creates the folder under `root`. Its name carries this process's id and start time, by which
    /// [`sweep`] decides if it is still in use.
    ///
    /// # Errors
    /// The folder could not be created.
    fn create(root: &Path) -> io::Result<Self> {
        let dir = scratch::make(root, scratch::EVERYBODY)?;
        let (run_dir, trial_dir) = (dir.join("run"), dir.join("trial"));
        fs::create_dir(&run_dir)?;
        let trial = make_and_open(&trial_dir)?;
        Ok(Scratch { dir, run_dir, trial_dir, trial })
    }

    pub fn run_dir(&self) -> &Path {
        &self.run_dir
    }

    /// Returns the folder of the current trial, which is emptied between trials.
    pub fn trial_dir(&self) -> &Path {
        &self.trial_dir
    }

    /// Returns true if nothing was created in the trial's folder since it was emptied. This takes
    /// one system call, and most trials create nothing. On a file system that does not store such a
    /// time it always returns false.
    pub fn is_untouched(&self) -> bool {
        fstat(&self.trial).is_ok_and(|folder| {
            let changed = (folder.st_mtime, folder.st_mtime_nsec as i64);
            folder.st_nlink > 0 && changed == (UNTOUCHED.tv_sec, UNTOUCHED.tv_nsec)
        })
    }

    /// Empties the trial's folder.
    ///
    /// # Errors
    /// Something in it could not be removed.
    pub fn clear_trial(&mut self) -> io::Result<()> {
        // Listing an empty folder is cheaper than removing and recreating it.
        if is_empty(&self.trial)? {
            mark_untouched(&self.trial);
            return Ok(());
        }
        match fs::remove_dir_all(&self.trial_dir) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        self.trial = make_and_open(&self.trial_dir)?;
        Ok(())
    }
}

fn make_and_open(dir: &Path) -> io::Result<File> {
    fs::create_dir(dir)?;
    let folder = File::open(dir)?;
    mark_untouched(&folder);
    Ok(folder)
}

/// Marks a folder as untouched. If that fails, the next trial's folder is listed instead.
fn mark_untouched(folder: &File) {
    let _ = futimens(folder, &Timestamps { last_access: UNTOUCHED, last_modification: UNTOUCHED });
}

/// Returns true if a folder exists and has no entries. A folder that was removed or moved away is
/// not empty.
fn is_empty(folder: &File) -> io::Result<bool> {
    seek(folder, SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::<u8>::uninit(); 1024];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut seen = 0;
    while seen < 3 {
        match entries.next() {
            Some(Ok(_)) => seen += 1,
            Some(Err(rustix::io::Errno::NOENT)) | None => break,
            Some(Err(e)) => return Err(e.into()),
        }
    }
    Ok(seen == 2)
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn a_trial_finds_its_folder_empty() {
        let root = tempfile::tempdir().unwrap();
        let mut mine = Scratch::create(root.path()).unwrap();
        fs::create_dir(root.path().join("somebody-elses")).unwrap();
        assert_eq!(sweep(root.path()), 0);
        assert!(mine.run_dir().exists());
        assert!(root.path().join("somebody-elses").exists());
        let kept = File::open(root.path()).and_then(|folder| {
            mark_untouched(&folder);
            folder.metadata()
        });
        let keeps_times = kept.unwrap().mtime_nsec() == UNTOUCHED.tv_nsec;
        assert_eq!(mine.is_untouched(), keeps_times);
        fs::write(mine.trial_dir().join("x"), "y").unwrap();
        assert!(!mine.is_untouched());
        fs::remove_file(mine.trial_dir().join("x")).unwrap();
        assert!(!mine.is_untouched(), "it may hold anything");
        fs::write(mine.trial_dir().join("x"), "y").unwrap();
        mine.clear_trial().unwrap();
        assert_eq!(mine.is_untouched(), keeps_times);
        assert_eq!(fs::read_dir(mine.trial_dir()).unwrap().count(), 0);
        for n in 0..100 {
            fs::write(mine.trial_dir().join(format!("{n}-{}", "x".repeat(200))), "y").unwrap();
        }
        mine.clear_trial().unwrap();
        assert_eq!(fs::read_dir(mine.trial_dir()).unwrap().count(), 0);
        fs::remove_dir(mine.trial_dir()).unwrap();
        assert!(!mine.is_untouched());
        mine.clear_trial().unwrap();
        mine.clear_trial().unwrap();
        assert_eq!(fs::read_dir(mine.trial_dir()).unwrap().count(), 0);
        drop(mine);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}

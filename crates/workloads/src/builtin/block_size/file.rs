//! The data file: its location and creation, and properties of its file system.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use assay_model::units;
use rustix::fs::{Mode, OFlags};
use rustix::io::{IoSliceMut, ReadWriteFlags};

use serde::{Deserialize, Serialize};

use crate::builtin::block_size::content;
use crate::builtin::block_size::params::{Cache, Direction, SweepParams};
use crate::builtin::block_size::slice::Buffer;
use crate::{Failure, WorkloadError};

/// Seed of the files that assay makes.
pub const SEED: u64 = 0x0B10_C512_E000_0001;
/// Name of the file in the run's folder or in the folder given as `path`.
const NAME: &str = "assay-block-size.data";
const CHUNK: usize = 1 << 20;

/// Location of a treatment's file, and its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileLocation {
    /// Path of the file; for writing, the prefix of the files of all processes.
    file: PathBuf,
    /// True if the file existed before: then a block is compared with the same block read another
    /// way. Otherwise assay made it and knows its content.
    pub foreign: bool,
    /// True if each trial makes and removes the file, because the end of the run does not.
    pub own_folder: bool,
}

impl FileLocation {
    /// Returns the location of the file for these parameters; `run_dir` is the run's folder.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: the path is neither a folder nor a readable file.
    pub fn from_params(params: &SweepParams, run_dir: &Path) -> Result<Self, WorkloadError> {
        let Some(path) = &params.path else {
            let file = run_dir.join(NAME);
            return Ok(FileLocation { file, foreign: false, own_folder: false });
        };
        let wrong = |what: &str| WorkloadError::Param(format!("`path` {}: {what}", path.display()));
        let about = path.metadata().map_err(|e| wrong(&format!("{e}; name a folder or a file")))?;
        if about.is_dir() {
            return Ok(FileLocation { file: path.join(NAME), foreign: false, own_folder: true });
        }
        if params.direction == Direction::Write {
            return Err(wrong("this file would be overwritten; name a folder to write in"));
        }
        if !about.is_file() {
            return Err(wrong("this is neither a folder nor a plain file"));
        }
        if about.len() < params.largest() {
            return Err(wrong("the file is smaller than the largest buffer"));
        }
        Ok(FileLocation { file: path.clone(), foreign: true, own_folder: false })
    }

    /// Returns the file of process `index`. For reading, all processes share one.
    pub fn file_of(&self, direction: Direction, index: u32) -> PathBuf {
        let mut name = self.file.as_os_str().to_owned();
        if direction == Direction::Write {
            name.push(format!(".{index}"));
        }
        name.into()
    }
}

/// Makes `file` with `size` bytes of the content for [`SEED`], unless it exists with that size.
/// Removes an incomplete file.
///
/// # Errors
/// [`WorkloadError::Step`] if the file system is full; [`WorkloadError::Io`].
pub fn make(file: &Path, size: u64) -> Result<(), WorkloadError> {
    if file.metadata().is_ok_and(|m| m.len() == size) {
        return Ok(());
    }
    let partial = file.with_extension("partial");
    let made = write_out(&partial, size).and_then(|()| std::fs::rename(&partial, file));
    made.map_err(|source| {
        let _ = std::fs::remove_file(&partial);
        if matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) {
            return no_room(file, size, &source.to_string());
        }
        WorkloadError::Io { action: "create", path: file.to_owned(), source }
    })
}

/// Checks that the file system of `file` has `bytes` free before anything is written.
///
/// # Errors
/// [`WorkloadError::Step`] if it has not.
pub fn check_room(file: &Path, bytes: u64) -> Result<(), WorkloadError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    // If the file system does not report its free space, writing will show.
    let Ok(about) = rustix::fs::statvfs(folder) else { return Ok(()) };
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    if free < bytes {
        return Err(no_room(
            file,
            bytes,
            &format!("only {} are free", units::format_value(free as f64, "B")),
        ));
    }
    Ok(())
}

fn no_room(file: &Path, size: u64, detail: &str) -> WorkloadError {
    let step = format!("making {} ({})", file.display(), units::format_bytes(size));
    let message =
        format!("{detail}; make room, make `file_size` smaller, or give `path` another folder");
    WorkloadError::step(step, message)
}

fn write_out(path: &Path, size: u64) -> io::Result<()> {
    let mut file = File::create(path)?;
    let mut chunk = vec![0; CHUNK];
    let mut at = 0;
    while at < size {
        let n = (size - at).min(CHUNK as u64) as usize;
        content::fill(SEED, at, &mut chunk[..n]);
        file.write_all(&chunk[..n])?;
        at += n as u64;
    }
    // Writing back later would disturb the trials.
    file.sync_all()
}

/// Opens the file in the way the processes of a trial do.
///
/// # Errors
/// Returns a [`Failure`], in particular if the file system refuses `O_DIRECT`.
pub fn open(path: &Path, direction: Direction, cache: Cache) -> Result<OwnedFd, Failure> {
    let access = match direction {
        Direction::Read => OFlags::RDONLY,
        Direction::Write => OFlags::RDWR,
    };
    let direct = if cache == Cache::Direct { OFlags::DIRECT } else { OFlags::empty() };
    rustix::fs::open(path, access | direct | OFlags::CLOEXEC, Mode::empty()).map_err(|e| {
        if cache == Cache::Direct && e == rustix::io::Errno::INVAL {
            no_direct(path, &e.into())
        } else {
            Failure::file("open", path)(e)
        }
    })
}

fn no_direct(path: &Path, source: &io::Error) -> Failure {
    Failure::other(format_args!(
        "{} is on a file system that refuses O_DIRECT ({source}); give `path` a folder on another \
         one, or use `cache = \"page\"`",
        path.display()
    ))
}

/// Returns the granularity of sizes and positions in bytes: 1 through the page cache; with
/// `O_DIRECT` the smallest of 512, 1024, 2048 and 4096 for which a read succeeds.
///
/// # Errors
/// Returns a [`Failure`], in particular if none succeeds.
pub fn grain(path: &Path, cache: Cache) -> Result<u64, Failure> {
    if cache == Cache::Page {
        return Ok(1);
    }
    let file = open(path, Direction::Read, cache)?;
    let mut buffer = Buffer::new(4096);
    let mut source = io::Error::from(io::ErrorKind::Unsupported);
    for grain in [512usize, 1024, 2048, 4096] {
        match rustix::io::pread(&file, &mut buffer.get()[..grain], grain as u64) {
            Ok(_) => return Ok(grain as u64),
            Err(e) => source = e.into(),
        }
    }
    Err(no_direct(path, &source))
}

/// Reads the whole file into the page cache, or drops it from the page cache for `O_DIRECT`.
///
/// # Errors
/// Returns [`Failure::Step`] if a file operation fails.
pub fn warm(path: &Path, cache: Cache) -> Result<(), Failure> {
    let mut file = File::open(path).map_err(Failure::file("open", path))?;
    match cache {
        Cache::Page => {
            let mut chunk = vec![0; CHUNK];
            while file.read(&mut chunk).map_err(Failure::file("read", path))? > 0 {}
            Ok(())
        }
        Cache::Direct => rustix::fs::fadvise(file.as_fd(), 0, None, rustix::fs::Advice::DontNeed)
            .map_err(Failure::file("drop from the page cache", path)),
    }
}

/// Returns the share of the file that is in the page cache, from 1,024 pages spread over it, or
/// `None` if the file system does not support the test (`RWF_NOWAIT`).
pub fn resident_share(path: &Path) -> Option<f64> {
    const PROBES: u64 = 1024;
    let file = File::open(path).ok()?;
    let size = file.metadata().ok()?.len();
    let mut resident = 0u64;
    for probe in 0..PROBES {
        let mut byte = [0u8];
        let at = u128::from(size.saturating_sub(1)) * u128::from(probe) / u128::from(PROBES);
        let mut into = [IoSliceMut::new(&mut byte)];
        match rustix::io::preadv2(&file, &mut into, at as u64, ReadWriteFlags::NOWAIT) {
            Ok(_) => resident += 1,
            Err(rustix::io::Errno::AGAIN) => {}
            Err(_) => return None,
        }
    }
    Some(resident as f64 / PROBES as f64)
}

/// Returns the name of the file system that contains `path`.
///
/// # Errors
/// Returns the error of `statfs(2)`.
pub fn file_system(path: &Path) -> io::Result<String> {
    let magic = rustix::fs::statfs(path)?.f_type as u64 & 0xFFFF_FFFF;
    let name = match magic {
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0x0102_1994 => "tmpfs",
        0x794C_7630 => "overlay",
        0x2FC1_2FC1 => "zfs",
        0x6969 => "nfs",
        0x6573_5546 => "fuse",
        0xF2F5_2010 => "f2fs",
        0x0102_1997 => "9p",
        0xCA45_1A4E => "bcachefs",
        _ => return Ok(format!("file system 0x{magic:x}")),
    };
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::block_size::params::tests::map;

    #[test]
    fn makes_a_file_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        make(&path, 3_000_001).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 3_000_001);
        let mut expected = vec![0; 1000];
        content::fill(SEED, 2_000_001, &mut expected);
        assert_eq!(bytes[2_000_001..2_001_001], expected);
        let before = path.metadata().unwrap().modified().unwrap();
        make(&path, 3_000_001).unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), before);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_without_room_is_reported_before_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data");
        let error = check_room(&path, 1 << 60).unwrap_err().to_string();
        assert!(error.contains("make room"), "{error}");
        check_room(&path, 1).unwrap();
    }

    #[test]
    fn a_persons_file_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("precious");
        std::fs::write(&path, vec![1; 200_000]).unwrap();
        let text = path.to_str().unwrap();
        let read = SweepParams::from_map(&map(&[("path", text.into())])).unwrap();
        assert!(FileLocation::from_params(&read, dir.path()).unwrap().foreign);
        let write = map(&[("path", text.into()), ("direction", "write".into())]);
        let error = FileLocation::from_params(&SweepParams::from_map(&write).unwrap(), dir.path())
            .unwrap_err();
        assert!(error.to_string().contains("overwritten"), "{error}");
    }
}

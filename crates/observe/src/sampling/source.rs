//! Files of `/proc` and `/sys` that are held open and read again at each tick into a reused buffer.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::NotAvailable;
use crate::sampling::trouble::Trouble;

/// Way in which the kernel returns a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// Everything in one read if the buffer is large enough (`/proc/stat`, `/proc/meminfo`, sysfs).
    Whole,
    /// A page of records per read, so that only an empty read is the end (`/proc/diskstats`).
    Records,
}

/// A file that is read again and again.
#[derive(Debug)]
pub struct SampledFile {
    path: PathBuf,
    file: File,
    reading: ReadMode,
    buffer: Vec<u8>,
}

impl SampledFile {
    pub fn open(path: PathBuf, reading: ReadMode) -> io::Result<Self> {
        let file = File::open(&path)?;
        Ok(Self { path, file, reading, buffer: vec![0; 4096] })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the current content of the file. Allocates only if the file is larger than ever
    /// before.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        let length = self.fill()?;
        Ok(&self.buffer[..length])
    }

    /// Reads like [`SampledFile::read`]; a failure is recorded in `trouble` under `key`.
    pub fn text(&mut self, key: &'static str, trouble: &mut Trouble) -> Option<&[u8]> {
        match self.fill() {
            Ok(length) => Some(&self.buffer[..length]),
            Err(error) => {
                trouble.note(key, || NotAvailable::file(&self.path, &error).reason);
                None
            }
        }
    }

    fn fill(&mut self) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            match self.file.read_at(&mut self.buffer[filled..], filled as u64) {
                Ok(0) => return Ok(filled),
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            if self.reading == ReadMode::Whole && filled < self.buffer.len() {
                return Ok(filled);
            }
        }
    }
}

/// A file that two monitors read: one read per tick serves both.
#[derive(Debug, Clone)]
pub struct SharedSource(Arc<Mutex<TickSource>>);

impl SharedSource {
    /// Locks the file for one read. Monitors of one sampler take turns, so there is no contention.
    pub fn lock(&self) -> MutexGuard<'_, TickSource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A [`SampledFile`] that remembers for which tick it was read.
#[derive(Debug)]
pub struct TickSource {
    source: SampledFile,
    read: Option<(u64, usize)>,
}

impl TickSource {
    /// Returns the content at the tick `t_ns`: the first caller reads the file, later ones get the
    /// same content.
    pub fn read(&mut self, t_ns: u64) -> io::Result<&[u8]> {
        let length = match self.read {
            Some((at, length)) if at == t_ns => length,
            _ => {
                self.read = None;
                let length = self.source.fill()?;
                self.read = Some((t_ns, length));
                length
            }
        };
        Ok(&self.source.buffer[..length])
    }
}

/// The tree in which monitors look for `proc` and `sys`: `/`, or a fake one in tests.
#[derive(Debug)]
pub struct Tree {
    root: PathBuf,
    shared: RefCell<Vec<(&'static str, SharedSource)>>,
    meters: Vec<String>,
}

impl Tree {
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), shared: RefCell::new(Vec::new()), meters: Vec::new() }
    }

    /// Adds power meters, which are not part of the tree.
    #[must_use]
    pub fn with_meters(mut self, meters: &[String]) -> Self {
        meters.clone_into(&mut self.meters);
        self
    }

    /// Returns the specifications of the power meters, as the user wrote them.
    pub fn meters(&self) -> &[String] {
        &self.meters
    }

    /// Returns the path of a file of the tree, such as `proc/stat`.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Opens a file for one monitor.
    pub(crate) fn open(&self, file: &str, reading: ReadMode) -> Result<SampledFile, NotAvailable> {
        let path = self.path(file);
        SampledFile::open(path.clone(), reading).map_err(|error| NotAvailable::file(&path, &error))
    }

    /// Opens a file that several monitors of this tree read.
    pub(crate) fn share(&self, file: &'static str) -> Result<SharedSource, NotAvailable> {
        let mut shared = self.shared.borrow_mut();
        if let Some((_, source)) = shared.iter().find(|(name, _)| *name == file) {
            return Ok(source.clone());
        }
        let source = TickSource { source: self.open(file, ReadMode::Whole)?, read: None };
        let source = SharedSource(Arc::new(Mutex::new(source)));
        shared.push((file, source.clone()));
        Ok(source)
    }

    /// Returns the names in a folder of the tree, by length and then alphabetically; empty if there
    /// is no such folder.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort_by_cached_key(|name| (name.len(), name.clone()));
        names
    }

    /// Returns the first line of a small file of the tree.
    pub(crate) fn text(&self, file: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path(file)).ok()?;
        Some(text.lines().next()?.trim().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_again_what_changed_and_grows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for reading in [ReadMode::Whole, ReadMode::Records] {
            std::fs::write(&path, "one").unwrap();
            let mut source = SampledFile::open(path.clone(), reading).unwrap();
            assert_eq!(source.read().unwrap(), b"one");
            let large = vec![b'x'; 10_000];
            std::fs::write(&path, &large).unwrap();
            assert_eq!(source.read().unwrap(), large);
            std::fs::write(&path, "").unwrap();
            assert_eq!(source.read().unwrap(), b"");
        }
    }

    #[test]
    fn a_shared_file_is_read_once_a_tick() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "1").unwrap();
        let tree = Tree::new(dir.path());
        let (a, b) = (tree.share("file").unwrap(), tree.share("file").unwrap());
        assert_eq!(a.lock().read(1).unwrap(), b"1");
        std::fs::write(dir.path().join("file"), "2").unwrap();
        assert_eq!(b.lock().read(1).unwrap(), b"1", "the same tick");
        assert_eq!(b.lock().read(2).unwrap(), b"2");
        let error = tree.share("nothing").unwrap_err().to_string();
        assert!(error.contains("nothing") && error.contains("does not exist"), "{error}");
    }
}

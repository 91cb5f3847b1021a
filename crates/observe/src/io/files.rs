//! Names of the files that I/Os belong to, from the probes' data, and how each was determined.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_traces::block_io::{FileFrom, Flags, NameTable};

use super::abi::{PathRecord, sure};
use super::devices::BlockDevices;
use super::mounts::Mounts;

/// File systems whose pages never reach a disk by themselves: such a page is a buffer that another
/// I/O moves.
const BUFFERS: [&str; 4] = ["tmpfs", "devtmpfs", "ramfs", "hugetlbfs"];

/// Key by which the file of an I/O is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FileKey {
    pub ino: u64,
    pub file_dev: u32,
    pub dev: u32,
    pub sure: u8,
    pub metadata: bool,
}

impl FileKey {
    pub fn new(ino: u64, file_dev: u32, dev: u32, sure: u8, flags: Flags) -> Self {
        FileKey { ino, file_dev, dev, sure, metadata: flags.has(Flags::META) }
    }
}

/// Cache of files, by device and inode.
#[derive(Debug)]
pub(super) struct FileCache {
    root: PathBuf,
    mounts: Mounts,
    paths: HashMap<(u32, u64), PathBuf>,
    known: HashMap<FileKey, (u32, FileFrom)>,
}

impl FileCache {
    pub fn new(root: &Path) -> Self {
        FileCache {
            root: root.to_owned(),
            mounts: Mounts::read(root),
            paths: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// Stores the path of a file.
    pub fn store(&mut self, record: &PathRecord) {
        let parts = record.part.iter().take((record.parts as usize).min(record.part.len()));
        let mut path = PathBuf::from("/");
        let whole = record.parts as usize == record.part.len();
        if whole {
            path.push("...");
        }
        for part in parts.rev() {
            let end = part.iter().position(|b| *b == 0).unwrap_or(part.len());
            path.push(String::from_utf8_lossy(&part[..end]).trim_start_matches('/'));
        }
        self.paths.insert((record.file_dev, record.ino), path);
    }

    /// Returns the id of the name of an I/O's file, and how it was determined.
    pub fn find(
        &mut self,
        key: FileKey,
        devices: &BlockDevices,
        names: &NameTable,
    ) -> (u32, FileFrom) {
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let (text, from) = self.name(key, devices);
        let id = text.map_or(NameTable::NONE, |t| names.id(t.as_bytes()));
        let found = (id, from);
        // A path may still be on its way; only final results are kept.
        let settled = key.ino == 0 || self.paths.contains_key(&(key.file_dev, key.ino));
        if settled && self.known.len() < 1 << 20 {
            self.known.insert(key, found);
        }
        found
    }

    fn name(&mut self, key: FileKey, devices: &BlockDevices) -> (Option<String>, FileFrom) {
        match key.sure {
            sure::OPEN | sure::PAGE => (Some(self.path(key)), Self::from(key.sure)),
            sure::PAGE_ABOVE => {
                let kind = self.kind(key.file_dev);
                if kind.is_none_or(|kind| BUFFERS.contains(&kind.as_str())) {
                    return Self::raw(key, devices);
                }
                (Some(self.path(key)), FileFrom::Page)
            }
            sure::DEVICE => match devices.number(key.file_dev).or(devices.number(key.dev)) {
                Some(device) if !device.mounted.is_empty() || key.metadata => {
                    (Some(format!("(metadata of {})", device.name)), FileFrom::Metadata)
                }
                Some(device) => (Some(format!("/dev/{}", device.name)), FileFrom::Device),
                None => (None, FileFrom::Nothing),
            },
            _ => Self::raw(key, devices),
        }
    }

    /// Names an I/O without a file: one of the file system itself, or of a device without a file
    /// system.
    fn raw(key: FileKey, devices: &BlockDevices) -> (Option<String>, FileFrom) {
        match devices.number(key.dev) {
            Some(device) if key.metadata => {
                (Some(format!("(metadata of {})", device.name)), FileFrom::Metadata)
            }
            Some(device) if !used(device.name.as_str(), devices) => {
                (Some(format!("/dev/{}", device.name)), FileFrom::Device)
            }
            _ => (None, FileFrom::Nothing),
        }
    }

    fn from(sure: u8) -> FileFrom {
        if sure == sure::OPEN { FileFrom::Opened } else { FileFrom::Page }
    }

    /// Returns the type of the file system on a device; rereads the mounts if the device is not
    /// among them.
    fn kind(&mut self, dev: u32) -> Option<String> {
        if self.mounts.largest_part(dev).is_none() {
            self.mounts = Mounts::read(&self.root);
        }
        self.mounts.largest_part(dev).map(|m| m.kind.clone())
    }

    fn path(&mut self, key: FileKey) -> String {
        let Some(within) = self.paths.get(&(key.file_dev, key.ino)).cloned() else {
            return format!("(deleted or nameless, inode {})", key.ino);
        };
        self.kind(key.file_dev);
        let path = self.mounts.path(key.file_dev, &within);
        path.unwrap_or(within).display().to_string()
    }
}

/// Returns true if a device, one of its partitions or something above it is mounted.
fn used(name: &str, devices: &BlockDevices) -> bool {
    devices.all().any(|d| {
        let is =
            d.name == name || d.disk.as_deref() == Some(name) || d.below.iter().any(|b| b == name);
        is && !d.mounted.is_empty()
    })
}

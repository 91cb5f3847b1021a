//! Translates the probes' numbers to names: devices, programs, files, control groups.

use std::collections::HashMap;
use std::path::Path;

use assay_traces::block_io::{CountedIos, FileFrom, Flags, NameCache, NameTable};

use super::abi::{IoKey, RingEvent};
use super::cgroups::Cgroups;
use super::devices::BlockDevices;
use super::files::{FileCache, FileKey};
use super::ring::{Labelling, program};

/// Cache of names, each looked up once.
pub(super) struct Lookup<'n> {
    names: &'n NameTable,
    pub devices: BlockDevices,
    pub files: FileCache,
    cgroups: Cgroups,
    known_devices: HashMap<u32, u32>,
    known_cgroups: HashMap<u64, u32>,
    pub by_file: bool,
}

impl<'n> Lookup<'n> {
    pub fn new(
        root: &Path,
        names: &'n NameTable,
        devices: BlockDevices,
        cgroups: Cgroups,
        by_file: bool,
    ) -> Self {
        Lookup {
            names,
            devices,
            files: FileCache::new(root),
            cgroups,
            known_devices: HashMap::new(),
            known_cgroups: HashMap::new(),
            by_file,
        }
    }

    /// Returns true if any control group was looked up.
    pub fn knows_cgroups(&self) -> bool {
        !self.known_cgroups.is_empty()
    }

    /// Returns empty counts with the names of an I/O.
    pub fn of_event(&mut self, event: &RingEvent, names: &mut NameCache<'_>) -> CountedIos {
        let flags = Flags(event.flags);
        CountedIos {
            device: self.device(event.dev),
            program: program(&event.comm, names),
            pid: Some(event.tgid),
            file: self.file(event, flags).0,
            cgroup: if event.cgroup > 0 { self.cgroup(event.cgroup) } else { NameTable::NONE },
            ..CountedIos::default()
        }
    }

    /// Returns empty counts with the names of a group.
    pub fn named_counts(&mut self, key: &IoKey, names: &mut NameCache<'_>) -> CountedIos {
        let event = RingEvent {
            ino: key.ino,
            file_dev: key.file_dev,
            dev: key.dev,
            sure: key.sure,
            ..RingEvent::default()
        };
        CountedIos {
            device: self.device(key.dev),
            program: program(&key.comm, names),
            pid: (key.tgid > 0).then_some(key.tgid),
            file: self.file(&event, Flags::default().with_if(key.metadata > 0, Flags::META)).0,
            cgroup: if key.cgroup > 0 { self.cgroup(key.cgroup) } else { NameTable::NONE },
            ..CountedIos::default()
        }
    }
}

impl Labelling for Lookup<'_> {
    fn device(&mut self, dev: u32) -> u32 {
        let (devices, names) = (&self.devices, self.names);
        *self.known_devices.entry(dev).or_insert_with(|| devices.name_id(dev, names))
    }

    fn file(&mut self, event: &RingEvent, flags: Flags) -> (u32, FileFrom) {
        if !self.by_file {
            return (NameTable::NONE, FileFrom::Nothing);
        }
        let key = FileKey::new(event.ino, event.file_dev, event.dev, event.sure, flags);
        self.files.find(key, &self.devices, self.names)
    }

    fn cgroup(&mut self, id: u64) -> u32 {
        let (cgroups, names) = (&mut self.cgroups, self.names);
        *self.known_cgroups.entry(id).or_insert_with(|| names.id(cgroups.path(id).as_bytes()))
    }
}

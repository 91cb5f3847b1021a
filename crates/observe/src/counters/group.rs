//! Events that the kernel counts simultaneously, for the program that the calling thread, or
//! assay in a container, starts next and all its descendants.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;

use assay_traces::translation::counters::CounterReading;
use assay_traces::translation::perf_event::{Attributes, DISABLED};

const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// Read format: time enabled, time running, and all events of the group.
const FORMAT: u64 = 1 | 2 | 8;
/// Maximum number of reads: a program that ends during a read makes the kernel return `ECHILD`.
const TRIES: usize = 100;

/// Selects whether the kernel's work for the program counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Counted,
    Excluded,
}

/// An open group of counters.
#[derive(Debug)]
pub(super) struct CounterGroup {
    pub names: Vec<String>,
    /// Descriptors of the events; the first one leads the group and is read.
    files: Vec<File>,
}

impl CounterGroup {
    /// Opens events (type, configuration, name); they start counting when a program is executed.
    pub fn open(events: &[(u32, u64, String)], kernel: Kernel) -> io::Result<Self> {
        let mut files: Vec<File> = Vec::new();
        let parent = assay_system::program_parent();
        // 0 is the calling thread.
        let parent = if parent == std::process::id() { 0 } else { parent.cast_signed() };
        for (kind, config, _) in events {
            let mut event = Attributes::new(*kind, *config);
            event.read_format = FORMAT;
            event.flags = INHERIT | EXCLUDE_HYPERVISOR;
            if kernel == Kernel::Excluded {
                event.flags |= EXCLUDE_KERNEL;
            }
            if files.is_empty() {
                event.flags |= DISABLED | ENABLE_ON_EXEC;
            }
            let opened = event.open_in(parent, -1, files.first().map(File::as_fd))?;
            files.push(File::from(opened));
        }
        Ok(CounterGroup { names: events.iter().map(|e| e.2.clone()).collect(), files })
    }

    /// Returns the counts so far, in the order of the names.
    pub fn read(&self) -> io::Result<Vec<CounterReading>> {
        let Some(mut leader) = self.files.first() else { return Ok(Vec::new()) };
        let mut bytes = vec![0u8; 8 * (3 + self.names.len())];
        let mut tries = 0;
        let got = loop {
            match leader.read(&mut bytes) {
                Err(e) if e.raw_os_error() == Some(libc::ECHILD) && tries < TRIES => tries += 1,
                got => break got?,
            }
        };
        let words: Vec<u64> =
            bytes[..got].as_chunks::<8>().0.iter().map(|w| u64::from_ne_bytes(*w)).collect();
        match words.as_slice() {
            [n, enabled_ns, running_ns, values @ ..]
                if *n as usize == self.names.len() && values.len() == self.names.len() =>
            {
                let (enabled_ns, running_ns) = (*enabled_ns, *running_ns);
                let of = |value: &u64| CounterReading { value: *value, enabled_ns, running_ns };
                Ok(values.iter().map(of).collect())
            }
            // The kernel returns nothing for a group in error state: one that had to be counted all
            // the time and could not.
            _ => Ok(vec![CounterReading::default(); self.names.len()]),
        }
    }
}

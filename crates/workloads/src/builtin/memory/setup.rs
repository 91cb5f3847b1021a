//! Setup of a trial: its CPUs, caches, working sets and memory.

use assay_model::units::format_bytes;
use assay_system::meminfo_bytes;

use crate::Failure;
use crate::builtin::memory::caches::Cache;
use crate::builtin::memory::kernels::GAPS;
use crate::builtin::memory::params::MemoryParams;
use crate::builtin::pointer_chase::memory::ChainMemory;
use crate::builtin::pointer_chase::params::BackingPages;
use crate::builtin::pointer_chase::verdict;

/// Everything that a test needs.
pub struct MemoryTrial {
    pub params: MemoryParams,
    /// CPUs of the threads.
    pub cpus: Vec<usize>,
    /// Caches of the first CPU; empty if the machine hides them.
    pub caches: Vec<Cache>,
    /// Working sets of a thread in bytes, ascending.
    pub sets: Vec<u64>,
    pub pages: BackingPages,
    /// Seed of the order of dependent loads.
    pub seed: u64,
}

impl MemoryTrial {
    /// Returns the largest working set in bytes.
    pub fn largest(&self) -> usize {
        self.sets.last().copied().unwrap_or_default() as usize
    }

    /// Fails if there is only one thread.
    pub fn needs_two(&self, why: &str) -> Result<(), Failure> {
        let [cpu] = self.cpus[..] else { return Ok(()) };
        Err(Failure::other(format!(
            "{why}, and the trial has only CPU {cpu}; it needs a machine with two, and `threads` \
             and `controls.cpus` that allow them"
        )))
    }

    /// Fails if the memory of all threads is larger than the available memory.
    pub fn check_room(&self) -> Result<(), Failure> {
        let (count, each) = (self.cpus.len(), self.largest() as u64);
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let room = meminfo_bytes(&text, "MemAvailable").unwrap_or(u64::MAX);
        // Explicit huge pages come from a pool, which is not part of it.
        if room >= each * count as u64 || self.pages.bytes().is_some() {
            return Ok(());
        }
        let [each, room] = [each, room].map(format_bytes);
        Err(Failure::other(format!(
            "{count} threads of {each} need more memory than the {room} that are available; set a \
             smaller `max_size` or `working_set`, or fewer `threads`"
        )))
    }

    /// Maps the memory of a thread, which touches it first.
    ///
    /// # Errors
    /// Fails if there is no memory with these pages.
    pub fn memory(&self) -> Result<ChainMemory, Failure> {
        ChainMemory::map(self.largest() + GAPS, self.pages)
    }

    /// Returns the reason if the memory does not have the requested pages.
    pub fn wrong_pages(&self, memory: &ChainMemory) -> Option<String> {
        let share = memory.large().map(|bytes| bytes as f64 / memory.bytes() as f64);
        let (valid, detail) = verdict(self.pages, share);
        (!valid).then_some(detail)
    }
}

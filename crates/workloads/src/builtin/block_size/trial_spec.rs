//! Spec of one trial and its timing: the JSON of `assay __work block-size JSON`, written by the
//! lab's process and read by the trial's process.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::builtin::block_size::file::FileLocation;
use crate::builtin::block_size::params::{Cache, Direction, SweepParams};

/// Division of a trial's measurement time. Every pass measures each size once, in one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Length of a slice in nanoseconds.
    pub slice_ns: u64,
    /// Time between two slices in nanoseconds, for positioning the file and for all processes to
    /// arrive. A single process uses only as much of it as it needs.
    pub gap_ns: u64,
    /// Number of passes over all sizes.
    pub passes: u32,
    /// True if there are more processes than CPUs, so that waiting for a CPU is part of the result.
    pub shared: bool,
}

impl Timing {
    /// Returns the timing of a treatment on `cpus` CPUs.
    ///
    /// A slice from the page cache lasts 1 ms: some hundred calls of the largest buffer, and short
    /// enough that most slices on a busy machine are not interrupted. With `O_DIRECT`, where a call
    /// takes around 0.1 ms, it lasts 10 ms. With more processes than CPUs it lasts 20 ms for each
    /// process that shares a CPU, which is several turns of the scheduler.
    pub fn from_params(params: &SweepParams, cpus: usize) -> Self {
        let per_cpu = u64::from(params.processes).div_ceil(cpus.max(1) as u64);
        let shared = per_cpu > 1;
        let (slice_ns, gap_ns) = match (shared, params.cache) {
            (true, _) => (20_000_000 * per_cpu, 3_000_000 * per_cpu),
            (false, Cache::Page) => (1_000_000, 60_000),
            (false, Cache::Direct) => (10_000_000, 1_000_000),
        };
        let passes =
            (params.min_time.as_nanos() as u64).div_ceil(slice_ns).clamp(1, 100_000) as u32;
        Timing { slice_ns, gap_ns, passes, shared }
    }

    /// Returns the number of sizes that fit into `budget` after the slices that measure the
    /// overhead of dd.
    pub fn sizes_within(&self, budget: Duration) -> usize {
        let slices = budget.as_nanos() as u64 / (self.slice_ns + self.gap_ns);
        (slices / u64::from(self.passes))
            .saturating_sub(crate::builtin::block_size::slots::CALIBRATION_SLICES) as usize
    }
}

/// Spec of one trial, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrialSpec {
    pub location: FileLocation,
    /// Size of the file in bytes.
    pub file_size: u64,
    pub direction: Direction,
    pub cache: Cache,
    /// Number of processes that measure at the same time.
    pub processes: u32,
    /// CPUs to pin the processes to, in turn; empty: the scheduler chooses.
    pub cpus: Vec<usize>,
    /// Sizes to visit in bytes, ascending.
    pub sizes: Vec<u64>,
    pub timing: Timing,
    /// Seed of the visiting order.
    pub seed: u64,
    /// Notes on the choice of sizes, for the record.
    pub notes: Vec<String>,
}

impl TrialSpec {
    /// Returns true if the rate that dd would report can be derived: dd is a single process, and it
    /// reads.
    pub fn tells_dd(&self) -> bool {
        self.processes == 1 && self.direction == Direction::Read
    }

    /// Returns the file of process `index`.
    pub fn file_of(&self, index: u32) -> PathBuf {
        self.location.file_of(self.direction, index)
    }

    /// Returns the largest buffer in bytes.
    pub fn largest(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(1)
    }
}

/// Spec of one process of a trial: the JSON of `assay __work block-size-worker JSON`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// Spec of the trial, with only the largest of its sizes and without notes.
    pub trial: TrialSpec,
    /// Number of the process, from 0.
    pub index: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::block_size::params::tests::map;

    fn timing(processes: i64, cache: &str, cpus: usize) -> Timing {
        let map = map(&[("processes", processes.into()), ("cache", cache.into())]);
        Timing::from_params(&SweepParams::from_map(&map).unwrap(), cpus)
    }

    #[test]
    fn slices_grow_when_processes_share_cpus() {
        assert!(!timing(2, "page", 2).shared);
        let shared = timing(3, "page", 2);
        assert!(shared.shared);
        assert_eq!(shared.slice_ns, 40_000_000);
        assert_eq!(shared.passes, 1);
        assert_eq!(timing(1, "page", 2).passes, 10);
        assert_eq!(timing(1, "direct", 2).passes, 1);
    }

    #[test]
    fn a_budget_holds_its_slices() {
        let t = timing(1, "page", 2);
        let n = t.sizes_within(Duration::from_secs(4)) as u64;
        assert!(n > 200, "{n}");
        assert!(n * u64::from(t.passes) * (t.slice_ns + t.gap_ns) <= 4_000_000_000);
        assert_eq!(t.sizes_within(Duration::from_millis(1)), 0);
    }
}

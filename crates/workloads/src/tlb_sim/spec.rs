//! The rows of data that describe the workload: its parameters and its metrics.

use crate::declare::{int, params, size, spec, text};

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Params {
        /// The simulated machine: solaris-9, solaris-10, two-level-tsb, x86-64, or a TOML file.
        machine: String = text(), "solaris-9";
        /// How many processes take turns.
        processes: u32 = int(1, 1024), 8;
        /// The smallest amount of data of the largest process.
        min_data: u64 = size(), "1 MiB";
        /// The largest; in between it is halved.
        max_data: u64 = size(), "64 MiB";
        /// The code of each process.
        code: u64 = size(), "1 MiB";
        /// Accesses in one turn.
        slice: u64 = int(1, 1 << 40), 100_000;
        /// Accesses for each amount of data.
        accesses: u64 = int(1, 1 << 40), 4_000_000;
    }
}

// Nothing is timed: also what a miss costs is of the simulated machine.
spec! {
    /// Simulates TLBs and TSBs under made-up processes that take turns: what they miss, by how
    /// much data each has. Nothing of the machine it runs on is measured.
    super::NAME, Params::rows();
    /// Simulated: misses of data in the TSB per million accesses, at `max_data`; missing for a
    /// machine without TSBs.
    "dtsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the same for instructions.
    "itsb_misses", "1", Lower, Estimated, counted;
    /// Simulated: misses of data in all TLBs per million accesses, at `max_data`.
    "dtlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the same for instructions.
    "itlb_misses", "1", Lower, Estimated, counted;
    /// Simulated: the share of time that misses cost at `max_data`, by the machine's costs.
    "translation", "1", Lower, Estimated, counted;
}

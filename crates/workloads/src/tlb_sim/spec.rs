//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, WorkloadSpec};

use crate::declare::{Int, Size, Text, params};

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Params {
        /// The simulated machine: solaris-9, solaris-10, two-level-tsb, x86-64, or a TOML file.
        machine: String = Text, "solaris-9";
        /// How many processes take turns.
        processes: u32 = Int(1, 1024), 8;
        /// The smallest amount of data of the largest process.
        min_data: u64 = Size, "1 MiB";
        /// The largest; in between it is halved.
        max_data: u64 = Size, "64 MiB";
        /// The code of each process.
        code: u64 = Size, "1 MiB";
        /// Accesses in one turn.
        slice: u64 = Int(1, 1 << 40), 100_000;
        /// Accesses for each amount of data.
        accesses: u64 = Int(1, 1 << 40), 4_000_000;
    }
}

fn metric(name: &str, better: Better, help: &str) -> MetricSpec {
    // Nothing is timed: also what a miss costs is of the simulated machine.
    crate::rows::metric(name, "1", better, Kind::Estimated, help).counted()
}

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Simulates TLBs and TSBs under made-up processes that take turns: what they miss, by how \
               much data each has. Nothing of the machine it runs on is measured."
            .into(),
        params: Params::rows(),
        metrics: vec![
            metric(
                "dtsb_misses",
                Better::Lower,
                "Simulated: misses of data in the TSB per million accesses, at `max_data`; missing for a \
                 machine without TSBs.",
            ),
            metric("itsb_misses", Better::Lower, "Simulated: the same for instructions."),
            metric(
                "dtlb_misses",
                Better::Lower,
                "Simulated: misses of data in all TLBs per million accesses, at `max_data`.",
            ),
            metric("itlb_misses", Better::Lower, "Simulated: the same for instructions."),
            metric(
                "translation",
                Better::Lower,
                "Simulated: the share of time that misses cost at `max_data`, by the machine's costs.",
            ),
        ],
        suite: None,
    }
}

//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, ParamType, WorkloadSpec};

use crate::rows::param;

fn metric(name: &str, better: Better, help: &str) -> MetricSpec {
    let kind = Kind::Estimated;
    MetricSpec { name: name.into(), unit: "1".into(), better, kind, help: help.into(), merge: None }
}

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Simulates TLBs and TSBs under made-up processes that take turns: what they miss, by how \
               much data each has. Nothing of the machine it runs on is measured."
            .into(),
        params: vec![
            param(
                "machine",
                ParamType::Text,
                "solaris-9",
                "The simulated machine: solaris-9, solaris-10, two-level-tsb, x86-64, or a TOML file.",
            ),
            param("processes", ParamType::Int { min: 1, max: 1024 }, 8, "How many processes take turns."),
            param("min_data", ParamType::Bytes, "1 MiB", "The least amount of data of the largest process."),
            param("max_data", ParamType::Bytes, "64 MiB", "The greatest; in between it is halved."),
            param("code", ParamType::Bytes, "1 MiB", "The code of each process."),
            param("slice", ParamType::Int { min: 1, max: 1 << 40 }, 100_000, "Accesses in one turn."),
            param(
                "accesses",
                ParamType::Int { min: 1, max: 1 << 40 },
                4_000_000,
                "Accesses for each amount of data.",
            ),
        ],
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

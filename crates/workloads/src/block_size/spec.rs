//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, ParamSpec, ParamType, Scalar, WorkloadSpec};

use crate::rows::{choice, metric, param};

use super::params::MAX_PROCESSES;

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    let processes = ParamType::Int { min: 1, max: MAX_PROCESSES };
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Reads (or writes) a file sequentially with read(2) at many buffer sizes, from the page \
               cache or past it, in several processes at once."
            .into(),
        params: vec![
            param("file_size", ParamType::Bytes, "100 MiB", "The size of the file."),
            param("direction", choice(&["read", "write"]), "read", "Which way the bytes go."),
            param(
                "cache",
                choice(&["page", "direct"]),
                "page",
                "`page` goes through the page cache, `direct` past it (O_DIRECT).",
            ),
            param("processes", processes, 1, "How many processes do it at once."),
            param(
                "buffer_size",
                ParamType::Text,
                "sweep",
                "`sweep` lets the workload pick the sizes; or one size, or several with commas.",
            ),
            param("min_size", ParamType::Bytes, 1, "The smallest buffer of a sweep."),
            param("max_size", ParamType::Bytes, 102_400, "The largest buffer of a sweep."),
            param(
                "min_time",
                ParamType::Duration,
                "10 ms",
                "How long each size is measured in a trial, in slices spread over the trial.",
            ),
            param("budget", ParamType::Duration, "4 s", "How long the trial of a sweep may measure."),
            param(
                "path",
                ParamType::Text,
                "",
                "A folder to make the file in, or (to read) a file; empty: the run's own folder.",
            ),
            ParamSpec {
                name: "pin".into(),
                ty: ParamType::Bool,
                default: Some(Scalar::Bool(true)),
                help: "Whether each process is kept on one of the trial's CPUs.".into(),
            },
        ],
        metrics: vec![
            metric(
                "throughput",
                "B/s",
                Better::Higher,
                Kind::Measured,
                "The geometric mean of the throughput at the powers of two from 512 B to 64 KiB; of all \
                 powers of two, or of all sizes, where the trial visits none of those; missing if one of \
                 them could not be measured.",
            ),
            metric(
                "peak_throughput",
                "B/s",
                Better::Higher,
                Kind::Estimated,
                "The throughput at `best_size`: on the smoothed curve, or as measured below 50 sizes.",
            ),
            metric(
                "best_size",
                "B",
                Better::Neither,
                Kind::Estimated,
                "The visited size with the highest throughput: on the smoothed curve, or as measured \
                 below 50 sizes.",
            ),
            metric(
                "dd_overhead",
                "s",
                Better::Lower,
                Kind::Measured,
                "What dd adds to each read(2): one write(2) to /dev/null.",
            ),
            metric(
                "left_out",
                "1",
                Better::Neither,
                Kind::Measured,
                "The share of slices left out because the kernel gave the CPU to another program, or \
                 because the slice began late.",
            ),
        ],
        suite: None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn defaults_are_right_by_their_own_types() {
        for param in super::spec().params {
            param.check(&param.default.clone().unwrap()).unwrap();
        }
    }
}

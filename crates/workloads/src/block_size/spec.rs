//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, WorkloadSpec};

use super::params::Params;
use crate::rows::metric;

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: super::NAME.into(),
        help: "Reads (or writes) a file sequentially with read(2) at many buffer sizes, from the page \
               cache or past it, in several processes at once."
            .into(),
        params: Params::rows(),
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
                "excluded_fraction",
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

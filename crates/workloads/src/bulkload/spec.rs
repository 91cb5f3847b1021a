//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, WorkloadSpec};

use super::params::Params;

/// Its name, and that of its program.
pub const NAME: &str = "bulkload";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "PostgreSQL takes in flat files: sessions COPY into a fact table of a cluster that lies on the trial's \
               storage; counts and sums are checked."
            .into(),
        params: Params::rows(),
        metrics: metrics(),
        suite: None,
    }
}

fn metric(name: &str, unit: &str, better: Better, help: &str) -> MetricSpec {
    crate::rows::metric(name, unit, better, Kind::Measured, help)
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    vec![
        metric(
            "throughput",
            "rows/s",
            Higher,
            "Rows of all files over the time from the first COPY to the last COMMIT.",
        ),
        metric("bytes", "B/s", Higher, "Bytes of the flat files over the same time."),
        metric(
            "written",
            "rows/s",
            Higher,
            "Rows over the time to the end of a checkpoint that follows the last COMMIT: all of it on the device.",
        ),
        metric("load_time", "s", Lower, "From the first COPY to the last COMMIT."),
        metric("checkpoint_time", "s", Lower, "The checkpoint after the last COMMIT."),
        metric("wal", "B", Lower, "WAL that the load made.").counted(),
        metric("table", "B", Neither, "The table with its indexes.").counted(),
        metric(
            "server_cpu",
            "s",
            Lower,
            "CPU time of the server's processes during the load; missing with `kill`.",
        ),
        metric(
            "recovery",
            "s",
            Lower,
            "From the restart after the kill until the server takes sessions; else missing.",
        ),
    ]
}

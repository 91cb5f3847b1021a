//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, Merge, MetricSpec, WorkloadSpec};

use crate::rows::metric;

use super::params::Params;

/// Its name, and that of its program.
pub const NAME: &str = "startup";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "Copies of a solver begin together, read a large model each, and compute: how long until the \
               CPUs do nothing else."
            .into(),
        params: Params::rows(),
        metrics: metrics(),
        suite: None,
    }
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Higher, Lower, Neither};
    use Kind::{Derived, Measured};
    vec![
        metric(
            "time_to_user",
            "s",
            Lower,
            Measured,
            "From the begin of the copies to that of the first window in which the trial's CPUs were in user mode for \
             the share `user` of the time; missing when there was none.",
        ),
        metric(
            "elapsed",
            "s",
            Lower,
            Measured,
            "From the begin of the copies to the end of the last one.",
        ),
        metric(
            "read_done",
            "s",
            Lower,
            Measured,
            "From the begin of the copies to the last read from the devices; missing where the storage has none.",
        ),
        metric(
            "device_read",
            "B",
            Lower,
            Measured,
            "Read from the devices below the storage, all together; missing likewise.",
        )
        .counted()
        .merged(Merge::Sum),
        metric(
            "logical_read",
            "B",
            Neither,
            Derived,
            "The sizes of the files that the copies read, summed.",
        )
        .counted()
        .merged(Merge::Sum),
        metric(
            "read_saved",
            "%",
            Higher,
            Derived,
            "The share of the bytes that the copies read which did not come from a device: 1 - device_read / logical_read.",
        )
        .counted(),
        metric("device_read_rate", "B/s", Neither, Derived, "device_read over read_done."),
        metric(
            "host_system",
            "s",
            Lower,
            Measured,
            "CPU time in the kernel of the whole host, interrupts among it.",
        )
        .merged(Merge::Sum),
        metric("user", "s", Lower, Measured, "CPU time of the copies in user mode.")
            .merged(Merge::Sum),
        metric("system", "s", Lower, Measured, "CPU time of the copies in the kernel.")
            .merged(Merge::Sum),
        metric("peak_memory", "B", Lower, Measured, "The largest resident set of a copy.").counted(),
        metric("start_spread", "s", Neither, Measured, "How far apart the copies began."),
    ]
}

//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, Merge, MetricSpec, ParamSpec, ParamType, Scalar, WorkloadSpec};

use crate::rows::{choice, int, metric, param};

use super::NAME;

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "Copies of a solver begin together, read a large model each, and compute: how long until the \
               CPUs do nothing else."
            .into(),
        params: params(),
        metrics: metrics(),
        suite: None,
    }
}

fn params() -> Vec<ParamSpec> {
    vec![
        param("copies", int(1, 1024), 8, "Copies of the solver at once."),
        param(
            "solver",
            choice(&["glpsol", "clp"]),
            "glpsol",
            "The solver: glpsol (Debian package glpk-utils) or clp (coinor-clp), which reads about twice as fast.",
        ),
        param(
            "size",
            ParamType::Bytes,
            "260 MB",
            "About how large the model's file is; it compresses about 10:1.",
        ),
        param(
            "rows",
            int(40, 40_000),
            800,
            "Rows of the model, 40 in each of its blocks; the number of iterations grows with them.",
        ),
        param("seed", int(1, i64::MAX), 1, "The same seed makes the same model."),
        param(
            "files",
            choice(&["each", "one"]),
            "each",
            "Whether each copy reads a file of its own or all read one.",
        ),
        param(
            "window",
            ParamType::Duration,
            "1 s",
            "How long the CPUs must have been in user mode to count as busy.",
        ),
        param(
            "user",
            ParamType::Float { min: 0.01, max: 1.0 },
            Scalar::Float(0.99),
            "The share of user time in the window at which they are.",
        ),
        param(
            "fault",
            choice(&["none", "model"]),
            "none",
            "Gives the last copy another model on purpose, to see that its wrong answer is noticed.",
        ),
    ]
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
        .merged(Merge::Sum),
        metric(
            "logical_read",
            "B",
            Neither,
            Derived,
            "The sizes of the files that the copies read, summed.",
        )
        .merged(Merge::Sum),
        metric(
            "read_saved",
            "%",
            Higher,
            Derived,
            "The share of the bytes that the copies read which did not come from a device: 1 - device_read / logical_read.",
        ),
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
        metric("peak_memory", "B", Lower, Measured, "The largest resident set of a copy."),
        metric("start_spread", "s", Neither, Measured, "How far apart the copies began."),
    ]
}

//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, Merge, MetricSpec, WorkloadSpec};

use super::params::Params;
use crate::rows::metric;

/// Its name, and that of its program.
pub const NAME: &str = "cae";

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    WorkloadSpec {
        name: NAME.into(),
        help: "Structures analysed with CalculiX (threads) and MUMPS (MPI, its factors in files): elapsed time on the \
               trial's storage, answers compared with closed forms."
            .into(),
        params: Params::rows(),
        metrics: metrics(),
        suite: None,
    }
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Lower, Neither};
    let (measured, derived) = (Kind::Measured, Kind::Derived);
    vec![
        metric("elapsed", "s", Lower, measured, "From the start of the solver to its end."),
        metric(
            "user",
            "s",
            Lower,
            measured,
            "CPU time of the solver's processes in user mode; waiting in MPI counts.",
        )
        .merged(Merge::Sum),
        metric("system", "s", Lower, measured, "CPU time of the same in the kernel.")
            .merged(Merge::Sum),
        metric(
            "io_stall_share",
            "1",
            Lower,
            measured,
            "The share of the elapsed time in which some task of this machine waited for I/O (pressure stall \
             information, io some); missing where the kernel does not report it.",
        ),
        metric(
            "unused_share",
            "1",
            Lower,
            derived,
            "1 - CPU time / (processes * elapsed), with at most as many processes as CPUs: waiting of all kinds that \
             used no CPU.",
        ),
        metric(
            "device_read",
            "B",
            Lower,
            measured,
            "Bytes read from the devices below the trial's folder, whoever did it.",
        )
        .counted()
        .merged(Merge::Sum),
        metric(
            "device_written",
            "B",
            Lower,
            measured,
            "Bytes written to them until the solver ended.",
        )
        .counted()
        .merged(Merge::Sum),
        metric(
            "scratch",
            "B",
            Lower,
            measured,
            "The most space that the solver's files took, of looks every 50 ms.",
        ),
        metric(
            "ranks",
            "1",
            Neither,
            measured,
            "Processes of MUMPS, by its own count; on nodes, of all of them.",
        )
        .counted(),
        metric("factors", "B", Neither, measured, "The factors, by MUMPS's own count.").counted(),
        metric("factor_time", "s", Lower, measured, "Elapsed time of the factorization of MUMPS."),
        metric("solve_time", "s", Lower, measured, "Elapsed time of all solves of MUMPS."),
        metric(
            "deviation",
            "1",
            Lower,
            measured,
            "How far the worst of the answers is from the closed form, or from the known solution, as a share.",
        ),
    ]
}

//! The rows of data that describe the workload: its parameters and its metrics.

use assay_model::{Better, Kind, MetricSpec, ParamSpec, ParamType, Scalar, WorkloadSpec};

use super::cases::{CASES, SIZES};
use super::params::FAULTS;

fn param(name: &str, ty: ParamType, default: impl Into<Scalar>, help: &str) -> ParamSpec {
    ParamSpec { name: name.into(), ty, default: Some(default.into()), help: help.into() }
}

fn choice(of: &[&str]) -> ParamType {
    ParamType::Choice { of: of.iter().map(|&w| w.to_owned()).collect() }
}

/// The workload's name, parameters and metrics.
pub fn spec() -> WorkloadSpec {
    let int = |min, max| ParamType::Int { min, max };
    WorkloadSpec {
        name: "cae".into(),
        help: "Structures analysed with CalculiX (threads) and MUMPS (MPI, its factors in files): elapsed time on the \
               trial's storage, answers compared with closed forms."
            .into(),
        params: vec![
            param(
                "case",
                choice(&CASES.map(|c| c.name)),
                "beam-static",
                "beam-, plate-, bar-: CalculiX; block- and girder-: systems of equations with MUMPS, -core in memory, \
                 -files with factors in files that are read once, -passes ten times.",
            ),
            param("size", choice(&SIZES), "test", "How fine the mesh is: seconds, a minute, many minutes."),
            param("processes", int(1, 1024), 1, "Threads of CalculiX, or processes of MUMPS."),
            param("seed", int(1, i64::MAX), 1, "The seed of the solutions that MUMPS has to find."),
            param("ccx", ParamType::Text, "", "The CalculiX to run; empty: the one on PATH."),
            param(
                "fault",
                choice(&FAULTS),
                "none",
                "Breaks something on purpose: `answer` makes the answer wrong, `diverge` a load too large to converge.",
            ),
        ],
        metrics: metrics(),
        suite: None,
    }
}

fn metrics() -> Vec<MetricSpec> {
    use Better::{Lower, Neither};
    let row = |name: &str, unit: &str, better: Better, kind: Kind, help: &str| MetricSpec {
        name: name.into(),
        unit: unit.into(),
        better,
        kind,
        help: help.into(),
    };
    let (measured, derived) = (Kind::Measured, Kind::Derived);
    vec![
        row("elapsed", "s", Lower, measured, "From the start of the solver to its end."),
        row(
            "user",
            "s",
            Lower,
            measured,
            "CPU time of the solver's processes in user mode; waiting in MPI counts.",
        ),
        row("system", "s", Lower, measured, "CPU time of the same in the kernel."),
        row(
            "io_stall_share",
            "1",
            Lower,
            measured,
            "The share of the elapsed time in which some task of this machine waited for I/O (pressure stall \
             information, io some); missing where the kernel does not tell.",
        ),
        row(
            "unused_share",
            "1",
            Lower,
            derived,
            "1 - CPU time / (processes * elapsed), with at most as many processes as CPUs: waiting of all kinds that \
             used no CPU.",
        ),
        row(
            "device_read",
            "B",
            Lower,
            measured,
            "Bytes read from the devices below the trial's folder, whoever did it.",
        ),
        row(
            "device_written",
            "B",
            Lower,
            measured,
            "Bytes written to them until the solver ended.",
        ),
        row(
            "scratch",
            "B",
            Lower,
            measured,
            "The most space that the solver's files took, of looks every 50 ms.",
        ),
        row("factors", "B", Neither, measured, "The factors, by MUMPS's own count."),
        row("factor_time", "s", Lower, measured, "Elapsed time of the factorization of MUMPS."),
        row("solve_time", "s", Lower, measured, "Elapsed time of all solves of MUMPS."),
        row(
            "deviation",
            "1",
            Lower,
            measured,
            "How far the worst of the answers is from the closed form, or from the known solution, as a share.",
        ),
    ]
}

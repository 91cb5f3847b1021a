//! What a suite says of itself: parameters and metrics.

use assay_model::{
    Better, Kind, Merge, MetricSpec, ParamSpec, ParamType, Scalar, SuiteSpec, WorkloadSpec,
};

use crate::rows::metric;

use super::file::SuiteFile;

/// The most copies of a program.
const MAX_COPIES: i64 = 4096;

/// The spec of the suite.
pub fn spec(file: &SuiteFile) -> WorkloadSpec {
    WorkloadSpec {
        name: file.name.clone(),
        help: file.help.clone(),
        params: params(file),
        metrics: metrics(),
        suite: Some(SuiteSpec {
            member: "member".into(),
            metric: "ratio".into(),
            time: "time_per_copy".into(),
        }),
    }
}

fn params(file: &SuiteFile) -> Vec<ParamSpec> {
    let choice =
        |of: &[&str]| ParamType::Choice { of: of.iter().map(|w| (*w).to_owned()).collect() };
    let param = |name: &str, ty: ParamType, default: Option<Scalar>, help: &str| ParamSpec {
        name: name.into(),
        ty,
        default,
        help: help.into(),
    };
    let text = |s: &str| Some(Scalar::from(s));
    let members = ParamType::Choice { of: file.members.clone() };
    vec![
        param(
            "member",
            members,
            None,
            "the program; as a factor, all of them make the suite's result",
        ),
        param(
            "kind",
            choice(&["speed", "rate"]),
            text("speed"),
            "speed: one copy alone; rate: `copies` at once",
        ),
        param(
            "copies",
            ParamType::Int { min: 1, max: MAX_COPIES },
            Some(Scalar::Int(1)),
            "how many copies run at once, each in a folder and, in turn, on a CPU of its own",
        ),
        param(
            "threads",
            ParamType::Int { min: 1, max: MAX_COPIES },
            Some(Scalar::Int(1)),
            "OMP_NUM_THREADS of each copy, for code that the compiler made parallel",
        ),
        param("tuning", choice(&["base", "peak"]), text("base"), "which of the toolchain's flags"),
        param("size", choice(&["test", "train", "ref"]), text("ref"), "how large the inputs are"),
        param(
            "toolchain",
            ParamType::Text,
            text("gcc"),
            "compilers and flags: a name below `toolchains`, or a file",
        ),
        param(
            "flags",
            ParamType::Text,
            text(""),
            "optimisation flags for all languages instead of the toolchain's; empty: the toolchain's",
        ),
        param(
            "pin",
            ParamType::Bool,
            Some(Scalar::Bool(true)),
            "whether each copy is bound to CPUs: rate to one, in turn; speed to the first `threads`",
        ),
    ]
}

fn metrics() -> Vec<MetricSpec> {
    let (lower, measured) = (Better::Lower, Kind::Measured);
    vec![
        metric(
            "time_per_copy",
            "s",
            lower,
            Kind::Derived,
            "elapsed / copies: what one member adds to the total of the suite",
        ),
        metric(
            "ratio",
            "1",
            Better::Higher,
            Kind::Derived,
            "copies x reference time / elapsed; missing without a reference time",
        ),
        metric(
            "elapsed",
            "s",
            lower,
            measured,
            "from the moment at which all copies begin to the end of the last",
        ),
        metric("user", "s", lower, measured, "CPU time in user mode, added up over the copies")
            .merged(Merge::Sum),
        metric("system", "s", lower, measured, "CPU time in the kernel, added up over the copies")
            .merged(Merge::Sum),
        metric(
            "peak_memory",
            "B",
            lower,
            measured,
            "the largest resident set of any one copy; assay's own image, about 10 MB, is the least",
        )
        .counted(),
        metric(
            "start_spread",
            "s",
            Better::Neither,
            measured,
            "from the first copy's beginning to the last one's",
        ),
        metric(
            "end_spread",
            "s",
            Better::Neither,
            measured,
            "from the first copy's end to the last one's",
        ),
    ]
}

//! What a suite says of itself: parameters and metrics.

use assay_model::{MetricSpec, ParamSpec, ParamType, Scalar, SuiteSpec, WorkloadSpec};

use super::file::SuiteFile;
use crate::declare::{choice, metrics, rows};

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
    use ParamType::{Bool, Int, Text};
    let one_of = |of: &[&str]| choice(of.iter().copied());
    let members = choice(file.members.iter().map(String::as_str));
    rows! {
        /// the program; as a factor, all of them make the suite's result
        "member", members;
        /// speed: one copy alone; rate: `copies` at once
        "kind", one_of(&["speed", "rate"]), "speed";
        /// how many copies run at once, each in a folder and, in turn, on a CPU of its own
        "copies", Int { min: 1, max: MAX_COPIES }, 1;
        /// OMP_NUM_THREADS of each copy, for code that the compiler made parallel
        "threads", Int { min: 1, max: MAX_COPIES }, 1;
        /// which of the toolchain's flags
        "tuning", one_of(&["base", "peak"]), "base";
        /// how large the inputs are
        "size", one_of(&["test", "train", "ref"]), "ref";
        /// compilers and flags: a name below `toolchains`, or a file
        "toolchain", Text, "gcc";
        /// optimisation flags for all languages instead of the toolchain's; empty: the toolchain's
        "flags", Text, "";
        /// whether each copy is bound to CPUs: rate to one, in turn; speed to the first `threads`
        "pin", Bool, Scalar::Bool(true);
    }
}

fn metrics() -> Vec<MetricSpec> {
    metrics! {
        /// elapsed / copies: what one member adds to the total of the suite
        "time_per_copy", "s", Lower, Derived;
        /// copies x reference time / elapsed; missing without a reference time
        "ratio", "1", Higher, Derived;
        /// from the moment at which all copies begin to the end of the last
        "elapsed", "s", Lower, Measured;
        /// CPU time in user mode, added up over the copies
        "user", "s", Lower, Measured, summed;
        /// CPU time in the kernel, added up over the copies
        "system", "s", Lower, Measured, summed;
        /// the largest resident set of any one copy; assay's own image, about 10 MB, is the least
        "peak_memory", "B", Lower, Measured, counted;
        /// from the first copy's beginning to the last one's
        "start_spread", "s", Neither, Measured;
        /// from the first copy's end to the last one's
        "end_spread", "s", Neither, Measured;
    }
}

//! Parameters and metrics of a suite.

use assay_model::{MetricSpec, ParamSpec, ParamType, Scalar, SuiteSpec, WorkloadSpec};

use super::file::SuiteFile;
use crate::declare::{choice, metrics, rows};

/// Maximum number of copies of a program.
const MAX_COPIES: i64 = 4096;

/// Returns the specification of the suite.
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
        /// speed: one copy alone; rate: `copies` at the same time
        "kind", one_of(&["speed", "rate"]), "speed";
        /// number of copies that run at the same time, each in its own folder and, in turn, on its
        /// own CPU
        "copies", Int { min: 1, max: MAX_COPIES }, 1;
        /// OMP_NUM_THREADS of each copy, for code that the compiler made parallel
        "threads", Int { min: 1, max: MAX_COPIES }, 1;
        /// set of the toolchain's flags to use
        "tuning", one_of(&["base", "peak"]), "base";
        /// size of the inputs
        "size", one_of(&["test", "train", "ref"]), "ref";
        /// compilers and flags: a name below `toolchains`, or a file
        "toolchain", Text, "gcc";
        /// optimisation flags for all languages instead of the toolchain's; empty: the toolchain's
        "flags", Text, "";
        /// if true, each copy is bound to CPUs: rate to one, in turn; speed to the first `threads`
        "pin", Bool, Scalar::Bool(true);
    }
}

fn metrics() -> Vec<MetricSpec> {
    metrics! {
        /// elapsed / copies: the contribution of one member to the total of the suite
        "time_per_copy", "s", Lower, Derived;
        /// copies x reference time / elapsed; missing without a reference time
        "ratio", "1", Higher, Derived;
        /// time from the common start of all copies to the end of the last
        "elapsed", "s", Lower, Measured;
        /// CPU time in user mode, summed over the copies
        "user", "s", Lower, Measured, summed;
        /// CPU time in the kernel, summed over the copies
        "system", "s", Lower, Measured, summed;
        /// largest maximum resident set size of any copy; at least assay's own image, about 10 MB
        "peak_memory", "B", Lower, Measured, counted;
        /// time from the start of the first copy to that of the last
        "start_spread", "s", Neither, Measured;
        /// time from the end of the first copy to that of the last
        "end_spread", "s", Neither, Measured;
    }
}

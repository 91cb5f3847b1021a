//! Evidence about the build of a run's programs and the inputs they were tuned on.

use assay_model::{Observation, Treatment};

use super::material::{RunMaterial, observations, param};
use crate::{Build, RecordedValue, Tuning};

/// Parameter by which a kit selects the size of its input.
pub(super) const SIZE: &str = "size";

/// Input size that feedback-directed builds are trained on.
pub(super) const TRAINED_ON: &str = "train";

/// Returns the input of a treatment: the workload's name, with the size if that is a fixed
/// parameter.
pub(super) fn input(m: &RunMaterial<'_>, t: &Treatment) -> String {
    let name = &m.plan.workload.name;
    match param(t, SIZE).filter(|_| !m.plan.factors.iter().any(|f| f == SIZE)) {
        Some(size) => format!("{name} of size {size}"),
        None => name.clone(),
    }
}

/// Returns the training input of a program built with feedback.
pub(super) fn tuned_on(m: &RunMaterial<'_>, t: &Treatment) -> RecordedValue<Vec<String>> {
    if param(t, "feedback").as_deref() == Some("true") {
        return RecordedValue::Is(vec![format!("{} of size {TRAINED_ON}", m.plan.workload.name)]);
    }
    RecordedValue::Absent("no program was built with feedback".to_owned())
}

/// Returns the build of a kit's program: from its toolchain parameters, else from the observed
/// build commands.
pub(super) fn build(m: &RunMaterial<'_>, t: &Treatment) -> Option<Build> {
    let compiler = ["cc", "cxx", "fc"].iter().filter_map(|p| param(t, p)).collect::<Vec<_>>();
    if compiler.is_empty() {
        return build_by_commands(m, t);
    }
    let names = ["cflags", "cxxflags", "fflags", "ldflags", "portability"];
    let flags: Vec<String> = names
        .iter()
        .filter_map(|p| param(t, p))
        .flat_map(|f| f.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    Some(Build {
        compiler: Some(compiler.join(" ")),
        lto: Some(flags.iter().any(|f| f.starts_with("-flto"))),
        pgo: Some(param(t, "feedback").as_deref() == Some("true")),
        tuning: tuning(t),
        flags: Some(flags),
    })
}

pub(super) fn tuning(t: &Treatment) -> Option<Tuning> {
    param(t, "tuning").map(|w| if w == "peak" { Tuning::Peak } else { Tuning::Base })
}

/// Programs that compile the files on their command line.
pub(super) const COMPILERS: [&str; 10] =
    ["cc", "c++", "gcc", "g++", "clang", "clang++", "gfortran", "flang", "rustc", "ifx"];

/// Returns the build of a kit's program from the commands that the kit ran. Flags are unknown for
/// tools that read them from files (make, cargo).
pub(super) fn build_by_commands(m: &RunMaterial<'_>, t: &Treatment) -> Option<Build> {
    let (tools, commands) = observations(m, Some(t.id)).find_map(|o| match o {
        Observation::Build { tools, commands } => Some((tools, commands)),
        _ => None,
    })?;
    let words: Vec<Vec<&str>> = commands.iter().map(|c| c.split_whitespace().collect()).collect();
    let compiles = |words: &&Vec<&str>| {
        let name = words.first().map(|w| w.rsplit('/').next().unwrap_or(w)).unwrap_or_default();
        // Also names such as `gcc-12` and `x86_64-linux-gnu-gcc`.
        COMPILERS.iter().any(|c| {
            name == *c || name.starts_with(&format!("{c}-")) || name.ends_with(&format!("-{c}"))
        })
    };
    let own: Vec<&Vec<&str>> = words.iter().filter(compiles).collect();
    let flags: Option<Vec<String>> = (!own.is_empty()).then(|| {
        let all = own.iter().flat_map(|words| words.iter().skip(1));
        all.filter(|w| w.starts_with('-')).map(|w| (*w).to_owned()).collect()
    });
    let has = |prefix: &str| flags.as_ref().map(|f| f.iter().any(|f| f.starts_with(prefix)));
    Some(Build {
        compiler: (!tools.is_empty()).then(|| tools.join("; ")),
        lto: has("-flto"),
        pgo: has("-fprofile-use"),
        tuning: tuning(t),
        flags,
    })
}

//! What a run's evidence has of how its programs were built, and on which input they were tuned.

use assay_model::{Observation, Treatment};

use super::material::{RunMaterial, param, seen};
use crate::{Build, Known, Tuning};

/// The parameter by which a kit says which of its inputs it reads.
pub(super) const SIZE: &str = "size";

/// The input that builds with feedback are trained on.
pub(super) const TRAINED_ON: &str = "train";

/// The input of a treatment: the workload's, of the size that it is asked for.
pub(super) fn input(m: &RunMaterial<'_>, t: &Treatment) -> String {
    let name = &m.plan.workload.name;
    match param(t, SIZE).filter(|_| !m.plan.factors.iter().any(|f| f == SIZE)) {
        Some(size) => format!("{name} of size {size}"),
        None => name.clone(),
    }
}

/// What a program that is built with feedback was trained on.
pub(super) fn tuned_on(m: &RunMaterial<'_>, t: &Treatment) -> Known<Vec<String>> {
    if param(t, "feedback").as_deref() == Some("true") {
        return Known::Is(vec![format!("{} of size {TRAINED_ON}", m.plan.workload.name)]);
    }
    Known::Absent("no program was built with feedback".to_owned())
}

/// How a kit built the program: by the parameters of its toolchain, else by what it says of its build.
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

/// Programs that compile what their command line names.
pub(super) const COMPILERS: [&str; 10] =
    ["cc", "c++", "gcc", "g++", "clang", "clang++", "gfortran", "flang", "rustc", "ifx"];

/// How a kit built the program, by the commands that it ran. Of tools that find their flags in files (make,
/// cargo) the flags are not known.
pub(super) fn build_by_commands(m: &RunMaterial<'_>, t: &Treatment) -> Option<Build> {
    let (tools, commands) = seen(m, Some(t.id)).find_map(|o| match o {
        Observation::Build { tools, commands } => Some((tools, commands)),
        _ => None,
    })?;
    let words: Vec<Vec<&str>> = commands.iter().map(|c| c.split_whitespace().collect()).collect();
    let compiles = |words: &&Vec<&str>| {
        let name = words.first().map(|w| w.rsplit('/').next().unwrap_or(w)).unwrap_or_default();
        // `gcc-12`, `x86_64-linux-gnu-gcc`
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

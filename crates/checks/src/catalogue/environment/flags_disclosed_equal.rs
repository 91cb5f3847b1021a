//! F06: compiler and flags are disclosed and equal.

use super::one_program;
use crate::prelude::*;

pub const FLAGS_DISCLOSED_EQUAL: CheckRow = CheckRow {
    id: "F06",
    name: "flags-disclosed-equal",
    section: CheckSection::Environment,
    severity: INVALID,
    escalation: "",
    needs: "compiler and version, flags, LTO, PGO, base or peak, per treatment",
    fires: "one of them differs and is not declared, or one treatment is base and another peak; in \
        profile `publish` also if one is missing",
    why: "unequal or undisclosed tuning effort shows up as speed",
    remedy: "build all treatments alike and state compiler, version and flags",
    source: "SPEC CPU 2017 run rules",
    evidence: "the toolchain parameters of kits and suites, else the tools and commands of a kit's \
        build; none for equal programs",
};

pub const CHECK: Check = Check::new(&FLAGS_DISCLOSED_EQUAL, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    if treatments.iter().all(|a| a.build.is_none()) && !e.declares("compiler") {
        return match one_program(treatments) {
            Some(true) => Ok(Vec::new()),
            Some(false) => {
                not_applicable("assay built none of the programs; their hashes are recorded")
            }
            None => missing("compiler and flags of the programs"),
        };
    }
    // One program, built once by a tool that reads its flags from files.
    let by_files = |treatment: &TreatmentEvidence| {
        treatment.build.as_ref().is_some_and(|b| b.compiler.is_some() && b.flags.is_none())
    };
    let alike =
        treatments.iter().all(by_files) && treatments.windows(2).all(|a| a[0].build == a[1].build);
    if alike && one_program(treatments) == Some(true) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let empty = Build::default();
    let first = treatments[0].build.as_ref().unwrap_or(&empty);
    for treatment in treatments {
        let (a, b) = (&treatments[0].label, &treatment.label);
        let build = treatment.build.as_ref().unwrap_or(&empty);
        let parts = [
            ("compiler", build.compiler.is_some(), build.compiler == first.compiler),
            ("flags", build.flags.is_some(), build.flags == first.flags),
            ("LTO", build.lto.is_some(), build.lto == first.lto),
            ("PGO", build.pgo.is_some(), build.pgo == first.pgo),
        ];
        for (what, is_known, is_equal) in parts {
            if !is_known {
                lacking.push(format!("{what} of {b}"));
            }
            if !is_equal && !declared_build(e, what) {
                found.push(finding(format!("{a} and {b} were built with different {what}")));
            }
        }
        if build.tuning != first.tuning {
            found.push(finding(format!("one of {a} and {b} is base, the other peak")));
        }
    }
    found_or_missing(found, &lacking)
}

/// True if a declared factor covers a build difference in `what`. Flag factors cover link-time
/// optimisation, which flags switch on.
fn declared_build(e: &Evidence, what: &str) -> bool {
    let names: &[&str] = match what {
        "flags" | "LTO" => &["flags", "lto", "cflags", "cxxflags", "fflags", "ldflags"],
        "PGO" => &["pgo", "feedback"],
        _ => &["cc", "cxx", "fc"],
    };
    ["build", "compiler", "toolchain"].iter().chain(names).any(|f| e.declares(f))
}

//! Converts the run of a suite into the form that the rule pack `cpu` judges.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{
    Analysis, Fact, Plan, RunSummary, Scalar, SuiteMember, SuiteResults, SuiteScore,
    SystemDescription, TrialOutcome, TrialRecord,
};
use assay_quoted::pack::cpu::{
    CpuExecution, CpuMember, CpuSuiteResult, CpuTuning, InputSize, SuiteKind, Tuning,
};

use crate::analyse::suite_facts::{file_systems, recorded};

/// Builds the result. Base is the first score with base tuning, peak the one that differs from base
/// only in the tuning. Unrecorded facts are `None`, and a rule that needs one reports that it
/// cannot decide.
///
/// Returns `None` if the run is not of a suite or has no base.
pub fn suite_result(
    run: &RunSummary,
    plan: &Plan,
    records: &[TrialRecord],
    analysis: &Analysis,
    system: &SystemDescription,
) -> Option<CpuSuiteResult> {
    let suite = analysis.suite.as_ref()?;
    let of = Facts { plan, system };
    let base = score(suite, &of, Tuning::Base, None)?;
    let peak = score(suite, &of, Tuning::Peak, Some(base));
    let kind = match of.param(base, "kind").as_str() {
        "speed" => Some(SuiteKind::Speed),
        "rate" => Some(SuiteKind::Rate),
        _ => None,
    };
    let members = base.members.iter().map(|b| CpuMember {
        name: b.name.clone(),
        reference_s: b.ratio.zip(b.time_s).map(|(ratio, time)| ratio * time),
        source_names: of
            .fact(b.treatment, "workload.kit.build.sources")
            .map(|names| names.split_whitespace().map(str::to_owned).collect()),
        base: Some(tuning(&of, b)),
        peak: peak
            .and_then(|p| p.members.iter().find(|m| m.name == b.name))
            .map(|m| tuning(&of, m)),
    });
    let chosen: Vec<u32> = [Some(base), peak]
        .into_iter()
        .flatten()
        .flat_map(|s| &s.members)
        .map(|m| m.treatment)
        .collect();
    let model = of.fact(plan.baseline, "cpu.model");
    let (tree, runs) = (file_systems(system, "cache"), file_systems(system, "scratch"));
    let apart = tree.as_ref().zip(runs.as_ref()).map(|(tree, runs)| tree != runs);
    Some(CpuSuiteResult {
        suite: plan.workload.name.clone(),
        kind,
        members: members.collect(),
        executions: records
            .iter()
            .filter(|r| chosen.contains(&r.treatment))
            .filter_map(|r| execution(&run.id.to_string(), &of, r))
            .collect(),
        overall_base: base.geomean,
        peak_reported: Some(peak.is_some()),
        overall_peak: peak.and_then(|p| p.geomean),
        described_flags: described(&of, &chosen),
        disclosure: disclosure(&of, run, &chosen),
        tree_file_systems: tree.map(|mut all| {
            all.extend(
                runs.iter().flatten().filter(|r| apart == Some(true) && !r.is_empty()).cloned(),
            );
            all
        }),
        output_root: apart,
        run_file_systems: runs,
        system_measured: model.clone(),
        system_reported: model,
        power_reported: Some(false),
        estimated: Some(false),
        energy_estimated: Some(false),
        ..CpuSuiteResult::default()
    })
}

/// Control that sets environment variables.
const ENV: &str = "env";

/// Recorded facts and parameters, by treatment.
struct Facts<'a> {
    plan: &'a Plan,
    system: &'a SystemDescription,
}

impl Facts<'_> {
    fn fact(&self, treatment: u32, path: &str) -> Option<String> {
        let own = self.system.facts.get(&format!("treatment.{treatment}.{path}"));
        match own.or_else(|| self.system.facts.get(path))? {
            Fact::Known { value } => Some(value.clone()),
            Fact::Unknown { .. } => None,
        }
    }

    fn treatment_param(&self, treatment: u32, name: &str) -> String {
        let params = self.plan.treatment(treatment).map(|t| &t.params);
        params.and_then(|p| p.get(name)).map(Scalar::to_text).unwrap_or_default()
    }

    /// Returns the environment variables that the user sets for the programs. Settings made by
    /// assay (threads) belong to the tools.
    fn environment(&self, treatment: u32) -> BTreeMap<String, String> {
        let set = self.plan.treatment(treatment).into_iter().flat_map(|t| &t.controls);
        let own = set.filter(|s| s.control == ENV);
        own.map(|s| (s.key.clone(), s.value.to_text())).collect()
    }

    fn param(&self, score: &SuiteScore, name: &str) -> String {
        score.members.first().map(|m| self.treatment_param(m.treatment, name)).unwrap_or_default()
    }
}

/// Returns the first score with the given tuning; with `like`, the one that differs from it only in
/// the tuning.
fn score<'a>(
    suite: &'a SuiteResults,
    of: &Facts<'_>,
    tuning: Tuning,
    like: Option<&SuiteScore>,
) -> Option<&'a SuiteScore> {
    suite.scores.iter().find(|s| {
        of.param(s, "tuning") == tuning.name()
            && like.is_none_or(|l| {
                s.levels.iter().all(|(k, v)| k == "tuning" || l.levels.get(k) == Some(v))
            })
    })
}

/// For each language, the kit's parameters for the compiler and for its flags.
const LANGUAGES: [(&str, &str, &str); 3] =
    [("C", "cc", "cflags"), ("C++", "cxx", "cxxflags"), ("Fortran", "fc", "fflags")];

fn tuning(of: &Facts<'_>, member: &SuiteMember) -> CpuTuning {
    let id = member.treatment;
    let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let build = |name: &str| of.fact(id, &format!("workload.suite.build.{name}"));
    let copies = of.treatment_param(id, "copies").parse().ok();
    let threads = of.treatment_param(id, "threads");
    let (mut toolchain, mut flags) = (BTreeMap::new(), BTreeMap::new());
    for (language, compiler, own) in LANGUAGES {
        if let Some(version) = of.fact(id, &format!("workload.kit.need.{compiler}.version")) {
            toolchain.insert(language.to_owned(), version);
        }
        if let Some(used) = build(own) {
            flags.insert(language.to_owned(), words(used));
        }
    }
    let pinned = of.treatment_param(id, "pin") == "true";
    CpuTuning {
        copies,
        threads: threads.parse().ok(),
        toolchain: Some(toolchain),
        flags: Some(flags),
        portability: Some(build("portability").map(words).unwrap_or_default()),
        environment: Some(of.environment(id)),
        submit: Some(if pinned { "bound to CPUs by assay".into() } else { String::new() }),
        trained_on: Some(
            if build("feedback").as_deref() == Some("true") { "train" } else { "none" }.into(),
        ),
        selected_s: member.time_s.zip(copies).map(|(each, n)| each * f64::from(n)),
        ratio: member.ratio,
        is_base: false,
    }
}

fn execution(run: &str, of: &Facts<'_>, record: &TrialRecord) -> Option<CpuExecution> {
    let text = |name: &str| match record.params.get(name) {
        Some(own) => own.to_text(),
        None => of.treatment_param(record.treatment, name),
    };
    Some(CpuExecution {
        member: text("member"),
        tuning: if text("tuning") == "peak" { Tuning::Peak } else { Tuning::Base },
        size: match text("size").as_str() {
            "test" => InputSize::Test,
            "train" => InputSize::Train,
            "ref" => InputSize::Reference,
            _ => return None,
        },
        invocation: run.to_owned(),
        order: record.number,
        timed: !record.warmup,
        seconds: record.metric("elapsed"),
        valid: match record.outcome {
            TrialOutcome::Completed => Some(true),
            TrialOutcome::Invalid => Some(false),
            _ => None,
        },
    })
}

/// Returns the flags in use that the suite's file describes; `None` if that was not recorded.
fn described(of: &Facts<'_>, treatments: &[u32]) -> Option<Vec<String>> {
    let mut found = Vec::new();
    for id in treatments {
        let lacking = of.fact(*id, "workload.suite.undescribed_flags")?;
        let names = ["cflags", "cxxflags", "fflags", "ldflags", "portability"];
        for used in names.iter().filter_map(|n| of.fact(*id, &format!("workload.suite.build.{n}")))
        {
            for flag in used.split_whitespace().filter(|f| !lacking.split(' ').any(|l| l == *f)) {
                if !found.iter().any(|known| known == flag) {
                    found.push(flag.to_owned());
                }
            }
        }
    }
    Some(found)
}

/// Returns the disclosure fields that the record answers.
fn disclosure(of: &Facts<'_>, run: &RunSummary, treatments: &[u32]) -> BTreeMap<String, String> {
    let mut found = recorded(of.system);
    let mut add = |field: &str, value: String| {
        if !value.is_empty() {
            found.insert(field.to_owned(), value);
        }
    };
    let all = |of_one: &dyn Fn(u32) -> Vec<String>| {
        let set: BTreeSet<String> = treatments.iter().flat_map(|id| of_one(*id)).collect();
        set.into_iter().collect::<Vec<_>>().join(", ")
    };
    add("test-date", run.started_at.get(..10).unwrap_or_default().to_owned());
    let compilers = |id| {
        let version =
            |(_, cc, _): &(_, &str, _)| of.fact(id, &format!("workload.kit.need.{cc}.version"));
        LANGUAGES.iter().filter_map(version).collect()
    };
    add("compilers", all(&compilers));
    add(
        "parallel",
        all(&|id| vec![format!("threads per copy: {}", of.treatment_param(id, "threads"))]),
    );
    let controls = |id| {
        let set = of.plan.treatment(id).into_iter().flat_map(|t| &t.controls);
        set.map(|s| format!("{}.{}={}", s.control, s.key, s.value)).collect()
    };
    let tuning = all(&controls);
    add("tuning", if tuning.is_empty() { "none set by assay".to_owned() } else { tuning });
    let flags = |id| {
        let named = |name: &str| of.fact(id, &format!("workload.suite.build.{name}"));
        let all = ["cflags", "cxxflags", "fflags", "ldflags", "portability"];
        all.iter().filter_map(|n| named(n)).collect::<Vec<_>>().join(" ")
    };
    let arch = of.fact(of.plan.baseline, "kernel.arch").unwrap_or_default();
    let narrow = |id: &u32| flags(*id).split(' ').any(|f| f == "-m32" || f == "-mx32");
    if arch.ends_with("64") {
        let narrow = treatments.iter().filter(|id| narrow(id)).count();
        let of_all = match narrow {
            0 => "64-bit",
            n if n == treatments.len() => "32-bit",
            _ => "32-bit and 64-bit",
        };
        add("pointer-size", of_all.to_owned());
    }
    let mounts = |purpose| file_systems(of.system, purpose).map(|all| all.join(", "));
    if let (Some(tree), Some(runs)) = (mounts("cache"), mounts("scratch")) {
        add("file-system", format!("programs on {tree}, run directories on {runs}"));
    }
    found
}

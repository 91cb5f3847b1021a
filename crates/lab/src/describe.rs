//! Describes the system under test together with the programs that the workload runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::{Fact, Plan, SystemDescription};
use assay_redact::Recorder;
use assay_sut::Root;
use assay_workloads::Workload;

/// The system, its toolchains, and what the workload says of its programs. What differs between
/// treatments stands under `treatment.N.`.
pub fn system(workload: &dyn Workload, plan: &Plan, recorder: &Recorder) -> SystemDescription {
    let root = Root::system();
    let mut system = assay_sut::describe(&root, recorder);
    system.facts.extend(assay_sut::describe_toolchains());
    let each: Vec<(u32, BTreeMap<String, Fact>)> =
        plan.treatments.iter().map(|t| (t.id, workload.describe(&t.params))).collect();
    let Some((_, first)) = each.first() else { return system };
    for (path, fact) in first {
        if each.iter().all(|(_, facts)| facts.get(path) == Some(fact)) {
            system.facts.insert(path.clone(), fact.clone());
        }
    }
    for (id, facts) in &each {
        for (path, fact) in facts {
            if !system.facts.contains_key(path) {
                system.facts.insert(format!("treatment.{id}.{path}"), fact.clone());
            }
        }
    }
    system.facts.extend(assay_sut::used(&root, &places(plan, &each)));
    recorder.facts(&mut system.facts);
    system
}

/// Where the trials' program and files are: the system's own libraries, the scratch and cache folders, the
/// folder of the control `storage`, and every path that a parameter or the workload's description names.
fn places(plan: &Plan, each: &[(u32, BTreeMap<String, Fact>)]) -> Vec<(&'static str, PathBuf)> {
    let mut places = vec![
        ("system", PathBuf::from("/")),
        ("scratch", existing(&crate::scratch_root())),
        ("cache", existing(&crate::cache_dir())),
    ];
    let mut named = |purpose, text: &str| {
        if text.starts_with('/') {
            places.push((purpose, existing(Path::new(text))));
        }
    };
    for treatment in &plan.treatments {
        for value in treatment.params.values() {
            value.to_text().split_whitespace().for_each(|word| named("parameter", word));
        }
        for setting in treatment.controls.iter().filter(|s| s.control == "storage") {
            let level = setting.value.to_text();
            named("storage", level.strip_prefix("folder:").unwrap_or_default());
        }
    }
    for fact in each.iter().flat_map(|(_, facts)| facts.values()) {
        named("program", fact.value().unwrap_or_default());
    }
    places
}

/// The path, or the nearest folder above that is there.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/")).to_owned()
}

//! Describes the system under test together with the programs that the workload runs.

use std::collections::BTreeMap;

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
    recorder.facts(&mut system.facts);
    system
}

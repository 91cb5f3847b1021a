//! Describes the system under test together with the programs that the workload runs.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use assay_model::{Experiment, Fact, Plan, Scalar, Setting, SystemDescription, Treatment};
use assay_system::Root;
use assay_system::process::container::engine::{ContainerEngine, Image};
use assay_system::redact::Recorder;
use assay_workloads::Workload;

use crate::trial::inputs;

/// Adds the toolchains that the experiment uses and the programs of the workload to the description
/// of this machine. Facts that differ between treatments are under `treatment.N.`.
pub fn add_programs(
    mut system: SystemDescription,
    workload: &dyn Workload,
    (experiment, plan): (&Experiment, &Plan),
    recorder: &Recorder,
) -> SystemDescription {
    let builds = experiment.source.is_some() || workload.offers().builds.is_some();
    let words = words(workload, plan);
    system.facts.extend(assay_system::describe_toolchains(|name| builds || words.contains(name)));
    let of = |t: &Treatment| {
        let mut facts = workload.describe(&t.params);
        if let Some(setting) = inputs::image(t) {
            // The image has the program.
            facts.retain(|path, _| !path.starts_with("workload.command."));
            facts.extend(image(setting));
        }
        (t.id, facts)
    };
    let each: Vec<(u32, BTreeMap<String, Fact>)> = plan.treatments.iter().map(of).collect();
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
    system.facts.extend(assay_system::used(&Root::system(), &places(plan, &each)));
    recorder.facts(&mut system.facts);
    system
}

/// Describes the image of a treatment and its engine.
fn image(setting: &Setting) -> BTreeMap<String, Fact> {
    let name = setting.value.to_text();
    let image = ContainerEngine::find(&setting.key).and_then(|engine| engine.inspect(&name));
    let image = image.map_err(|e| e.to_string());
    let fact = |part: fn(Image) -> String| {
        image.clone().map_or_else(Fact::unknown, |i| Fact::known(part(i)))
    };
    let facts = [
        ("container.engine", fact(|image| image.engine.name().to_owned())),
        ("container.digest", fact(|image| image.digest)),
        ("container.runtime", fact(|image| image.runtime)),
        ("container.image", Fact::known(name)),
    ];
    facts.map(|(path, fact)| (path.to_owned(), fact)).into()
}

/// Returns the names in command lines, parameters and the first lines of scripts that trials run.
fn words(workload: &dyn Workload, plan: &Plan) -> BTreeSet<String> {
    let params = plan.treatments.iter().flat_map(|t| t.params.values().map(Scalar::to_text));
    let mut texts: Vec<String> = workload.lines().into_iter().chain(params).collect();
    let named: BTreeSet<&str> = texts.iter().flat_map(|t| t.split_whitespace()).collect();
    let scripts: Vec<String> = named
        .into_iter()
        .filter_map(|word| assay_system::which(word).or_else(|| Some(PathBuf::from(word))))
        .filter_map(|path| {
            // Pipes and devices are skipped, because reading one could block.
            path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let mut start = [0; 128];
            let n = std::fs::File::open(path).ok()?.read(&mut start).ok()?;
            start[..n].starts_with(b"#!").then(|| String::from_utf8_lossy(&start[..n]).into_owned())
        })
        .filter_map(|start| start.lines().next().map(str::to_owned))
        .collect();
    texts.extend(scripts);
    let separate = |c: char| !c.is_ascii_alphanumeric() && c != '+';
    texts.iter().flat_map(|text| text.split(separate)).map(str::to_owned).collect()
}

/// Returns the locations of the trials' programs and files: the system's own libraries, the scratch
/// and cache folders, the folder of the control `storage`, and every path in a parameter or in the
/// workload's description.
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

/// Returns the path or its nearest existing ancestor.
fn existing(path: &Path) -> PathBuf {
    path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/")).to_owned()
}

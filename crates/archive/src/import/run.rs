//! Makes a run from imported files: an experiment and a plan that describe the measurement, the
//! system as far as it is stated, one record per trial, and the files themselves.

use std::collections::BTreeMap;
use std::path::Path;

use assay_model::{
    Compare, Design, Experiment, Fact, FactorLevels, ImportedFile, LedgerEvent, Observe,
    ObserverReport, Order, Plan, PlannedTrial, RunId, RunState, SCHEMA_VERSION, SystemDescription,
    Treatment, TrialRecord, WorkloadSpec,
};
use assay_system::redact::CleanRecord;
use assay_workloads::readers::{ForeignResult, ForeignSet, ForeignTrial, factors};

use crate::format::identity::NewRun;
use crate::format::layout::IMPORTED;
use crate::store::folder::Archive;
use crate::store::search::Search;
use crate::{Error, Result, RunWriter};

/// Tag of every imported run.
const TAG: &str = "imported";
/// Maximum length of an experiment's name.
const MAX_NAME: usize = 80;
/// Facts that every system description has, even if only as unknown.
const ASKED: [&str; 9] = [
    "cpu.cores",
    "cpu.model",
    "cpu.threads",
    "host.name",
    "kernel.release",
    "libc.version",
    "memory.total",
    "os.name",
    "virt.hypervisor",
];

/// Reason why files are not imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The name is not a valid experiment name.
    #[error("`{0}` cannot name a run; use lower-case letters, digits, `-` and `.`, at most 80")]
    Name(String),
    #[error(transparent)]
    Archive(#[from] Error),
}

/// Options of an import.
#[derive(Debug, Clone, Default)]
pub struct ForeignOptions {
    /// Name of the experiment; derived from the first file's name if absent.
    pub name: Option<String>,
    /// Words by which the run can be found, in addition to `imported` and the format's name.
    pub tags: Vec<String>,
    /// True if files that were imported before are imported again.
    pub again: bool,
}

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedRuns {
    /// The runs that were created.
    New(Vec<RunId>),
    /// The runs that the same files were imported as before.
    Already(Vec<RunId>),
}

impl Archive {
    /// Imports files of another program as one run, or as several if their numbers do not fit into
    /// one metric. The files are stored in each run, and their hashes in its ledger.
    ///
    /// # Errors
    /// If the name is invalid or the archive cannot be written; then nothing is kept.
    pub fn import_foreign(
        &self,
        set: &ForeignSet,
        options: &ForeignOptions,
    ) -> std::result::Result<ImportedRuns, ImportError> {
        let first = set.files.first().map_or(Path::new(""), |f| &f.path);
        let name = match &options.name {
            Some(name) => checked_name(name)?,
            None => name_of_file(first, set.format.name),
        };
        if !options.again {
            let there = self.imports_of(set)?;
            if !there.is_empty() {
                return Ok(ImportedRuns::Already(there));
            }
        }
        let mut made: Vec<RunId> = Vec::new();
        for result in &set.results {
            let part =
                if result.part.is_empty() { String::new() } else { format!("-{}", result.part) };
            match self.make_run(set, result, &format!("{name}{part}"), options) {
                Ok(id) => made.push(id),
                Err(error) => {
                    for id in &made {
                        let _ = self.remove(id);
                    }
                    return Err(error.into());
                }
            }
        }
        Ok(ImportedRuns::New(made))
    }

    /// Returns the runs that were made from exactly these files, oldest first.
    fn imports_of(&self, set: &ForeignSet) -> Result<Vec<RunId>> {
        let mut wanted: Vec<&str> = set.files.iter().map(|f| f.sha256.as_str()).collect();
        wanted.sort_unstable();
        let mut found = Vec::new();
        for summary in self.list(&Search { tag: Some(TAG.to_owned()), ..Search::default() })? {
            let Ok(run) = self.run(&summary.id) else { continue };
            let Some((_, files)) = run.imported() else { continue };
            let mut there: Vec<&str> = files.iter().map(|f| f.sha256.as_str()).collect();
            there.sort_unstable();
            if there == wanted && run.state() == RunState::Completed {
                found.push(summary.id);
            }
        }
        found.reverse();
        Ok(found)
    }

    fn make_run(
        &self,
        set: &ForeignSet,
        result: &ForeignResult,
        name: &str,
        options: &ForeignOptions,
    ) -> Result<RunId> {
        let mut tags = vec![TAG.to_owned(), set.format.name.to_owned()];
        tags.extend(options.tags.iter().filter(|t| !tags.contains(t)).cloned().collect::<Vec<_>>());
        let experiment = experiment(set, result, name, &tags);
        let experiment_toml = toml::to_string_pretty(&experiment)
            .map_err(|e| Error::Experiment { name: name.to_owned(), reason: e.to_string() })?;
        let plan = plan(set, result);
        let mut run = self.create_run(&NewRun {
            experiment_toml: &experiment_toml,
            plan: &plan,
            system: &describe(result),
            host: result.host.as_deref().unwrap_or("unknown"),
            experiment_name: name,
            workload: result.workload,
            tags: &tags,
            stop_rule: &format!("by the rule of {}, which the file does not state", result.tool),
        })?;
        let id = run.id().clone();
        let filled = fill(&mut run, set, result, &plan)
            .and_then(|()| run.finish(RunState::Completed, "everything in the files was read"));
        if let Err(error) = filled {
            let _ = self.remove(&id);
            return Err(error);
        }
        Ok(id)
    }
}

fn fill(run: &mut RunWriter, set: &ForeignSet, result: &ForeignResult, plan: &Plan) -> Result<()> {
    // The files can be imported again, so one flush at the end is enough.
    run.flush_interval = std::time::Duration::MAX;
    let mut files = Vec::new();
    for (i, file) in set.files.iter().enumerate() {
        let kept = format!("{IMPORTED}/{:04}", i + 1);
        run.keep_file(&kept, &file.bytes)?;
        files.push(ImportedFile {
            name: file.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            kept,
            bytes: file.bytes.len() as u64,
            sha256: file.sha256.clone(),
        });
    }
    let (tool, version) = (result.tool.to_owned(), result.version.clone());
    run.ledger(LedgerEvent::Imported { tool, version, files })?;
    if !result.run_metrics.is_empty() {
        run.set_run_metrics(&result.run_metrics)?;
    }
    for (trial, planned) in result.trials.iter().zip(&plan.trials) {
        let record = CleanRecord::new(record(trial, planned), None);
        run.write_trial(&record, &[], &[], trial.samples.as_ref(), &trial.kept)?;
    }
    Ok(())
}

/// Builds a plan that matches the trials: the blocks only number the repetitions of a treatment.
fn plan(set: &ForeignSet, result: &ForeignResult) -> Plan {
    let mut repetitions = vec![0; result.treatments.len()];
    let trials = result.trials.iter().enumerate().map(|(i, trial)| {
        let block = repetitions[trial.treatment];
        repetitions[trial.treatment] += 1;
        PlannedTrial {
            number: i as u32 + 1,
            block,
            treatment: trial.treatment as u32,
            warmup: false,
            ..PlannedTrial::default()
        }
    });
    let trials = trials.collect();
    let treatments = result.treatments.iter().enumerate().map(|(id, t)| Treatment {
        id: id as u32,
        levels: t.levels.clone(),
        names: BTreeMap::new(),
        params: t.params.clone(),
        controls: Vec::new(),
    });
    Plan {
        schema_version: SCHEMA_VERSION,
        workload: WorkloadSpec {
            name: result.workload.to_owned(),
            help: format!(
                "measured by {}, imported from its results ({})",
                tool(result),
                set.format.name
            ),
            params: Vec::new(),
            metrics: result.metrics.clone(),
            suite: None,
        },
        seed: 0, // nothing was shuffled here
        factors: factors(&result.treatments).into_keys().collect(),
        treatments: treatments.collect(),
        baseline: 0,
        metric: result.metrics[0].name.clone(),
        trials,
    }
}

fn tool(result: &ForeignResult) -> String {
    match &result.version {
        Some(version) => format!("{} {version}", result.tool),
        None => result.tool.to_owned(),
    }
}

fn experiment(set: &ForeignSet, result: &ForeignResult, name: &str, tags: &[String]) -> Experiment {
    let names: Vec<String> = set
        .files
        .iter()
        .map(|f| {
            format!("{} (SHA-256 {})", f.path.file_name().unwrap_or_default().display(), f.sha256)
        })
        .collect();
    let mut paragraphs = vec![format!(
        "Imported from {} of {}. assay ran none of these trials: anything that the file does not \
         state is unknown, above all the order of the trials and the state of the machine.",
        names.join(", "),
        tool(result)
    )];
    paragraphs.extend(result.notes.iter().cloned());
    let factors = factors(&result.treatments).into_iter();
    Experiment {
        schema_version: SCHEMA_VERSION,
        name: name.to_owned(),
        title: format!("{name}, imported from {}", result.tool),
        description: paragraphs.join("\n\n"),
        workload: result.workload.to_owned(),
        tags: tags.to_vec(),
        params: BTreeMap::new(),
        result: None,
        controls: BTreeMap::new(),
        source: None,
        factors: factors
            .map(|(name, levels)| {
                let levels = levels.into_iter().map(Into::into).collect();
                (name, FactorLevels::List(levels))
            })
            .collect(),
        design: Design { order: Order::Unknown, ..Design::default() },
        place: assay_model::ExecutionPlace::default(),
        observe: Observe { monitors: Vec::new(), ..Observe::default() },
        compare: Compare { metric: Some(result.metrics[0].name.clone()), ..Compare::default() },
        fitness: assay_model::Fitness::default(),
        on: assay_model::Hooks::default(),
    }
}

fn record(trial: &ForeignTrial, planned: &PlannedTrial) -> TrialRecord {
    let samples = trial.samples.as_ref();
    let monitor = samples.map(|set| ObserverReport {
        observer: set.series.first().map(|s| s.monitor.clone()).unwrap_or_default(),
        samples: set.rows.len() as u64,
        not_seen: trial.not_seen.clone(),
    });
    let tracers = trial.kept.iter().map(|(name, _)| ObserverReport {
        observer: name.trim_end_matches(".json").to_owned(),
        samples: 0,
        not_seen: trial.not_seen.clone(),
    });
    TrialRecord {
        outcome: trial.outcome,
        error: trial.error.clone(),
        end_ns: samples.and_then(|s| s.rows.last()).map_or(0, |row| row.t_ns),
        exit: trial.exit,
        metrics: trial.metrics.clone(),
        validation: trial.validation.clone(),
        observers: monitor.into_iter().chain(tracers).collect(),
        notes: trial.notes.clone(),
        findings: trial.findings(),
        evidence: trial.evidence.clone(),
        ..TrialRecord::blank(planned, 1, trial.started_at.clone(), 0)
    }
}

/// Describes the system with the facts that the file states.
fn describe(result: &ForeignResult) -> SystemDescription {
    let mut facts: BTreeMap<String, Fact> = result.facts.clone();
    if let Some(host) = &result.host {
        facts.insert("host.name".to_owned(), Fact::known(host));
    }
    for path in ASKED {
        let reason = || Fact::unknown(format!("the file of {} does not state it", result.tool));
        facts.entry(path.to_owned()).or_insert_with(reason);
    }
    SystemDescription {
        schema_version: SCHEMA_VERSION,
        taken_at: result.measured_at.clone().unwrap_or_default(),
        facts,
    }
}

/// Returns the requested name if it is valid for an experiment.
fn checked_name(name: &str) -> std::result::Result<String, ImportError> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let fits = !name.is_empty() && name.len() <= MAX_NAME && !name.starts_with('.');
    if fits && name.chars().all(good) {
        Ok(name.to_owned())
    } else {
        Err(ImportError::Name(name.to_owned()))
    }
}

/// Derives a name from a file's name; returns `otherwise` if no character of it is usable.
fn name_of_file(path: &Path, otherwise: &str) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut name = String::new();
    for c in stem.chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name: String = name.trim_matches(['-', '.']).chars().take(MAX_NAME - 12).collect();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        assert_eq!(name_of_file(Path::new("/x/My Result_(2).v1.json"), "fio"), "my-result-2-.v1");
        assert_eq!(name_of_file(Path::new("/x/..json"), "fio"), "fio");
        assert_eq!(name_of_file(Path::new("été"), "fio"), "t");
        assert!(checked_name(&name_of_file(Path::new(&"a".repeat(300)), "fio")).is_ok());
        for bad in ["", "..", "A", "a/b", "a b"] {
            assert!(checked_name(bad).is_err(), "{bad}");
        }
    }
}

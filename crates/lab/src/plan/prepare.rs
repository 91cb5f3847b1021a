//! Prepares an experiment to run, from the user's input to a plan.

use std::path::Path;

use assay_model::{Experiment, Hooks, Plan};
use assay_system::redact::Recorder;
use assay_workloads::{KitPaths, Workload};

use crate::{FileError, LabError, make_plan, read_experiment};

/// An experiment with its workload found and its plan made.
pub struct PreparedExperiment {
    pub experiment: Experiment,
    /// Text of the experiment as archived.
    pub toml: String,
    pub workload: Box<dyn Workload>,
    pub plan: Plan,
}

impl PreparedExperiment {
    /// Reads an experiment file. Its workload is looked up in `kits` and next to the file. `change`
    /// may alter the experiment before it is planned (`--set`, `--blocks`); if it does, the
    /// archived text is that of the altered experiment.
    ///
    /// # Errors
    /// The file cannot be read or has a mistake; the error shows where.
    pub fn from_file(
        path: &Path,
        kits: &KitPaths,
        change: &dyn Fn(&mut Experiment) -> Result<(), LabError>,
    ) -> Result<Self, LabError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| LabError::Read { path: path.to_owned(), source })?;
        let file = path.display().to_string();
        let as_read = read_experiment(&file, &text)?;
        let mut experiment = as_read.clone();
        change(&mut experiment)?;
        if experiment != as_read {
            return Self::from_experiment(experiment, kits);
        }
        // A kit may be in the folder of the experiment that uses it.
        Self::plan(experiment, text.clone(), Some((&file, &text)), kits, path.parent())
    }

    /// Prepares an experiment that was made in memory.
    ///
    /// # Errors
    /// The workload is unknown or the plan cannot be made.
    pub fn from_experiment(experiment: Experiment, kits: &KitPaths) -> Result<Self, LabError> {
        let toml = as_text(&experiment);
        Self::plan(experiment, toml, None, kits, None)
    }

    fn plan(
        mut experiment: Experiment,
        mut toml: String,
        origin: Option<(&str, &str)>,
        kits: &KitPaths,
        beside: Option<&Path>,
    ) -> Result<Self, LabError> {
        if let Some((path, why)) = Recorder::token_in(&experiment) {
            return Err(LabError::Token { path, reason: why.reason() });
        }
        let found = assay_workloads::registry::find(&experiment.workload, kits).or_else(|e| {
            // A relative path is also tried from the folder of the experiment file.
            match beside.filter(|_| experiment.workload.contains('/')) {
                Some(dir) => assay_workloads::registry::find(
                    &dir.join(&experiment.workload).display().to_string(),
                    kits,
                )
                .map_err(|_| e),
                None => Err(e),
            }
        });
        let workload = match (found, origin) {
            (Ok(workload), _) => workload,
            (Err(e), Some((file, text))) => {
                return Err(
                    FileError::at(file, text, &["workload"], e.to_string(), String::new()).into()
                );
            }
            (Err(e), None) => return Err(e.into()),
        };
        // An address of a webhook stays out of the archive.
        if crate::experiment::source::resolve(&mut experiment)? || experiment.on != Hooks::default()
        {
            toml = as_text(&experiment);
        }
        let cpus = crate::trial::cpus::allowed().len();
        let plan = make_plan(&experiment, workload.as_ref(), cpus, draw_seed());
        let plan = plan.map_err(|e| match origin {
            None => LabError::Plan(e),
            Some((file, text)) => {
                let path: Vec<&str> = e.path.iter().map(String::as_str).collect();
                FileError::at(file, text, &path, e.message, e.help).into()
            }
        })?;
        Ok(PreparedExperiment { experiment, toml, workload, plan })
    }
}

/// Serializes an experiment as the text of its file.
pub(crate) fn as_text(experiment: &Experiment) -> String {
    toml::to_string_pretty(experiment)
        .unwrap_or_else(|e| format!("# could not be written as TOML: {e}\n"))
}

/// Draws a random seed, which the plan records.
pub(crate) fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() >> 16
}

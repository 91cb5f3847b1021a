//! The plan: the ordered list of trials that the design makes of an experiment.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Scalar, WorkloadSpec};

/// One control at one level. `control` is the control's name; `key` selects one of its settings (a
/// sysctl's name, an environment variable) where the control has several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Name of the control (`cpus`, `sched`, `sysctl`, `env`).
    pub control: String,
    /// Key of the setting; empty where the control has only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// Level that is set.
    pub value: Scalar,
}

/// One combination of levels of the factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Treatment {
    /// Number in the plan, from 0.
    pub id: u32,
    /// Levels of the treatment by factor, which identify it. Empty when there are no factors.
    pub levels: BTreeMap<String, Scalar>,
    /// Labels of the levels by factor, where they differ from `factor=level`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// All parameters of the workload, with defaults filled in.
    pub params: BTreeMap<String, Scalar>,
    /// All controls to set, fixed ones first.
    pub controls: Vec<Setting>,
}

impl Treatment {
    /// Returns the label for tables, charts and posts: `processes=2, buffer=4096`, with the labels
    /// of levels that have one, or `-` when there are no factors.
    pub fn label(&self) -> String {
        self.parts(|factor, level| {
            self.names.get(factor).cloned().unwrap_or_else(|| named(factor, level))
        })
    }

    /// Returns the label with every level in full, which also distinguishes treatments of different
    /// runs.
    pub fn key(&self) -> String {
        self.parts(named)
    }

    /// Returns the beginning of a sentence about the treatment: `treatment level=3: `, or an empty
    /// text when there are no factors.
    pub fn prefix(&self) -> String {
        if self.levels.is_empty() {
            return String::new();
        }
        format!("treatment {}: ", self.label())
    }

    fn parts(&self, of: impl Fn(&str, &Scalar) -> String) -> String {
        if self.levels.is_empty() {
            return "-".to_owned();
        }
        self.levels.iter().map(|(k, v)| of(k, v)).collect::<Vec<_>>().join(", ")
    }
}

fn named(factor: &str, level: &Scalar) -> String {
    format!("{}={level}", factor.strip_prefix("controls.").unwrap_or(factor))
}

/// One trial of the plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedTrial {
    /// Number of the trial, from 1, in the order of execution.
    pub number: u32,
    /// Block of the trial, from 0.
    pub block: u32,
    /// Id of the treatment.
    pub treatment: u32,
    /// True for a warm-up, which is run and recorded but never compared.
    pub warmup: bool,
    /// Number of the revision's build that runs, from 1, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// Host of the block, where hosts are replicates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Parameters that replace the treatment's in this trial. Only warm-ups, and trials of several
    /// builds, have any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Scalar>,
}

impl PlannedTrial {
    /// Returns the parameters of this trial, given its treatment's.
    pub fn params<'a>(
        &self,
        treatment: &'a BTreeMap<String, Scalar>,
    ) -> Cow<'a, BTreeMap<String, Scalar>> {
        if self.params.is_empty() {
            return Cow::Borrowed(treatment);
        }
        let mut all = treatment.clone();
        all.extend(self.params.clone());
        Cow::Owned(all)
    }
}

/// Plan of a run: its workload, treatments and trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub schema_version: u32,
    /// Description of the workload when the plan was made.
    pub workload: WorkloadSpec,
    /// Seed of the shuffles.
    pub seed: u64,
    /// Factors in the order in which their levels are shown.
    pub factors: Vec<String>,
    /// All treatments of the run.
    pub treatments: Vec<Treatment>,
    /// Id of the treatment that the others are compared with.
    pub baseline: u32,
    /// Name of the deciding metric.
    pub metric: String,
    /// Trials in order of execution. A stop rule may end the run before the last; an open number of
    /// blocks may be extended once, which the ledger records.
    pub trials: Vec<PlannedTrial>,
}

impl Plan {
    /// Returns the treatment with this id.
    pub fn treatment(&self, id: u32) -> Option<&Treatment> {
        self.treatments.iter().find(|t| t.id == id)
    }
}

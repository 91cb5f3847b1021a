//! The plan: the ordered list of trials that a design makes of an experiment.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Scalar, WorkloadSpec};

/// One control at one level: `control` is the control's name, `key` what of it (a sysctl's name, an
/// environment variable) where the control has more than one knob.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// The control (`cpus`, `sched`, `sysctl`, `env`).
    pub control: String,
    /// Which of its knobs; empty where it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// The level to set.
    pub value: Scalar,
}

/// One combination of levels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Treatment {
    /// Its number in the plan, from 0.
    pub id: u32,
    /// What names it: its levels of the factors, by factor. Empty when nothing differs.
    pub levels: BTreeMap<String, Scalar>,
    /// What its levels are called, by factor, where that is not `factor=level`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, String>,
    /// Every parameter of the workload, with defaults filled in.
    pub params: BTreeMap<String, Scalar>,
    /// Every control to set, fixed ones first.
    pub controls: Vec<Setting>,
}

impl Treatment {
    /// What it is called in tables, charts and posts: `processes=2, buffer=4096`, the levels' own labels where they
    /// have some, or `-` when nothing differs.
    pub fn label(&self) -> String {
        self.parts(|factor, level| {
            self.names.get(factor).cloned().unwrap_or_else(|| named(factor, level))
        })
    }

    /// The same with every level in full, which also tells treatments of different runs apart.
    pub fn key(&self) -> String {
        self.parts(named)
    }

    /// What a sentence about it begins with: `treatment level=3: `, or nothing where there is no other.
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
    /// Its number, from 1, in the order of execution.
    pub number: u32,
    /// Its block, from 0.
    pub block: u32,
    /// The treatment's id.
    pub treatment: u32,
    /// Whether it is a warm-up: run and recorded, never compared.
    pub warmup: bool,
    /// The build of its revision that runs, from 1, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<u32>,
    /// Parameters that take the place of the treatment's in this trial. Only warm-ups, and trials of several builds,
    /// have any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Scalar>,
}

impl PlannedTrial {
    /// The parameters that it runs with, given its treatment's.
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

/// The plan of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The version of this format.
    pub schema_version: u32,
    /// The workload as it described itself when the plan was made.
    pub workload: WorkloadSpec,
    /// The seed of the shuffles.
    pub seed: u64,
    /// The factors in the order in which their levels are shown.
    pub factors: Vec<String>,
    /// The treatments.
    pub treatments: Vec<Treatment>,
    /// The treatment that the others are compared with.
    pub baseline: u32,
    /// The metric that decides.
    pub metric: String,
    /// The trials in order. A stop rule may end the run before the last; an open number of blocks
    /// may be extended once, which the ledger records.
    pub trials: Vec<PlannedTrial>,
}

impl Plan {
    /// The treatment of that id.
    pub fn treatment(&self, id: u32) -> Option<&Treatment> {
        self.treatments.iter().find(|t| t.id == id)
    }
}

//! `nodes.json`, kept with every trial of a run on several nodes: each node's own result on the
//! collector's clock, and how they were merged.

use assay_model::{
    Exit, MetricValue, Outcome, PhaseMark, ResourceUse, SCHEMA_VERSION, ValidationResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::message::NodePart;
use crate::phases::Coincidence;

/// The file's name.
pub const NODES: &str = "nodes.json";

/// What a node did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Did {
    /// It ran the workload.
    Ran,
    /// It ran the workload's server for the others; its metrics are not in the sums.
    Served,
    /// It had processes of the program that the first node ran over all of them.
    #[serde(rename = "lent")]
    Followed,
}

/// One node's part of a trial. Times are ns of the collector's `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEntry {
    /// Slurm's name of the node; with several tasks on a node, a dot and the task's number on it.
    pub node: String,
    /// The host's own name.
    pub host: String,
    /// What it did.
    pub did: Did,
    /// How its part ended.
    pub outcome: Outcome,
    /// What went wrong there; empty when nothing did.
    pub error: String,
    /// How its program ended.
    pub exit: Option<Exit>,
    /// When its program was started.
    pub start_ns: u64,
    /// When it ended.
    pub end_ns: u64,
    /// Its phases.
    pub phases: Vec<PhaseMark>,
    /// Its metrics.
    pub metrics: Vec<MetricValue>,
    /// What it used.
    pub resources: Option<ResourceUse>,
    /// What validation found.
    pub validation: ValidationResult,
    /// Its clock before and after.
    pub clock: Clock,
}

impl NodeEntry {
    pub(crate) fn of(part: &NodePart) -> Self {
        let record = &part.part.record;
        let here = |t_ns| part.clock.here(t_ns);
        NodeEntry {
            node: part.name.clone(),
            host: part.host.clone(),
            did: part.did,
            outcome: record.outcome,
            error: record.error.clone(),
            exit: record.exit,
            start_ns: here(record.start_ns),
            end_ns: here(record.end_ns),
            phases: record
                .phases
                .iter()
                .map(|p| PhaseMark { phase: p.phase, t_ns: here(p.t_ns) })
                .collect(),
            metrics: record.metrics.clone(),
            resources: record.resources,
            validation: record.validation.clone(),
            clock: part.clock,
        }
    }

    /// The measurement window.
    pub(crate) fn window(&self) -> (u64, u64) {
        let steady = self.phases.iter().position(|p| p.phase == assay_model::Phase::Steady);
        steady.map_or((self.start_ns, self.end_ns), |i| {
            (self.phases[i].t_ns, self.phases.get(i + 1).map_or(self.end_ns, |p| p.t_ns))
        })
    }
}

/// How a metric of the trial was made of the nodes'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedMetric {
    /// The metric.
    pub metric: String,
    /// The rule, in words.
    pub rule: String,
}

/// What the harness took for a trial, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Took {
    /// From the request for the job to the last agent that came, which the job's first trial waited for.
    pub start_ns: u64,
    /// Looking at every clock before and after.
    pub looks_ns: u64,
    /// From the order to the last node that was prepared: the barrier.
    pub barrier_ns: u64,
    /// From the common beginning to the last part that came, the program's own time included.
    pub run_ns: u64,
    /// Making one record of the parts.
    pub merge_ns: u64,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodesFile {
    /// The version of this format.
    pub schema_version: u32,
    /// What ran the nodes (`slurm`, `vm`).
    pub engine: String,
    /// The job's id there.
    pub job: String,
    /// The nodes whose part came.
    pub nodes: Vec<NodeEntry>,
    /// How far their steady phases coincide; `null` when no program ran.
    pub coincidence: Option<Coincidence>,
    /// How each metric was merged.
    pub merged: Vec<MergedMetric>,
    /// What the harness took.
    pub took: Took,
}

impl NodesFile {
    pub(crate) fn new(engine: &str, job: &str, nodes: Vec<NodeEntry>) -> Self {
        NodesFile {
            schema_version: SCHEMA_VERSION,
            engine: engine.to_owned(),
            job: job.to_owned(),
            nodes,
            coincidence: None,
            merged: Vec::new(),
            took: Took::default(),
        }
    }
}

//! The file `nodes.json`, kept with every trial on several nodes: each node's own result on the
//! collector's clock, and the rules by which they were merged.

use assay_model::{
    Exit, MetricValue, PhaseMark, ResourceUse, SCHEMA_VERSION, TrialOutcome, ValidationResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::message::{NodePart, NodeRole};

/// Name of the file.
pub const NODES: &str = "nodes.json";

/// Overlap of the steady phases of the nodes that ran the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyOverlap {
    /// Time from the first start of a steady phase to the last, ns.
    pub begin_spread_ns: u64,
    /// Time from the first end of a steady phase to the last, ns.
    pub end_spread_ns: u64,
    /// Maximum error of both, from the worst node's clock, ns.
    pub error_ns: u64,
    /// Node whose steady phase started last.
    pub last_to_begin: String,
    /// Node whose steady phase ended first.
    pub first_to_end: String,
    /// Share of the longest steady phase during which all nodes were in theirs, 0 to 1.
    pub common: f64,
    /// True if the programs reported their phases; else the whole run of each program is used.
    pub declared: bool,
    /// Bound on the spread from the experiment, ns.
    pub bound_ns: u64,
}

/// Part of one node in a trial. Times are ns of the collector's `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeEntry {
    /// Slurm's name of the node; with several tasks on a node, a dot and the task's number on it.
    pub node: String,
    /// Host name of the machine.
    pub host: String,
    /// Role of the node in the trial.
    pub did: NodeRole,
    /// Outcome of the node's part.
    pub outcome: TrialOutcome,
    /// Error of the node's part; empty without one.
    pub error: String,
    /// Exit code or signal of its program.
    pub exit: Option<Exit>,
    /// Time at which its program was started.
    pub start_ns: u64,
    /// Time at which its program ended.
    pub end_ns: u64,
    /// Phases of its program.
    pub phases: Vec<PhaseMark>,
    /// Metrics of the node alone.
    pub metrics: Vec<MetricValue>,
    /// Resources that its program used.
    pub resources: Option<ResourceUse>,
    /// Result of validating its output.
    pub validation: ValidationResult,
    /// Offsets of its clock before and after the trial.
    pub clock: Clock,
}

impl NodeEntry {
    pub(crate) fn from_part(part: &NodePart) -> Self {
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

    /// Returns the measurement window.
    pub(crate) fn window(&self) -> (u64, u64) {
        let steady = self.phases.iter().position(|p| p.phase == assay_model::Phase::Steady);
        steady.map_or((self.start_ns, self.end_ns), |i| {
            (self.phases[i].t_ns, self.phases.get(i + 1).map_or(self.end_ns, |p| p.t_ns))
        })
    }
}

/// Rule by which a metric of the trial was merged from the nodes' values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergedMetric {
    /// Name of the metric.
    pub metric: String,
    /// The merge rule in words.
    pub rule: String,
}

/// Times that the harness took for a trial, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HarnessTimes {
    /// From the request for the job to the last agent that connected, which the job's first trial
    /// waited for.
    pub start_ns: u64,
    /// Measuring the offset of every clock before and after the trial.
    pub looks_ns: u64,
    /// The barrier: from the request for the trial to the last node that was prepared.
    pub barrier_ns: u64,
    /// From the common start to the last part that arrived, including the program's own time.
    pub run_ns: u64,
    /// Merging the parts into one record.
    pub merge_ns: u64,
}

/// The file `nodes.json` of a trial on several nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodesFile {
    /// Version of this format.
    pub schema_version: u32,
    /// Engine that ran the nodes (`slurm`, `vm`).
    pub engine: String,
    /// Id of the job in that engine.
    pub job: String,
    /// Nodes whose part arrived.
    pub nodes: Vec<NodeEntry>,
    /// Overlap of the nodes' steady phases; `null` when no program ran.
    pub coincidence: Option<SteadyOverlap>,
    /// Merge rule of each metric.
    pub merged: Vec<MergedMetric>,
    /// Times that the harness took for the trial.
    pub took: HarnessTimes,
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
            took: HarnessTimes::default(),
        }
    }
}

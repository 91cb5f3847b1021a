//! Messages between the collector and its agents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{
    Observation, Plan, PlannedTrial, SampleRow, SampleSet, Scalar, SeriesKey, SystemDescription,
    TrialRecord,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::wire::Bytes;

/// Role of a node in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NodeRole {
    /// The node ran the workload.
    Ran,
    /// The node ran the workload's server for the others; its metrics are not in the sums.
    Served,
    /// The node hosted processes of the program that the first node ran over all nodes.
    #[serde(rename = "lent")]
    Followed,
}

/// Version of the protocol; both sides must have the same.
pub(crate) const PROTOCOL: u32 = 3;

/// First message of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// Version of the agent's assay.
    pub version: String,
    /// Secret that only agents of this job know.
    pub token: String,
    /// Number of the task in the job.
    pub rank: usize,
    /// Slurm's name of the node.
    pub node: String,
    /// Number of the task on its node.
    pub local: usize,
    /// Host name of the machine.
    pub host: String,
    /// Process id of the agent.
    pub pid: u32,
    /// Id of the job, from the agent's environment.
    pub job: String,
}

/// Settings that are the same for all trials of the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The experiment as TOML.
    pub experiment: String,
    /// The plan without its trials.
    pub plan: Plan,
    /// True if the programs' output is kept.
    pub keep_output: bool,
    /// Number of agents on each node.
    pub tasks_per_node: usize,
    /// Name of the agent's node in the job; set for each agent.
    #[serde(default)]
    pub name: String,
    /// The archive's key for hashing the values of environment variables, in hexadecimal; empty
    /// without a key.
    #[serde(default)]
    pub key: String,
    /// Files to look for, to detect shared folders.
    #[serde(default)]
    pub look_for: Vec<PathBuf>,
}

/// Findings of an agent during setup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetUp {
    /// Description of the node's system.
    pub system: SystemDescription,
    /// Observations that speak against measuring on the node.
    pub fitness: Vec<Observation>,
    /// For each file in `look_for`: true if the agent can see it.
    #[serde(default)]
    pub sees: Vec<bool>,
}

/// Role of an agent in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRole {
    /// Runs the workload itself.
    Run,
    /// Runs the workload's server for the other nodes.
    Server,
    /// Runs the workload against a server on another node, with these parameters.
    Client(BTreeMap<String, Scalar>),
    /// Starts the workload's only program, which spans all nodes.
    Leader,
    /// Prepares its node for the processes of that program, and monitors it meanwhile.
    Follower,
}

/// A running server, with the parameters that its clients need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// Parameters that replace the treatment's on all clients.
    pub params: BTreeMap<String, Scalar>,
    /// Additional parameters for each client, by index; may be empty.
    #[serde(default)]
    pub each: Vec<BTreeMap<String, Scalar>>,
    /// True if the server has work left when its clients are done, and then ends by itself.
    #[serde(default)]
    pub finishes: bool,
}

impl Served {
    /// Returns the parameters of the client with this number, from 0.
    pub(crate) fn params_of(&self, number: usize) -> BTreeMap<String, Scalar> {
        let mut params = self.params.clone();
        params.extend(self.each.get(number).cloned().unwrap_or_default());
        params
    }
}

/// Request to run one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRequest {
    /// The trial in the plan.
    pub planned: PlannedTrial,
    /// Number of the attempt at this trial.
    pub attempt: u32,
}

/// An agent's part of a trial's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialPart {
    /// Record as a single machine would have written it, in times of the agent's own clock.
    pub record: TrialRecord,
    /// Kept part of standard output.
    pub stdout: Bytes,
    /// Kept part of standard error.
    pub stderr: Bytes,
    /// Samples of the node's monitors.
    pub samples: Option<Samples>,
    /// Files that the workload left, with their names.
    pub kept: Vec<(String, Bytes)>,
}

/// Samples in a message. The rows are binary, since JSON has no NaN.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    series: Vec<SeriesKey>,
    rows: Bytes,
}

/// Bytes of a row: its time, its series and its value, little-endian.
const ROW: usize = 20;

impl From<&SampleSet> for Samples {
    fn from(set: &SampleSet) -> Self {
        let mut rows = Vec::with_capacity(set.rows.len() * ROW);
        for row in &set.rows {
            rows.extend_from_slice(&row.t_ns.to_le_bytes());
            rows.extend_from_slice(&row.series.to_le_bytes());
            rows.extend_from_slice(&row.value.to_le_bytes());
        }
        Samples { series: set.series.clone(), rows: Bytes(rows) }
    }
}

impl Samples {
    /// Decodes the samples, without rows of unknown series.
    pub fn set(&self) -> SampleSet {
        fn field<const N: usize>(row: &[u8], at: usize) -> [u8; N] {
            row[at..at + N].try_into().expect("a row has its bytes")
        }
        let rows = self.rows.0.chunks_exact(ROW).map(|row| SampleRow {
            t_ns: u64::from_le_bytes(field(row, 0)),
            series: u32::from_le_bytes(field(row, 8)),
            value: f64::from_le_bytes(field(row, 12)),
        });
        let known = self.series.len();
        let rows = rows.filter(|r| (r.series as usize) < known).collect();
        SampleSet { series: self.series.clone(), rows }
    }
}

/// An agent's part, with its node and the state of its clock.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePart {
    /// Name of the node in this run; with several agents per node, also the agent's number.
    pub name: String,
    /// Host name of the machine.
    pub host: String,
    /// Role that the node had.
    pub did: NodeRole,
    pub part: TrialPart,
    /// Offsets of its clock before and after the trial.
    pub clock: crate::Clock,
}

/// Messages to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AgentMessage {
    Setup(Box<Setup>),
    Ping(u64),
    Trial(Box<TrialRequest>, AgentRole),
    /// Start at this time of the agent's own monotonic clock.
    Go(u64),
    /// The server's clients are done; they started at this time of the agent's own monotonic clock.
    Done(u64),
    /// End the trial now.
    Stop,
    /// No more trials will follow.
    Bye,
}

/// Messages from an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CollectorMessage {
    Hello(Hello),
    SetUp(Box<SetUp>),
    /// The agent cannot do its part, with the reason.
    Refuse(String),
    /// Response to a ping: its number, the agent's monotonic clock, and its wall clock.
    Pong(u64, u64, i64),
    /// The server that the agent runs accepts requests.
    Serves(Served),
    /// The trial is prepared.
    Ready,
    Part(Box<TrialPart>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_they_went_missing_ones_too() {
        let key = |field: &str| SeriesKey {
            monitor: "cpu".into(),
            subject: "all".into(),
            field: field.into(),
            unit: "%".into(),
        };
        let row = |t_ns, series, value| SampleRow { t_ns, series, value };
        let set = SampleSet {
            series: vec![key("user"), key("system")],
            rows: vec![row(1, 0, 0.1), row(1, 1, f64::NAN)],
        };
        let text = serde_json::to_string(&Samples::from(&set)).unwrap();
        let mut back: Samples = serde_json::from_str(&text).unwrap();
        assert_eq!(back.set().rows[0], set.rows[0]);
        assert!(back.set().rows[1].value.is_nan());
        back.series.pop();
        assert_eq!(back.set().rows.len(), 1, "a row of no series is none");
    }
}

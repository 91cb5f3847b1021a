//! What the collector and its agents say to each other.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::{
    Observation, Plan, PlannedTrial, SampleRow, SampleSet, Scalar, SeriesKey, SystemDescription,
    TrialRecord,
};
use serde::{Deserialize, Serialize};

use crate::nodes_file::Did;
use crate::wire::Bytes;

/// The version of the protocol; both sides must have the same.
pub(crate) const PROTOCOL: u32 = 3;

/// The first word of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of assay.
    pub version: String,
    /// What only an agent of this job knows.
    pub token: String,
    /// The task's number in the job.
    pub rank: usize,
    /// Slurm's name of the node.
    pub node: String,
    /// The task's number on its node.
    pub local: usize,
    /// The host's own name.
    pub host: String,
    /// The agent's process.
    pub pid: u32,
    /// The job's id, from the agent's environment.
    pub job: String,
}

/// What stays the same for all trials of the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The experiment, as TOML.
    pub experiment: String,
    /// The plan, without its trials.
    pub plan: Plan,
    /// Whether the programs' output is kept.
    pub keep_output: bool,
    /// How many agents share a node.
    pub tasks_per_node: usize,
    /// Which node of the job the agent is on; filled in for each.
    #[serde(default)]
    pub name: String,
    /// The archive's key, with which values of environment variables are hashed: hexadecimal; empty
    /// where there is none.
    #[serde(default)]
    pub key: String,
    /// Files to look for, to see whether folders are shared.
    #[serde(default)]
    pub look_for: Vec<PathBuf>,
}

/// What an agent found when it set up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetUp {
    /// Its node.
    pub system: SystemDescription,
    /// What speaks against measuring there.
    pub fitness: Vec<Observation>,
    /// Which of the files to look for it sees.
    #[serde(default)]
    pub sees: Vec<bool>,
}

/// What an agent does in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs the workload.
    Run,
    /// Runs the workload's server for the others.
    Server,
    /// Runs the workload against a server on another node, by these parameters.
    Client(BTreeMap<String, Scalar>),
    /// Starts the workload's one program over all nodes.
    Leader,
    /// Makes ready for the processes of that program, and looks after its machine meanwhile.
    Follower,
}

/// Where a server is, and how its clients reach it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// Parameters that take the place of the treatment's on the clients.
    pub params: BTreeMap<String, Scalar>,
    /// More of them for each client; none: there are no more.
    #[serde(default)]
    pub each: Vec<BTreeMap<String, Scalar>>,
    /// Whether it has work left when its clients are done, and ends by itself after that.
    #[serde(default)]
    pub finishes: bool,
}

impl Served {
    /// What the client of this number has, from 0.
    pub(crate) fn of(&self, number: usize) -> BTreeMap<String, Scalar> {
        let mut params = self.params.clone();
        params.extend(self.each.get(number).cloned().unwrap_or_default());
        params
    }
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRequest {
    /// Its place in the plan.
    pub planned: PlannedTrial,
    /// Which attempt at it.
    pub attempt: u32,
}

/// An agent's part of a trial's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The record as a single machine would have written it, on the agent's own clock.
    pub record: TrialRecord,
    /// What was kept of standard output.
    pub stdout: Bytes,
    /// What was kept of standard error.
    pub stderr: Bytes,
    /// Samples.
    pub samples: Option<Samples>,
    /// Files that the workload left.
    pub kept: Vec<(String, Bytes)>,
}

/// Samples in a message: JSON has no NaN, so the rows are bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    series: Vec<SeriesKey>,
    rows: Bytes,
}

/// Bytes of a row: its time, its series, its value, little-endian.
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
    /// The samples; rows of series that are not there are left out.
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

/// A part, whose it is, and how its clock stood.
#[derive(Debug, Clone, PartialEq)]
pub struct NodePart {
    /// The node as it is called here; with several agents on it, which of them.
    pub name: String,
    /// The host's own name.
    pub host: String,
    /// What it did.
    pub did: Did,
    /// The part.
    pub part: Part,
    /// Its clock before the trial and after it.
    pub clock: crate::Clock,
}

/// To an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToAgent {
    Setup(Box<Setup>),
    Ping(u64),
    Trial(Box<TrialRequest>, Role),
    /// Begin at this time of the agent's own monotonic clock.
    Go(u64),
    /// The server's clients are done; they began at this time of the agent's own monotonic clock.
    Done(u64),
    /// End the trial now.
    Stop,
    /// There is nothing more to do.
    Bye,
}

/// From an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ToCollector {
    Hello(Hello),
    SetUp(Box<SetUp>),
    /// It cannot do its part, and why.
    Refuse(String),
    /// The answer to a ping: its number, the agent's monotonic clock, and its clock of the day.
    Pong(u64, u64, i64),
    /// The server that it runs answers.
    Serves(Served),
    /// The trial is prepared.
    Ready,
    Part(Box<Part>),
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

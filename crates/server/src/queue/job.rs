//! One experiment in the queue.

use assay_model::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a job is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It waits for its turn.
    #[default]
    Waiting,
    /// Its run goes on.
    Running,
    /// Its run came to its planned end.
    Completed,
    /// Its run could not start, ended early by its own rules, or measured nothing.
    Failed,
    /// Its run was cut off, by a crash, a reboot or a stop of the server; it can be resumed.
    Interrupted,
    /// A person called it off; a run that had begun can be resumed.
    Cancelled,
}

impl JobState {
    /// The state's name as written.
    pub fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Completed => "completed",
            JobState::Failed => "failed",
            JobState::Interrupted => "interrupted",
            JobState::Cancelled => "cancelled",
        }
    }

    /// Whether nothing more happens to the job by itself.
    pub fn is_over(self) -> bool {
        !matches!(self, JobState::Waiting | JobState::Running)
    }
}

/// A process, distinguished from every other one that ever had its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// When it started, in ticks since boot.
    pub start_ticks: u64,
    /// The boot that it lives in.
    pub boot_id: String,
}

impl From<assay_system::Owner> for Process {
    fn from(o: assay_system::Owner) -> Self {
        Process { pid: o.pid, start_ticks: o.start_ticks, boot_id: o.boot_id }
    }
}

impl From<&Process> for assay_system::Owner {
    fn from(p: &Process) -> Self {
        assay_system::Owner { pid: p.pid, start_ticks: p.start_ticks, boot_id: p.boot_id.clone() }
    }
}

/// One experiment in the queue, as its file holds it. Unknown fields are ignored: earlier versions wrote `scheduled`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// The version of the format.
    pub schema_version: u32,
    /// Its number.
    pub id: u64,
    /// The experiment's name.
    pub experiment: String,
    /// The experiment's title; may be empty.
    pub title: String,
    /// The workload's name.
    pub workload: String,
    /// What was changed in the experiment, as `NAME=VALUE`.
    pub changes: Vec<String>,
    /// How many trials were planned when it was submitted.
    pub trials: u64,
    /// When it was submitted: ISO 8601, UTC.
    pub submitted_at: String,
    /// A word about who submitted it, as they gave it; may be empty.
    pub submitted_by: String,
    /// Where it stands among those that wait: the smallest is next.
    pub order: i64,
    /// It does not start before this time: ISO 8601, UTC.
    pub not_before: Option<String>,
    /// Where it is in its life.
    pub state: JobState,
    /// Whether a person asked for its end.
    pub cancel: bool,
    /// Its run, once it is registered.
    pub run: Option<RunId>,
    /// The process that runs it.
    pub process: Option<Process>,
    /// When its run was started (last).
    pub started_at: Option<String>,
    /// When it was over.
    pub ended_at: Option<String>,
    /// The exit code of `assay run`; `null` when it is not known.
    pub exit: Option<i32>,
    /// Why it ended, as a sentence; empty before.
    pub reason: String,
}

impl Job {
    /// The end of its run as a sentence, without the full stop.
    pub fn ending(&self) -> String {
        let reason =
            self.reason.replace("the plan is done", &format!("all {} trials ran", self.trials));
        let state = match self.state {
            JobState::Completed => "Finished".to_owned(),
            state => format!("The run is {}", state.name()),
        };
        if reason.is_empty() { state } else { format!("{state}: {reason}") }
    }

    /// Whether it can be taken up again.
    pub fn can_resume(&self) -> bool {
        self.state == JobState::Interrupted
            || (self.run.is_some() && matches!(self.state, JobState::Cancelled | JobState::Failed))
    }
}

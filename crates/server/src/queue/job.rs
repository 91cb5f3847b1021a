//! Job of the queue: one experiment to run.

use assay_model::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// The job waits for its turn.
    #[default]
    Waiting,
    /// The run is in progress.
    Running,
    /// The run reached its planned end.
    Completed,
    /// The run could not start, ended early by its own rules, or measured nothing.
    Failed,
    /// The run was cut off by a crash, a reboot or a stop of the server. It can be resumed.
    Interrupted,
    /// A person cancelled the job. If its run had started, it can be resumed.
    Cancelled,
}

assay_model::names! {
    /// Returns the name of the state as it is serialized.
    pub JobState::name: Waiting = "waiting", Running = "running", Completed = "completed",
        Failed = "failed", Interrupted = "interrupted", Cancelled = "cancelled"
}

impl JobState {
    /// Returns true if the job has ended, so that its state changes only if a person resumes it.
    pub fn is_over(self) -> bool {
        !matches!(self, JobState::Waiting | JobState::Running)
    }
}

/// Process, identified beyond its id, because ids are reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    /// Id of the process.
    pub pid: u32,
    /// Start time, in clock ticks since boot.
    pub start_ticks: u64,
    /// Id of the boot during which the process started.
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

/// Job of the queue, as its file stores it. Unknown fields are ignored: earlier versions wrote
/// `scheduled`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// Version of the file format.
    pub schema_version: u32,
    /// Number of the job.
    pub id: u64,
    /// Name of the experiment.
    pub experiment: String,
    /// Title of the experiment; may be empty.
    pub title: String,
    /// Name of the workload.
    pub workload: String,
    /// Changes to the experiment, such as `NAME=VALUE`.
    pub changes: Vec<String>,
    /// Number of trials that were planned when the job was submitted.
    pub trials: u64,
    /// Time of submission: ISO 8601, UTC.
    pub submitted_at: String,
    /// Name of the submitter, as given; may be empty.
    pub submitted_by: String,
    /// Position among the waiting jobs: the smallest value is next.
    pub order: i64,
    /// Time before which the job does not start: ISO 8601, UTC.
    pub not_before: Option<String>,
    /// Current state of the job.
    pub state: JobState,
    /// True if a person cancelled the job while its run was in progress.
    pub cancel: bool,
    /// Id of the job's run, once it is registered.
    pub run: Option<RunId>,
    /// Process of the run that is in progress.
    pub process: Option<Process>,
    /// Time when the run was started or last resumed.
    pub started_at: Option<String>,
    /// Time when the job ended.
    pub ended_at: Option<String>,
    /// Exit code of `assay run`; `null` if it is unknown.
    pub exit: Option<i32>,
    /// Reason why the job ended, as a sentence; empty before.
    pub reason: String,
}

impl Job {
    /// Returns a sentence about the end of the run, without the full stop.
    pub fn ending(&self) -> String {
        let state = match self.state {
            JobState::Completed => "Finished".to_owned(),
            state => format!("The run is {}", state.name()),
        };
        if self.reason.is_empty() { state } else { format!("{state}: {}", self.reason) }
    }

    /// Returns true if the job can be resumed.
    pub fn can_resume(&self) -> bool {
        self.state == JobState::Interrupted
            || (self.run.is_some() && matches!(self.state, JobState::Cancelled | JobState::Failed))
    }
}

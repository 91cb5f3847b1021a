//! Errors that prevent a run on several nodes. Failures of a single trial are in its record.

use std::io;
use std::path::PathBuf;

/// Result of a step of a run on several nodes or in a virtual machine.
pub(crate) type Result<T, E = ClusterError> = std::result::Result<T, E>;

/// Error that prevents a run on several nodes or in a virtual machine.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// A command of Slurm could not be started.
    #[error(
        "cannot start `{program}`: {source}; runs on Slurm need its commands on PATH (Debian \
         package slurm-client)"
    )]
    Start { program: String, source: io::Error },
    /// A step of a job did not end in time.
    #[error("the step {id} is still there after {waited}")]
    StepRemains { id: String, waited: String },
    /// A command of Slurm failed.
    #[error("`{line}` failed ({status}): {message}")]
    Command {
        /// Command line with its arguments.
        line: String,
        status: String,
        /// Last lines of its output.
        message: String,
    },
    /// Slurm did not grant the request for a job.
    #[error("Slurm granted no job: {message}")]
    Refused {
        /// Last lines that `salloc` printed.
        message: String,
    },
    /// The job waited too long for its nodes.
    #[error(
        "the Slurm job {job} waited longer than {waited} for its nodes ({reason}); it was \
         cancelled. Raise `where.max_wait`, or ask for fewer nodes"
    )]
    Queue {
        job: String,
        /// Duration of the wait.
        waited: String,
        /// Reason as Slurm reports it.
        reason: String,
    },
    /// Some tasks of the job never started.
    #[error(
        "no agent of assay started on {} within {timeout} of the start of Slurm job {job}{hint} \
         (`where.start_timeout`)",
        which(nodes)
    )]
    NeverStarted {
        /// Id of the job.
        job: String,
        /// Nodes without an agent, if they are known.
        nodes: Vec<String>,
        /// Duration of the wait.
        timeout: String,
        /// Slurm's message, and a hint for the user.
        hint: String,
    },
    /// An agent could not set up the experiment.
    #[error("{who}: {why}")]
    SetUp {
        /// Name of the node.
        who: String,
        /// Reason that the agent gave.
        why: String,
    },
    /// A node was lost before any trial.
    #[error("{what}")]
    Lost {
        /// Description of the loss that names the node.
        what: String,
        /// The node, if it is known.
        nodes: Vec<String>,
    },
    /// The collector cannot listen for agents.
    #[error("cannot listen on {address}: {source}; choose another address as `where.listen`")]
    Listen {
        /// Address from the configuration.
        address: String,
        source: io::Error,
    },
    /// The note of a job, for cancelling it after a crash, cannot be kept.
    #[error("the list of jobs, `{}`, cannot be {doing}: {source} (the folder is chosen by \
        $ASSAY_STATE)", path.display())]
    Left {
        /// Path of the note.
        path: PathBuf,
        /// Failed operation as a participle, such as `written`.
        doing: &'static str,
        source: io::Error,
    },
    /// The system provided no random bytes.
    #[error("cannot read /dev/urandom: {0}")]
    Random(io::Error),
    /// A virtual machine could not be started.
    #[error("cannot start a virtual machine: {0}")]
    Vm(String),
    /// A virtual machine ended or timed out before its agent connected, or its agent could not set
    /// up.
    #[error("the virtual machine ({machine}) {what}")]
    Guest {
        /// Name of the machine in messages.
        machine: String,
        /// Description of the failure, with the end of its console.
        what: String,
    },
    /// `ssh` could not be started.
    #[error("cannot start `ssh`: {source} (Debian package openssh-client)")]
    Ssh { source: io::Error },
    /// The program for the agents cannot be read.
    #[error("cannot read `{}`, which hosts get a copy of: {source}", path.display())]
    Program { path: PathBuf, source: io::Error },
    /// A signal ended the start.
    #[error("interrupted by a signal")]
    Interrupted,
}

impl ClusterError {
    /// Returns the failed nodes, if nodes were the cause: a job without them may work.
    pub fn failed_nodes(&self) -> &[String] {
        match self {
            ClusterError::NeverStarted { nodes, .. } | ClusterError::Lost { nodes, .. } => nodes,
            _ => &[],
        }
    }
}

fn which(nodes: &[String]) -> String {
    match nodes {
        [] => "some of its nodes".to_owned(),
        [one] => format!("node {one}"),
        several => format!("nodes {}", several.join(", ")),
    }
}

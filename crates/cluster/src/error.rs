//! Why a run on several nodes did not come to be. What happens to a single trial is in its record.

use std::io;
use std::path::PathBuf;

/// The nodes could not be had, or not be talked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A command of Slurm could not be started.
    #[error(
        "start `{program}`: {source}; runs on Slurm need its commands on PATH (Debian package \
         slurm-client)"
    )]
    Start {
        /// Which.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// A command of Slurm failed.
    #[error("`{line}` failed ({status}): {message}")]
    Command {
        /// Its command line.
        line: String,
        /// Its exit.
        status: String,
        /// The end of its output.
        message: String,
    },
    /// No job came of the request.
    #[error("Slurm gave no job: {message}")]
    Refused {
        /// Its output.
        message: String,
    },
    /// The job waited too long.
    #[error(
        "the Slurm job {job} waited longer than {waited} for its nodes ({reason}); it was cancelled. Raise \
         `where.max_wait`, or ask for fewer nodes"
    )]
    Queue {
        /// Its id.
        job: String,
        /// How long it waited.
        waited: String,
        /// Slurm's reason.
        reason: String,
    },
    /// Some tasks of the job never started.
    #[error(
        "no agent of assay started on {} within {timeout} of the start of Slurm job {job}{hint} \
         (`where.start_timeout`)",
        which(nodes)
    )]
    NeverStarted {
        /// The job.
        job: String,
        /// Which nodes, as far as that is known.
        nodes: Vec<String>,
        /// How long was waited.
        timeout: String,
        /// Slurm's message, and what to look at.
        hint: String,
    },
    /// An agent could not set up the experiment.
    #[error("{who}: {why}")]
    SetUp {
        /// The node.
        who: String,
        /// Its output.
        why: String,
    },
    /// A node was lost before any trial.
    #[error("{what}")]
    Lost {
        /// What happened, with the node named.
        what: String,
        /// The node, where it is known.
        nodes: Vec<String>,
    },
    /// The collector cannot listen.
    #[error("listen on {address}: {source}; choose another address as `where.listen`")]
    Listen {
        /// Where.
        address: String,
        /// The system's error.
        source: io::Error,
    },
    /// The list of jobs to cancel after a crash cannot be kept.
    #[error("the list of jobs, `{}`, cannot be {doing}: {source} (the folder is chosen by $ASSAY_STATE)", path.display())]
    Left {
        /// The file.
        path: PathBuf,
        /// What was to be done.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("read /dev/urandom: {0}")]
    Random(io::Error),
    /// No virtual machine could be started.
    #[error("no virtual machine can be had: {0}")]
    Vm(String),
    /// A virtual machine did not get to its agent, or its agent could not set up.
    #[error("the virtual machine ({machine}) {what}")]
    Guest {
        /// Which.
        machine: String,
        /// What happened, with the end of its console.
        what: String,
    },
    /// A signal ended it.
    #[error("interrupted by a signal")]
    Interrupted,
}

impl ClusterError {
    /// The nodes that failed, when it was they that did: without them a job may do.
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

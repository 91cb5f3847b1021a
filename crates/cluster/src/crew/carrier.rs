//! What runs the agents: a job of Slurm, or a virtual machine.

use crate::ClusterError;
use crate::slurm::{Job, JobState};
use crate::vm::Guest;

#[derive(Debug)]
pub(super) enum Carrier {
    Job(Job),
    Guest(Guest),
}

impl Carrier {
    /// How Slurm sees its job; a virtual machine that is there runs.
    pub fn state(&self) -> Result<Option<JobState>, ClusterError> {
        match self {
            Carrier::Job(job) => job.state(),
            Carrier::Guest(_) => Ok(Some(JobState {
                id: "vm".into(),
                state: "RUNNING".into(),
                reason: String::new(),
                nodes: "vm".into(),
            })),
        }
    }

    /// The last words of what runs the agents.
    pub fn last_output(&self) -> String {
        match self {
            Carrier::Job(job) => job.last_output(),
            Carrier::Guest(guest) => guest.last_words(),
        }
    }

    /// Ends it; a sentence says that it may still be there.
    pub fn end(self, broken: bool) -> Option<String> {
        match self {
            Carrier::Job(job) => job.end(broken),
            Carrier::Guest(guest) => {
                drop(guest);
                None
            }
        }
    }
}

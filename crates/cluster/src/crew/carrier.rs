//! The job or virtual machine that runs the agents.

use crate::ClusterError;
use crate::slurm::{JobState, SlurmJob};
use crate::vm::Guest;

#[derive(Debug)]
pub(super) enum Carrier {
    Job(SlurmJob),
    Guest(Guest),
}

impl Carrier {
    /// Returns Slurm's state of the job; a virtual machine counts as running.
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

    /// Returns the last output of the job or machine.
    pub fn last_output(&self) -> String {
        match self {
            Carrier::Job(job) => job.last_output(),
            Carrier::Guest(guest) => guest.last_words(),
        }
    }

    /// Ends the job or machine. Returns a sentence if it may still exist.
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

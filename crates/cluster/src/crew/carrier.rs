//! The job, sessions or virtual machine that run the agents.

use crate::ClusterError;
use crate::slurm::{JobState, SlurmJob};
use crate::ssh::HostSession;
use crate::vm::Guest;

#[derive(Debug)]
pub(super) enum Carrier {
    Job(SlurmJob),
    Guest(Guest),
    Hosts(Vec<HostSession>),
}

impl Carrier {
    /// Returns Slurm's state of the job; hosts and virtual machines count as running.
    pub fn state(&self) -> Result<Option<JobState>, ClusterError> {
        let running = |id: &str, nodes: String| JobState {
            id: id.to_owned(),
            state: "RUNNING".into(),
            reason: String::new(),
            nodes,
        };
        match self {
            Carrier::Job(job) => job.state(),
            Carrier::Guest(_) => Ok(Some(running("vm", "vm".to_owned()))),
            Carrier::Hosts(hosts) => {
                let names: Vec<&str> = hosts.iter().map(|h| h.host.as_str()).collect();
                Ok(Some(running("ssh", names.join(","))))
            }
        }
    }

    /// Returns the last output of the job or machine.
    pub fn last_output(&self) -> String {
        match self {
            Carrier::Job(job) => job.last_output(),
            Carrier::Guest(guest) => guest.last_words(),
            Carrier::Hosts(hosts) => {
                let said = |h: &HostSession| Some(format!("{}: {}", h.host, h.last_words()?));
                let said: Vec<String> = hosts.iter().filter_map(said).collect();
                if said.is_empty() { crate::output::NO_OUTPUT.to_owned() } else { said.join("; ") }
            }
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
            Carrier::Hosts(hosts) => {
                let left: Vec<String> = hosts.into_iter().filter_map(|h| h.end(broken)).collect();
                (!left.is_empty()).then(|| left.join("; "))
            }
        }
    }
}

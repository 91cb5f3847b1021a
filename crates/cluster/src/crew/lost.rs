//! Diagnosis of a crew that lost agents, from Slurm's state of its job and nodes.

use std::time::{Duration, Instant};

use super::{AgentGroup, Carrier, GoneAgents, GroupLoss, LostTo};
use crate::slurm::nodes;
use crate::ssh::HostSession;
use crate::vm::Guest;

/// Maximum time until Slurm reports how an ending job ended: sites allow programs 30 s (`KillWait`)
/// between SIGTERM and SIGKILL.
const SETTLE: Duration = Duration::from_secs(60);

/// Maximum time for repeated queries of a controller that does not answer.
const BUSY: Duration = Duration::from_secs(6);

/// Maximum time for a virtual machine to end after its agent did.
const FALL: Duration = Duration::from_secs(3);

impl GroupLoss {
    /// Describes a virtual machine whose agent is gone or silent.
    fn guest(guest: &mut Guest, how: &str) -> Self {
        let began = Instant::now();
        while guest.ended().is_none() && guest.trouble().is_none() && began.elapsed() < FALL {
            std::thread::sleep(Duration::from_millis(50));
        }
        let what = match (guest.trouble(), guest.ended()) {
            (Some(trouble), _) => format!("failed: {trouble}"),
            (None, Some(status)) => format!("ended ({status})"),
            (None, None) => how.to_owned(),
        };
        GroupLoss {
            sentence: format!("the virtual machine {what}; {}", guest.last_words()),
            nodes: Vec::new(),
            to: LostTo::Failure,
        }
    }
}

impl AgentGroup {
    /// Describes the loss of agents with Slurm's state of the job and the nodes.
    pub(super) fn describe_loss(&mut self, gone: &GoneAgents) -> GroupLoss {
        self.broken = true;
        if let Some(Carrier::Guest(guest)) = &mut self.carrier {
            return GroupLoss::guest(guest, &gone.how);
        }
        if let Some(Carrier::Hosts(hosts)) = &self.carrier {
            let said = |i: &usize| {
                let name = &self.members[*i].name;
                let session = hosts.iter().find(|h| h.host == self.members[*i].hello.node);
                let words = session.and_then(HostSession::last_words);
                let words = words.map_or_else(String::new, |w| format!(" ({w})"));
                format!("host {name} {}{words}", gone.how)
            };
            let said: Vec<String> = gone.members.iter().map(said).collect();
            let nodes = gone.members.iter().map(|i| self.members[*i].hello.node.clone()).collect();
            return GroupLoss { sentence: said.join("; "), nodes, to: LostTo::Failure };
        }
        let names: Vec<String> = gone.members.iter().map(|i| self.node(*i)).collect();
        let mut lost: Vec<String> =
            gone.members.iter().map(|i| self.members[*i].hello.node.clone()).collect();
        let mut sentence = if names.is_empty() {
            format!("the agents {}", gone.how)
        } else {
            format!("{} {}", names.join(", "), gone.how)
        };
        let mut to = LostTo::Failure;
        // Slurm reports the end of a job a moment after that of its tasks.
        let began = Instant::now();
        let state = loop {
            let asked = self.carrier.as_ref().map_or(Ok(None), Carrier::state);
            // The reason for the end is known once the last task has ended; a busy controller is
            // queried again.
            let limit = match asked.as_ref().map(|s| s.as_ref().map(|s| s.state.as_str())) {
                Ok(Some("RUNNING")) => Duration::from_millis(1500),
                Ok(Some("COMPLETING")) => SETTLE,
                Err(_) => BUSY,
                Ok(_) => Duration::ZERO,
            };
            let state = asked.ok().flatten();
            if began.elapsed() >= limit {
                break state;
            }
            std::thread::sleep(Duration::from_millis(100));
        };
        match state.as_ref().map(|s| s.state.as_str()) {
            Some("CANCELLED") => to = LostTo::Cancelled,
            Some("TIMEOUT" | "DEADLINE") => to = LostTo::TimeLimit,
            _ => {}
        }
        if let Some(state) = &state {
            sentence = format!("{sentence}; the Slurm job {} is {}", state.id, state.state);
        }
        let mine: Vec<String> = self.members.iter().map(|m| m.hello.node.clone()).collect();
        for node in nodes(None, Some(&mine.join(","))).unwrap_or_default() {
            if !node.usable() && !sentence.contains(&format!("{} is {}", node.name, node.state)) {
                let why = if node.reason.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", node.reason)
                };
                sentence = format!("{sentence}; node {} is {}{why}", node.name, node.state);
                lost.push(node.name);
            }
        }
        lost.sort();
        lost.dedup();
        GroupLoss { sentence, nodes: lost, to }
    }
}

//! What became of a crew that is not whole any more: what Slurm says of its job and its nodes.

use std::time::{Duration, Instant};

use super::{Carrier, Crew, Gone, Lost, LostTo};
use crate::slurm::nodes;
use crate::vm::Guest;

/// How long a job that ends may take until Slurm says how it did: sites let programs 30 s (`KillWait`)
/// between SIGTERM and SIGKILL.
const SETTLE: Duration = Duration::from_secs(60);

/// How long a controller that does not answer is asked again.
const BUSY: Duration = Duration::from_secs(6);

/// How long a machine whose agent is gone may take to end.
const FALL: Duration = Duration::from_secs(3);

impl Lost {
    /// A virtual machine whose agent went or is silent.
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
        Lost {
            sentence: format!("the virtual machine {what}; {}", guest.last_words()),
            nodes: Vec::new(),
            to: LostTo::Failure,
        }
    }
}

impl Crew {
    /// What became of the crew, after somebody went: what Slurm says of the job and the nodes.
    pub(super) fn lost(&mut self, gone: &Gone) -> Lost {
        self.broken = true;
        if let Some(Carrier::Guest(guest)) = &mut self.carrier {
            return Lost::guest(guest, &gone.how);
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
        // The end of a job is known a moment after that of its tasks.
        let began = Instant::now();
        let state = loop {
            let asked = self.carrier.as_ref().map_or(Ok(None), Carrier::state);
            // How it ended is known when its last task has; a controller that is busy is asked
            // again.
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
        Lost { sentence, nodes: lost, to }
    }
}

//! Starts a crew: the job, an agent for every task, and their setup.

use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use assay_model::{ExecutionPlace, units};
use assay_system::Interrupt;

use super::{AgentGroup, AgentRequest, Carrier, GroupMember, LOOK};
use crate::ClusterError;
use crate::listen::AgentEvent;
use crate::message::{AgentMessage, CollectorMessage, Hello, PROTOCOL, Setup};
use crate::output::NO_OUTPUT;
use crate::slurm::{JobState, hostnames};

/// Interval between two queries of a waiting job.
const INQUIRE: Duration = Duration::from_millis(500);

impl AgentGroup {
    /// Waits until an agent of every task has connected.
    pub(super) fn gather(
        &mut self,
        request: &AgentRequest<'_>,
        port: u16,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), ClusterError> {
        let place = request.place;
        let wanted = (place.nodes * place.tasks_per_node) as usize;
        let (began, mut asked) = (Instant::now(), Instant::now());
        let (mut running, mut announced): (Option<Instant>, bool) = (None, false);
        let max_wait = units::duration_of(&place.max_wait).unwrap_or(Duration::MAX);
        let limit = units::duration_of(&place.start_timeout).unwrap_or(Duration::MAX);
        while self.members.len() < wanted {
            if request.interrupt.is_some_and(Interrupt::fired) {
                return Err(ClusterError::Interrupted);
            }
            match self.events.recv_timeout(LOOK) {
                Ok(AgentEvent::Connected(hello, stream)) => self.welcome(hello, stream, place)?,
                Ok(AgentEvent::Gone(rank, why)) => return Err(self.gone_early(rank, &why)),
                Ok(AgentEvent::Message(..)) | Err(_) => {}
            }
            let Some(Carrier::Job(job)) = &mut self.carrier else {
                return Err(ClusterError::Interrupted);
            };
            if job.ended().is_some() {
                return Err(ClusterError::Refused { message: job.last_output() });
            }
            if self.members.len() == wanted || asked.elapsed() < INQUIRE {
                continue;
            }
            asked = Instant::now();
            // A controller that does not answer now may answer later, until the wait is over.
            let Ok(Some(state)) = job.state() else {
                if running.is_none() && began.elapsed() > max_wait {
                    return Err(ClusterError::Queue {
                        job: self.id.clone(),
                        waited: units::format_duration(max_wait),
                        reason: "the controller does not report it".to_owned(),
                    });
                }
                continue;
            };
            self.id.clone_from(&state.id);
            if state.state == "PENDING" || state.state == "CONFIGURING" {
                if !announced && began.elapsed() > Duration::from_secs(2) {
                    say(&format!(
                        "the Slurm job {} waits for its nodes ({})",
                        state.id, state.reason
                    ));
                    announced = true;
                }
                if began.elapsed() > max_wait {
                    return Err(ClusterError::Queue {
                        job: state.id,
                        waited: units::format_duration(max_wait),
                        reason: state.reason,
                    });
                }
            } else if running.get_or_insert_with(Instant::now).elapsed() > limit {
                return Err(self.never_started(&state, request, port, limit));
            }
        }
        self.members.sort_by_key(|m| m.hello.rank);
        Ok(())
    }

    pub(super) fn welcome(
        &mut self,
        hello: Hello,
        stream: File,
        place: &ExecutionPlace,
    ) -> Result<(), ClusterError> {
        let here = env!("CARGO_PKG_VERSION");
        if hello.protocol != PROTOCOL || hello.version != here {
            return Err(ClusterError::SetUp {
                who: format!("node {}", hello.node),
                why: format!(
                    "its assay is {}, this one {here}; every node needs the same (`where.program`)",
                    hello.version
                ),
            });
        }
        if self.members.iter().any(|m| m.hello.rank == hello.rank) {
            return Ok(());
        }
        let name = if place.tasks_per_node > 1 {
            format!("{}.{}", hello.node, hello.local)
        } else {
            hello.node.clone()
        };
        self.id.clone_from(&hello.job);
        let stream = Arc::new(Mutex::new(stream));
        self.members.push(GroupMember { hello, name, stream, set_up: None });
        Ok(())
    }

    fn gone_early(&mut self, rank: usize, why: &str) -> ClusterError {
        let member = self.members.iter().find(|m| m.hello.rank == rank);
        let node =
            member.map_or_else(|| format!("of task {rank}"), |m| format!("on node {}", m.name));
        let output = self.carrier.as_ref().map(Carrier::last_output).unwrap_or_default();
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        ClusterError::Lost {
            what: format!("the agent {node} ended before it started{why}: {output}"),
            nodes: member.map(|m| m.hello.node.clone()).into_iter().collect(),
        }
    }

    fn never_started(
        &self,
        state: &JobState,
        request: &AgentRequest<'_>,
        port: u16,
        limit: Duration,
    ) -> ClusterError {
        let expected = hostnames(&state.nodes).unwrap_or_default();
        let here = |node: &String| self.members.iter().any(|m| m.hello.node == *node);
        let nodes = expected.into_iter().filter(|n| !here(n)).collect();
        let output = self.carrier.as_ref().map(Carrier::last_output).filter(|s| s != NO_OUTPUT);
        ClusterError::NeverStarted {
            job: state.id.clone(),
            nodes,
            timeout: units::format_duration(limit),
            hint: format!(
                "{}; is `{}` there, and can the node reach this one on port {port}?",
                output.map(|s| format!(" (Slurm's message: {s})")).unwrap_or_default(),
                request.exe.display()
            ),
        }
    }

    /// Sends `setup` to every agent and waits until all have set up, within `limit`.
    pub(super) fn set_up(
        &mut self,
        setup: &Setup,
        limit: Duration,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ClusterError> {
        for i in 0..self.members.len() {
            let setup = Setup { name: self.members[i].name.clone(), ..setup.clone() };
            self.tell(i, &AgentMessage::Setup(Box::new(setup)));
        }
        let began = Instant::now();
        while self.members.iter().any(|m| m.set_up.is_none()) {
            if interrupt.is_some_and(Interrupt::fired) {
                return Err(ClusterError::Interrupted);
            }
            match self.events.recv_timeout(LOOK) {
                Ok(AgentEvent::Message(rank, CollectorMessage::SetUp(set_up), _)) => {
                    if let Some(i) = self.index(rank) {
                        self.members[i].set_up = Some(*set_up);
                    }
                }
                Ok(AgentEvent::Message(rank, CollectorMessage::Refuse(why), _)) => {
                    let who = self.index(rank).map_or(String::new(), |i| self.node(i));
                    return Err(ClusterError::SetUp { who, why });
                }
                Ok(AgentEvent::Gone(rank, why)) => return Err(self.gone_early(rank, &why)),
                _ => {}
            }
            if began.elapsed() > limit {
                let late = self.members.iter().find(|m| m.set_up.is_none());
                let who = late.map_or(String::new(), |m| format!("node {}", m.name));
                let why = format!("it did not set up within {}", units::format_duration(limit));
                return Err(ClusterError::SetUp { who, why });
            }
        }
        Ok(())
    }
}

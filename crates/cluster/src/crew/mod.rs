//! The collector: starts a job, waits for its agents, and runs trial after trial on them.

mod boot;
mod carrier;
mod connect;
mod lost;
mod pulse;
mod start;
mod trial;

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use assay_model::ExecutionPlace;
use assay_system::Interrupt;
use assay_system::clock::monotonic_ns;

use crate::clock::{ClockReading, Pings, day_ns};
use crate::error::Result;
use crate::listen::{AgentEvent, Listener};
use crate::message::{AgentMessage, CollectorMessage, Hello, SetUp, Setup};
use crate::nodes_file::HarnessTimes;
use crate::slurm::{JobRequest, SlurmJob};
use crate::token::{ADDRESS, TOKEN, random_hex};
use crate::{ClusterError, wire};

pub use boot::Boot;
use carrier::Carrier;
pub use connect::Connect;

/// Interval between two checks for a signal while waiting.
const LOOK: Duration = Duration::from_millis(100);
/// Number of pings per clock measurement.
const PINGS: u64 = 8;
/// Maximum time for an agent to answer a ping.
const ANSWER: Duration = Duration::from_secs(20);

/// Request for a crew of agents on Slurm.
#[derive(Debug, Clone)]
pub struct AgentRequest<'a> {
    /// Where to run: nodes, partition and limits.
    pub place: &'a ExecutionPlace,
    /// Nodes that were lost before, which the job must not use.
    pub exclude: &'a [String],
    /// Path of the agent's program.
    pub exe: PathBuf,
    /// Folder in which jobs are noted.
    pub state_dir: &'a Path,
    /// Settings that the agents set up.
    pub setup: &'a Setup,
    /// Maximum time for setting up.
    pub limit: Duration,
    /// Signal that ends the start early.
    pub interrupt: Option<&'a Interrupt>,
}

/// One agent with its connection.
#[derive(Debug)]
struct GroupMember {
    hello: Hello,
    name: String,
    stream: Arc<Mutex<File>>,
    set_up: Option<SetUp>,
}

impl GroupMember {
    fn send(&self, message: &AgentMessage) -> std::io::Result<()> {
        wire::send(&mut *self.stream.lock().unwrap_or_else(PoisonError::into_inner), message)
    }

    fn close(&self) {
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = rustix::net::shutdown(&*stream, rustix::net::Shutdown::Both);
    }
}

/// Cause of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostTo {
    /// A user or administrator cancelled the job.
    Cancelled,
    /// The job reached its time limit.
    TimeLimit,
    /// A node or an agent failed.
    Failure,
}

/// Report that the crew is no longer complete.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupLoss {
    /// Description of the loss that names the nodes.
    pub sentence: String,
    /// Lost nodes by their Slurm names.
    pub nodes: Vec<String>,
    /// Cause of the loss.
    pub to: LostTo,
}

/// The agents of a Slurm job, of hosts, or of a virtual machine.
#[derive(Debug)]
pub struct AgentGroup {
    members: Vec<GroupMember>,
    events: Receiver<AgentEvent>,
    /// The job, sessions or virtual machine that run the agents.
    carrier: Option<Carrier>,
    id: String,
    /// Times that the last trial took in the harness.
    took: HarnessTimes,
    grace: Duration,
    server_node: bool,
    /// True if a part of the crew is gone: its job then gets less time to end.
    broken: bool,
    /// Listener for agents that connect by TCP.
    _listener: Option<Listener>,
    /// Sends signs of life to agents that have no TCP connection of their own.
    pulse: Option<pulse::Pulse>,
}

impl AgentGroup {
    /// Makes a group without members; `id` names what runs the agents.
    fn new(
        events: Receiver<AgentEvent>,
        id: &str,
        carrier: Option<Carrier>,
        listener: Option<Listener>,
    ) -> Self {
        AgentGroup {
            members: Vec::new(),
            events,
            carrier,
            id: id.to_owned(),
            took: HarnessTimes::default(),
            grace: Duration::from_secs(2),
            server_node: false,
            broken: false,
            _listener: listener,
            pulse: None,
        }
    }

    /// Submits the job and waits until every agent has set up. `say` is called with progress
    /// messages.
    ///
    /// # Errors
    /// The job or an agent is missing, or an agent cannot set up; the job is then ended.
    pub fn start(request: &AgentRequest<'_>, say: &mut dyn FnMut(&str)) -> Result<Self> {
        let began = Instant::now();
        let token = random_hex()?;
        let (sender, events) = channel();
        let place = request.place;
        let listener = Listener::open(place.listen.as_deref(), &token, sender)?;
        let port = listener.address.port();
        let host = place.listen.clone().unwrap_or_else(crate::slurm::orphaned_jobs::host);
        let argv: [OsString; 2] = [request.exe.clone().into(), "__agent".into()];
        let address = format!("{host}:{port}");
        let env = [(ADDRESS.into(), address.into()), (TOKEN.into(), token.into())];
        let ask = JobRequest {
            place,
            exclude: request.exclude,
            argv: &argv,
            env: &env,
            state_dir: request.state_dir,
        };
        let job = SlurmJob::submit(&ask)?;
        let mut crew = AgentGroup::new(events, "", Some(Carrier::Job(job)), Some(listener));
        crew.server_node = place.server_node;
        let gathered = crew.gather(request, port, say).and_then(|()| {
            crew.took.start_ns = nanos(began.elapsed());
            crew.set_up(request.setup, request.limit, request.interrupt)
        });
        match gathered {
            Ok(()) => Ok(crew),
            Err(e) => {
                crew.broken = true;
                crew.end();
                Err(e)
            }
        }
    }

    /// Returns the nodes' names in this run, with their setup results.
    pub fn set_ups(&self) -> Vec<(String, SetUp)> {
        let one = |m: &GroupMember| Some((m.name.clone(), m.set_up.clone()?));
        self.members.iter().filter_map(one).collect()
    }

    /// Measures the clock of every agent.
    fn looks(&mut self) -> Result<Vec<ClockReading>, GoneAgents> {
        let silent = |members| GoneAgents { members, how: "does not answer".to_owned() };
        let mut pings: Vec<Pings> = self.members.iter().map(|_| Pings::default()).collect();
        for n in 0..PINGS {
            // All agents answer at the same time.
            let mut asked: Vec<Option<(u64, i64)>> = Vec::with_capacity(self.members.len());
            for i in 0..self.members.len() {
                asked.push(Some((monotonic_ns(), day_ns())));
                self.tell(i, &AgentMessage::Ping(n));
            }
            while asked.iter().any(Option::is_some) {
                match self.events.recv_timeout(ANSWER) {
                    Ok(AgentEvent::Message(
                        rank,
                        CollectorMessage::Pong(m, there, there_day),
                        back,
                    )) if m == n => {
                        let Some(i) = self.index(rank) else { continue };
                        if let Some((sent, day)) = asked[i].take() {
                            pings[i].add(sent, back, there, there_day, day);
                        }
                    }
                    Ok(AgentEvent::Gone(rank, _)) => {
                        let members = self.index(rank).into_iter().collect();
                        return Err(GoneAgents { members, how: "lost its agent".into() });
                    }
                    Ok(_) => {}
                    Err(_) => {
                        let late = (0..asked.len()).filter(|i| asked[*i].is_some());
                        return Err(silent(late.collect()));
                    }
                }
            }
        }
        let best = |(i, pings): (usize, &Pings)| pings.best().ok_or_else(|| silent(vec![i]));
        pings.iter().enumerate().map(best).collect()
    }

    /// Measures the clock of every node, and returns it with the node's name.
    ///
    /// # Errors
    /// A node does not answer.
    pub fn clocks(&mut self) -> Result<Vec<(String, ClockReading)>> {
        let looks = self.looks().map_err(|gone| {
            let names: Vec<String> = gone.members.iter().map(|i| self.node(*i)).collect();
            let nodes = gone.members.iter().map(|i| self.members[*i].hello.node.clone()).collect();
            ClusterError::Lost { what: format!("{} {}", names.join(", "), gone.how), nodes }
        })?;
        Ok(self.members.iter().map(|m| m.name.clone()).zip(looks).collect())
    }

    /// Returns the id of the job.
    pub fn job(&self) -> &str {
        &self.id
    }

    /// Returns the job's nodes as Slurm writes them (`n[1-4]`); `unknown` if Slurm cannot be
    /// queried.
    pub fn node_list(&self) -> String {
        let state = self.carrier.as_ref().and_then(|c| c.state().ok().flatten());
        state.map_or_else(|| "unknown".to_owned(), |s| s.nodes)
    }

    /// Returns the times of the last trial; before the first trial, those of the start.
    pub fn took(&self) -> HarnessTimes {
        self.took
    }

    /// Returns a message if a virtual machine's host has no disk space left for its writes.
    pub fn host_is_full(&self) -> Option<String> {
        match &self.carrier {
            Some(Carrier::Guest(guest)) => guest.host_is_full(),
            _ => None,
        }
    }

    fn index(&self, rank: usize) -> Option<usize> {
        self.members.iter().position(|m| m.hello.rank == rank)
    }

    fn node(&self, i: usize) -> String {
        format!("node {}", self.members[i].name)
    }

    fn tell(&mut self, i: usize, message: &AgentMessage) {
        // If this fails the agent is gone, which its listening thread reports.
        let _ = self.members[i].send(message);
    }

    /// Ends the crew and its job. Returns a sentence if the job may still exist.
    pub fn end(mut self) -> Option<String> {
        self.pulse = None;
        for i in 0..self.members.len() {
            self.tell(i, &AgentMessage::Bye);
            self.members[i].close();
        }
        let broken = self.broken;
        self.carrier.take().and_then(|carrier| carrier.end(broken))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Agents that are gone, by index.
#[derive(Debug, Clone)]
struct GoneAgents {
    members: Vec<usize>,
    how: String,
}

//! The collector: has a job started, waits for its agents, and takes them through trial after trial.

mod boot;
mod carrier;
mod lost;
mod start;
mod trial;

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use assay_model::Where;
use assay_sut::Interrupt;
use assay_sut::clock::monotonic_ns;

use crate::clock::{Look, Pings, day_ns};
use crate::listen::{AgentEvent, Listener};
use crate::message::{Hello, NodePart, SetUp, Setup, ToAgent, ToCollector};
use crate::nodes_file::Took;
use crate::slurm::{Job, JobRequest};
use crate::token::{ADDRESS, TOKEN, random_hex};
use crate::{ClusterError, wire};

pub use boot::Boot;
use carrier::Carrier;

/// How often a wait looks whether a signal came.
const LOOK: Duration = Duration::from_millis(100);
/// How many pings a look at a clock takes.
const PINGS: u64 = 8;
/// How long an agent may take to answer one.
const ANSWER: Duration = Duration::from_secs(20);

/// What a crew is asked for.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The nodes.
    pub place: &'a Where,
    /// Nodes that were lost before.
    pub exclude: &'a [String],
    /// The agent's program.
    pub exe: PathBuf,
    /// Where jobs are noted.
    pub state_dir: &'a Path,
    /// What the agents set up.
    pub setup: &'a Setup,
    /// How long setting up may take.
    pub limit: Duration,
    /// What ends it early.
    pub interrupt: Option<&'a Interrupt>,
}

/// One agent.
#[derive(Debug)]
struct Member {
    hello: Hello,
    name: String,
    stream: TcpStream,
    set_up: Option<SetUp>,
}

/// Who or what was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LostTo {
    /// Somebody cancelled the job.
    Cancelled,
    /// Its time was over.
    TimeLimit,
    /// A node or an agent failed.
    Failure,
}

/// The crew is not whole any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Lost {
    /// What happened, with the nodes named.
    pub sentence: String,
    /// The nodes, as Slurm names them.
    pub nodes: Vec<String>,
    /// Why.
    pub to: LostTo,
}

/// How a trial of the crew ended.
#[derive(Debug)]
pub enum TrialEnd {
    /// Every agent sent its part.
    Parts(Vec<NodePart>),
    /// Not every one did; those that came are here.
    Lost(Lost, Vec<NodePart>),
}

/// The agents of a job, or of a virtual machine.
#[derive(Debug)]
pub struct Crew {
    members: Vec<Member>,
    events: Receiver<AgentEvent>,
    /// What runs the agents.
    carrier: Option<Carrier>,
    id: String,
    /// What the last trial took.
    took: Took,
    grace: Duration,
    server_node: bool,
    /// Whether a part of it is gone: its job is then not waited for.
    broken: bool,
    _listener: Listener,
}

impl Crew {
    /// Asks for the job and waits until every agent has set up. `say` reports what is waited for.
    ///
    /// # Errors
    /// No job, not every agent, or one that cannot set up; the job is then ended.
    pub fn start(request: &Request<'_>, say: &mut dyn FnMut(&str)) -> Result<Self, ClusterError> {
        let began = Instant::now();
        let token = random_hex()?;
        let (sender, events) = channel();
        let place = request.place;
        let listener = Listener::open(place.listen.as_deref(), &token, sender)?;
        let port = listener.address.port();
        let host = place.listen.clone().unwrap_or_else(crate::left::host);
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
        let job = Job::ask(&ask)?;
        let mut crew = Crew {
            members: Vec::new(),
            events,
            carrier: Some(Carrier::Job(job)),
            id: String::new(),
            took: Took::default(),
            grace: Duration::from_secs(2),
            server_node: place.server_node,
            broken: false,
            _listener: listener,
        };
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

    /// The nodes as they are called here, with what they found when they set up.
    pub fn set_ups(&self) -> Vec<(String, SetUp)> {
        let one = |m: &Member| Some((m.name.clone(), m.set_up.clone()?));
        self.members.iter().filter_map(one).collect()
    }

    /// One look at every clock.
    fn looks(&mut self) -> Result<Vec<Look>, Gone> {
        (0..self.members.len()).map(|i| self.look(i)).collect()
    }

    fn look(&mut self, i: usize) -> Result<Look, Gone> {
        let mut pings = Pings::default();
        for n in 0..PINGS {
            let (sent, day) = (monotonic_ns(), day_ns());
            self.tell(i, &ToAgent::Ping(n));
            loop {
                match self.events.recv_timeout(ANSWER) {
                    Ok(AgentEvent::Message(rank, ToCollector::Pong(m, there, there_day), back))
                        if m == n && self.index(rank) == Some(i) =>
                    {
                        pings.add(sent, back, there, there_day, day);
                        break;
                    }
                    Ok(AgentEvent::Gone(rank, _)) => {
                        let members = self.index(rank).into_iter().collect();
                        return Err(Gone { members, how: "lost its agent".into() });
                    }
                    Ok(_) => {}
                    Err(_) => {
                        let how = "does not answer".to_owned();
                        return Err(Gone { members: vec![i], how });
                    }
                }
            }
        }
        pings.best().ok_or(Gone { members: vec![i], how: "does not answer".into() })
    }

    /// One look at every node's clock, with the node's name.
    ///
    /// # Errors
    /// A node does not answer.
    pub fn clocks(&mut self) -> Result<Vec<(String, Look)>, String> {
        let looks = self.looks().map_err(|gone| {
            let names: Vec<String> = gone.members.iter().map(|i| self.node(*i)).collect();
            format!("{} {}", names.join(", "), gone.how)
        })?;
        Ok(self.members.iter().map(|m| m.name.clone()).zip(looks).collect())
    }

    /// The job's id.
    pub fn job(&self) -> &str {
        &self.id
    }

    /// The job's nodes as Slurm writes them (`n[1-4]`); `unknown` when it cannot be asked.
    pub fn node_list(&self) -> String {
        let state = self.carrier.as_ref().and_then(|c| c.state().ok().flatten());
        state.map_or_else(|| "unknown".to_owned(), |s| s.nodes)
    }

    /// What the last trial took; before the first, what the start did.
    pub fn took(&self) -> Took {
        self.took
    }

    /// That the host of a virtual machine has no room for what it writes.
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

    fn tell(&mut self, i: usize, message: &ToAgent) {
        // Who does not hear it has gone, which its ear tells.
        let _ = wire::send(&mut self.members[i].stream, message);
    }

    /// Ends the crew and its job. Returns a sentence when the job may still be there.
    pub fn end(mut self) -> Option<String> {
        for i in 0..self.members.len() {
            self.tell(i, &ToAgent::Bye);
            let _ = self.members[i].stream.shutdown(std::net::Shutdown::Both);
        }
        let broken = self.broken;
        self.carrier.take().and_then(|carrier| carrier.end(broken))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Agents that went.
#[derive(Debug, Clone)]
struct Gone {
    members: Vec<usize>,
    how: String,
}

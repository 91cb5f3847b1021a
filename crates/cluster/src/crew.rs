//! The collector: has a job started, waits for its agents, and takes them through trial after trial.

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use assay_model::{Outcome, Where, units};
use assay_sut::Interrupt;
use assay_sut::clock::monotonic_ns;

use crate::clock::{Look, Pings, day_ns};
use crate::listen::{Ears, Heard};
use crate::message::{
    Hello, NodePart, Order, PROTOCOL, Part, Role, SetUp, Setup, ToAgent, ToCollector,
};
use crate::nodes_file::Took;
use crate::slurm::{Ask, Job, JobState, hostnames, nodes};
use crate::{Clock, ClusterError, wire};

/// How often a wait looks whether a signal came.
const LOOK: Duration = Duration::from_millis(100);
/// How often Slurm is asked how a job that is not there yet stands.
const INQUIRE: Duration = Duration::from_millis(500);
/// How many pings a look at a clock takes.
const PINGS: u64 = 8;
/// How long an agent may take to answer one.
const ANSWER: Duration = Duration::from_secs(20);
/// How long the slowest preparation may take (a kit that is fetched and built).
const PREPARE: Duration = Duration::from_secs(3600);
/// How long after the end of a trial its part may take to come.
const REPORT: Duration = Duration::from_secs(60);
/// How long agents that were told to stop may take.
const STOP: Duration = Duration::from_secs(15);

/// Name of the variable by which an agent finds its collector.
pub(crate) const ADDRESS: &str = "ASSAY_AGENT_TO";
/// Name of the variable with its token.
pub(crate) const TOKEN: &str = "ASSAY_AGENT_TOKEN";

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
    pub patience: Duration,
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

/// The agents of a job.
#[derive(Debug)]
pub struct Crew {
    members: Vec<Member>,
    heard: Receiver<Heard>,
    job: Option<Job>,
    id: String,
    /// What the last trial took.
    took: Took,
    grace: Duration,
    server_node: bool,
    _ears: Ears,
}

impl Crew {
    /// Asks for the job and waits until every agent has set up. `say` is told what is waited for.
    ///
    /// # Errors
    /// No job, not every agent, or one that cannot set up; the job is then ended.
    pub fn start(request: &Request<'_>, say: &mut dyn FnMut(&str)) -> Result<Self, ClusterError> {
        let began = Instant::now();
        let token = random_hex()?;
        let (speak, heard) = channel();
        let place = request.place;
        let ears = Ears::open(place.listen.as_deref(), &token, speak)?;
        let port = ears.address.port();
        let host = place.listen.clone().unwrap_or_else(crate::left::host);
        let argv: [OsString; 2] = [request.exe.clone().into(), "__agent".into()];
        let address = format!("{host}:{port}");
        let env = [(ADDRESS.into(), address.into()), (TOKEN.into(), token.into())];
        let ask = Ask {
            place,
            exclude: request.exclude,
            argv: &argv,
            env: &env,
            state_dir: request.state_dir,
        };
        let job = Job::ask(&ask)?;
        let mut crew = Crew {
            members: Vec::new(),
            heard,
            job: Some(job),
            id: String::new(),
            took: Took::default(),
            grace: Duration::from_secs(2),
            server_node: place.server_node,
            _ears: ears,
        };
        let gathered = crew.gather(request, port, say).and_then(|()| {
            crew.took.start_ns = nanos(began.elapsed());
            crew.set_up(request)
        });
        match gathered {
            Ok(()) => Ok(crew),
            Err(e) => {
                crew.end();
                Err(e)
            }
        }
    }

    /// Waits until an agent of every task is there.
    fn gather(
        &mut self,
        request: &Request<'_>,
        port: u16,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), ClusterError> {
        let place = request.place;
        let wanted = (place.nodes * place.tasks_per_node) as usize;
        let (began, mut asked) = (Instant::now(), Instant::now());
        let (mut running, mut told): (Option<Instant>, bool) = (None, false);
        let max_wait = units::duration_of(&place.max_wait).unwrap_or(Duration::MAX);
        let patience = units::duration_of(&place.start_timeout).unwrap_or(Duration::MAX);
        while self.members.len() < wanted {
            if request.interrupt.is_some_and(Interrupt::fired) {
                return Err(ClusterError::Interrupted);
            }
            match self.heard.recv_timeout(LOOK) {
                Ok(Heard::Came(hello, stream)) => self.welcome(hello, stream, place)?,
                Ok(Heard::Went(rank, why)) => return Err(self.gone_early(rank, &why)),
                Ok(Heard::Said(..)) => {}
                Err(_) => {}
            }
            let Some(job) = &mut self.job else { return Err(ClusterError::Interrupted) };
            if job.ended().is_some() {
                return Err(ClusterError::Refused { said: job.said() });
            }
            if self.members.len() == wanted || asked.elapsed() < INQUIRE {
                continue;
            }
            asked = Instant::now();
            // A controller that does not answer now may answer later.
            let Ok(Some(state)) = job.state() else { continue };
            self.id.clone_from(&state.id);
            if state.state == "PENDING" || state.state == "CONFIGURING" {
                if !told && began.elapsed() > Duration::from_secs(2) {
                    say(&format!(
                        "the Slurm job {} waits for its nodes ({})",
                        state.id, state.reason
                    ));
                    told = true;
                }
                if began.elapsed() > max_wait {
                    return Err(ClusterError::Queue {
                        job: state.id,
                        waited: units::format_duration(max_wait),
                        reason: state.reason,
                    });
                }
            } else if running.get_or_insert_with(Instant::now).elapsed() > patience {
                return Err(self.never_started(&state, request, port, patience));
            }
        }
        self.members.sort_by_key(|m| m.hello.rank);
        Ok(())
    }

    fn welcome(
        &mut self,
        hello: Hello,
        stream: TcpStream,
        place: &Where,
    ) -> Result<(), ClusterError> {
        let here = env!("CARGO_PKG_VERSION");
        if hello.protocol != PROTOCOL || hello.version != here {
            return Err(ClusterError::SetUp {
                who: format!("node {}", hello.node),
                why: format!(
                    "its assay is {} and this one is {here}; the same must be on every node (`where.program`)",
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
        self.members.push(Member { hello, name, stream, set_up: None });
        Ok(())
    }

    fn gone_early(&mut self, rank: usize, why: &str) -> ClusterError {
        let node = self.members.iter().find(|m| m.hello.rank == rank);
        let node =
            node.map_or_else(|| format!("of task {rank}"), |m| format!("on node {}", m.name));
        let said = self.job.as_ref().map(Job::said).unwrap_or_default();
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        ClusterError::Lost(format!("the agent {node} ended before it had begun{why}: {said}"))
    }

    fn never_started(
        &self,
        state: &JobState,
        request: &Request<'_>,
        port: u16,
        patience: Duration,
    ) -> ClusterError {
        let expected = hostnames(&state.nodes).unwrap_or_default();
        let here = |node: &String| self.members.iter().any(|m| m.hello.node == *node);
        let missing: Vec<String> = expected.into_iter().filter(|n| !here(n)).collect();
        let nodes = match missing.as_slice() {
            [] => format!("some of {}", state.nodes),
            [one] => format!("node {one}"),
            several => format!("nodes {}", several.join(", ")),
        };
        let said = self.job.as_ref().map(Job::said).filter(|s| s != "it said nothing");
        ClusterError::NeverStarted {
            job: state.id.clone(),
            nodes,
            patience: units::format_duration(patience),
            exe: request.exe.clone(),
            port,
            said: said.map(|s| format!(" (Slurm said: {s})")).unwrap_or_default(),
        }
    }

    fn set_up(&mut self, request: &Request<'_>) -> Result<(), ClusterError> {
        for i in 0..self.members.len() {
            let setup = Setup { name: self.members[i].name.clone(), ..request.setup.clone() };
            let _ = wire::send(&mut self.members[i].stream, &ToAgent::Setup(Box::new(setup)));
        }
        let began = Instant::now();
        while self.members.iter().any(|m| m.set_up.is_none()) {
            if request.interrupt.is_some_and(Interrupt::fired) {
                return Err(ClusterError::Interrupted);
            }
            match self.heard.recv_timeout(LOOK) {
                Ok(Heard::Said(rank, ToCollector::SetUp(set_up), _)) => {
                    if let Some(i) = self.index(rank) {
                        self.members[i].set_up = Some(*set_up);
                    }
                }
                Ok(Heard::Said(rank, ToCollector::Refuse(why), _)) => {
                    let who = self.index(rank).map_or(String::new(), |i| self.node(i));
                    return Err(ClusterError::SetUp { who, why });
                }
                Ok(Heard::Went(rank, why)) => return Err(self.gone_early(rank, &why)),
                _ => {}
            }
            if began.elapsed() > request.patience {
                let late = self.members.iter().find(|m| m.set_up.is_none());
                let who = late.map_or(String::new(), |m| format!("node {}", m.name));
                let why = format!(
                    "it did not set up within {}",
                    units::format_duration(request.patience)
                );
                return Err(ClusterError::SetUp { who, why });
            }
        }
        Ok(())
    }

    /// The nodes as they are called here, with what they found when they set up.
    pub fn set_ups(&self) -> Vec<(String, SetUp)> {
        let one = |m: &Member| Some((m.name.clone(), m.set_up.clone()?));
        self.members.iter().filter_map(one).collect()
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
        let state = self.job.as_ref().and_then(|job| job.state().ok().flatten());
        state.map_or_else(|| "unknown".to_owned(), |s| s.nodes)
    }

    /// What the last trial took; before the first, what the start did.
    pub fn took(&self) -> Took {
        self.took
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

    /// Takes every agent through one trial. `tick` is called about ten times a second.
    pub fn trial(
        &mut self,
        order: &Order,
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> TrialEnd {
        let mut course = Course {
            parts: self.members.iter().map(|_| None).collect(),
            ready: vec![false; self.members.len()],
            served: None,
            stopped: None,
            order: order.clone(),
        };
        let done = self.take_through(&mut course, timeout, interrupt, tick);
        let began = Instant::now();
        let after: Vec<Option<Look>> = match done {
            Ok(_) => {
                self.looks().map_or_else(|_| Vec::new(), |l| l.into_iter().map(Some).collect())
            }
            Err(_) => Vec::new(),
        };
        self.took.looks_ns += nanos(began.elapsed());
        let before = match &done {
            Ok(before) | Err((before, _)) => before.clone(),
        };
        let parts: Vec<NodePart> = course
            .parts
            .into_iter()
            .enumerate()
            .filter_map(|(i, part)| {
                Some(NodePart {
                    name: self.members[i].name.clone(),
                    host: self.members[i].hello.host.clone(),
                    serves: self.server_node && i == 0,
                    part: part?,
                    clock: Clock {
                        before: *before.get(i)?,
                        after: after.get(i).copied().flatten(),
                    },
                })
            })
            .collect();
        match done {
            Ok(_) => TrialEnd::Parts(parts),
            Err((_, gone)) => TrialEnd::Lost(self.lost(&gone), parts),
        }
    }

    fn take_through(
        &mut self,
        course: &mut Course,
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> Result<Vec<Look>, (Vec<Look>, Gone)> {
        let began = Instant::now();
        let before = self.looks().map_err(|gone| (Vec::new(), gone))?;
        self.took.looks_ns = nanos(began.elapsed());
        self.through_phases(course, &before, timeout, interrupt, tick)
            .map(|()| before.clone())
            .map_err(|gone| (before, gone))
    }

    fn through_phases(
        &mut self,
        course: &mut Course,
        before: &[Look],
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> Result<(), Gone> {
        let began = Instant::now();
        let order = || Box::new(course.order.clone());
        let first = usize::from(self.server_node);
        let mut role = Role::Run;
        if self.server_node {
            self.tell(0, &ToAgent::Trial(order(), Role::Serve));
            self.wait(course, PREPARE, "start its server", interrupt, tick, |c| {
                c.served.is_some() || c.parts[0].is_some()
            })?;
            if let Some(served) = course.served.clone() {
                role = Role::Ask(served);
            } else {
                // Its part says why; there is nobody to ask.
                return Ok(());
            }
        }
        for i in first..self.members.len() {
            let order = Box::new(course.order.clone());
            self.tell(i, &ToAgent::Trial(order, role.clone()));
        }
        self.wait(course, PREPARE, "prepare the trial", interrupt, tick, |c| {
            (first..c.ready.len()).all(|i| c.ready[i] || c.parts[i].is_some())
        })?;
        self.took.barrier_ns = nanos(began.elapsed());
        let at = monotonic_ns() + lead(before, self.members.len());
        for i in first..self.members.len() {
            if course.parts[i].is_none() {
                let theirs = i128::from(at) + i128::from(before[i].offset_ns);
                self.tell(i, &ToAgent::Go(u64::try_from(theirs).unwrap_or(0)));
            }
        }
        let patience = timeout.saturating_add(self.grace).saturating_add(REPORT);
        self.wait(course, patience, "report the trial", interrupt, tick, |c| {
            (first..c.parts.len()).all(|i| c.parts[i].is_some())
        })?;
        self.took.run_ns = monotonic_ns().saturating_sub(at);
        if self.server_node {
            self.tell(0, &ToAgent::Stop);
            self.wait(course, STOP, "stop its server", None, tick, |c| c.parts[0].is_some())?;
        }
        Ok(())
    }

    /// Listens until `done` is so. The first part that is not of a completed trial ends the others' too.
    fn wait(
        &mut self,
        course: &mut Course,
        patience: Duration,
        what: &str,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
        done: impl Fn(&Course) -> bool,
    ) -> Result<(), Gone> {
        let began = Instant::now();
        while !done(course) {
            tick();
            let fired = interrupt.is_some_and(Interrupt::fired);
            if course.stopped.is_none() && (fired || course.failed(self.server_node)) {
                course.stopped = Some(Instant::now());
                for i in 0..self.members.len() {
                    self.tell(i, &ToAgent::Stop);
                }
            }
            let late =
                began.elapsed() > patience || course.stopped.is_some_and(|at| at.elapsed() > STOP);
            if late {
                let silent = |i: &usize| course.parts[*i].is_none();
                let all = 0..course.parts.len();
                let unready: Vec<usize> =
                    all.clone().filter(silent).filter(|i| !course.ready[*i]).collect();
                let members =
                    if unready.is_empty() { all.filter(silent).collect() } else { unready };
                return Err(Gone { members, how: format!("did not {what} in time") });
            }
            match self.heard.recv_timeout(LOOK) {
                Ok(Heard::Said(rank, said, _)) => {
                    let Some(i) = self.index(rank) else { continue };
                    self.take(course, i, said)?;
                }
                Ok(Heard::Went(rank, why)) => {
                    let why = if why.is_empty() { why } else { format!(" ({why})") };
                    let members = self.index(rank).into_iter().collect();
                    return Err(Gone { members, how: format!("lost its agent{why}") });
                }
                Ok(Heard::Came(..)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Gone { members: Vec::new(), how: "are all gone".into() });
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, course: &mut Course, i: usize, said: ToCollector) -> Result<(), Gone> {
        match said {
            ToCollector::Ready => course.ready[i] = true,
            ToCollector::Serves(served) => course.served = Some(served.params),
            ToCollector::Part(part) => {
                let record = &part.record;
                // A part of another attempt comes too late.
                if (record.number, record.attempt)
                    != (course.order.planned.number, course.order.attempt)
                {
                    return Ok(());
                }
                // Nobody here asked it to end: the job is being cancelled, or its node shut down.
                if record.outcome == Outcome::Interrupted && course.stopped.is_none() {
                    let how = "was ended by a signal".to_owned();
                    return Err(Gone { members: vec![i], how });
                }
                course.parts[i] = Some(*part);
            }
            _ => {}
        }
        Ok(())
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
                match self.heard.recv_timeout(ANSWER) {
                    Ok(Heard::Said(rank, ToCollector::Pong(m, there, there_day), back))
                        if m == n && self.index(rank) == Some(i) =>
                    {
                        pings.add(sent, back, there, there_day, day);
                        break;
                    }
                    Ok(Heard::Went(rank, _)) => {
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

    /// What became of the crew, after somebody went: what Slurm says of the job and the nodes.
    fn lost(&mut self, gone: &Gone) -> Lost {
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
            let state = self.job.as_ref().and_then(|job| job.state().ok().flatten());
            let running = state.as_ref().is_some_and(|s| s.state == "RUNNING");
            if !running || began.elapsed() > Duration::from_millis(1500) {
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

    /// Ends the crew and its job. Returns a sentence when the job may still be there.
    pub fn end(mut self) -> Option<String> {
        for i in 0..self.members.len() {
            self.tell(i, &ToAgent::Bye);
            let _ = self.members[i].stream.shutdown(std::net::Shutdown::Both);
        }
        self.job.take().and_then(Job::end)
    }
}

/// Where a trial stands.
struct Course {
    parts: Vec<Option<Part>>,
    ready: Vec<bool>,
    served: Option<std::collections::BTreeMap<String, assay_model::Scalar>>,
    stopped: Option<Instant>,
    order: Order,
}

impl Course {
    /// Whether a part came that makes the others' not worth waiting for.
    fn failed(&self, server_node: bool) -> bool {
        self.parts.iter().enumerate().any(|(i, part)| {
            let ended = |p: &Part| p.record.outcome != Outcome::Completed;
            part.as_ref().is_some_and(|p| ended(p) || (server_node && i == 0))
        })
    }
}

/// Agents that went.
#[derive(Debug, Clone)]
struct Gone {
    members: Vec<usize>,
    how: String,
}

/// How far in the future the common beginning is: long enough that every agent has heard of it.
fn lead(looks: &[Look], members: usize) -> u64 {
    let slowest = looks.iter().map(|l| 2 * l.error_ns).max().unwrap_or(0);
    (10_000_000 + 4 * slowest + 200_000 * members as u64).min(2_000_000_000)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Thirty-two hexadecimal digits that nobody can guess.
pub(crate) fn random_hex() -> Result<String, ClusterError> {
    use std::io::Read;
    let mut bytes = [0; 16];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut bytes));
    read.map_err(ClusterError::Random)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

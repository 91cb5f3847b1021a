//! A trial on all agents: request, barrier, common start, and the parts of its record.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use assay_model::{Phase, TrialOutcome};
use assay_system::Interrupt;
use assay_system::clock::monotonic_ns;

use super::{AgentGroup, Carrier, GoneAgents, GroupLoss, LOOK, LostTo, nanos};
use crate::Clock;
use crate::clock::ClockReading;
use crate::listen::AgentEvent;
use crate::message::{
    AgentMessage, AgentRole, CollectorMessage, NodePart, NodeRole, Served, TrialPart, TrialRequest,
};

/// Maximum time of the slowest preparation (a kit that is fetched and built).
const PREPARE: Duration = Duration::from_secs(3600);
/// Maximum time between the end of a trial and its part.
const REPORT: Duration = Duration::from_secs(60);
/// Maximum time with a full host disk before a virtual machine's trial is given up. A guest whose
/// disks fail may hang while reporting that on its console, which cannot be written either.
const FULL: Duration = Duration::from_secs(15);
/// Maximum time for agents to end after a stop request.
const STOP: Duration = Duration::from_secs(15);

/// Progress of a trial.
struct TrialProgress {
    parts: Vec<Option<TrialPart>>,
    ready: Vec<bool>,
    served: Option<Served>,
    stopped: Option<Instant>,
    order: TrialRequest,
    shape: RoleLayout,
}

/// Distribution of roles in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RoleLayout {
    /// Every agent runs the program.
    Each,
    /// The first agent runs the server, the others are its clients.
    Server,
    /// The first agent runs one program that spans all nodes.
    Span,
}

impl RoleLayout {
    /// Returns the role of the agent with this index.
    fn did(self, i: usize) -> NodeRole {
        match self {
            RoleLayout::Server if i == 0 => NodeRole::Served,
            RoleLayout::Span if i > 0 => NodeRole::Followed,
            _ => NodeRole::Ran,
        }
    }
}

impl TrialProgress {
    /// True if a part arrived that makes waiting for the others pointless.
    fn failed(&self) -> bool {
        self.parts.iter().enumerate().any(|(i, part)| {
            let ended = |p: &TrialPart| p.record.outcome != TrialOutcome::Completed;
            // A server or a follower must end after the others.
            let early = self.shape.did(i) != NodeRole::Ran && !self.over();
            part.as_ref().is_some_and(|p| ended(p) || early)
        })
    }

    /// True if all agents that run the program have sent their parts.
    fn over(&self) -> bool {
        let mut all = self.parts.iter().enumerate();
        all.all(|(i, part)| part.is_some() || self.shape.did(i) != NodeRole::Ran)
    }

    /// Returns the earliest start of a steady phase among the agents that ran, on this machine's
    /// clock.
    fn began(&self, before: &[ClockReading]) -> u64 {
        let of = |(part, look): (&Option<TrialPart>, &ClockReading)| {
            let record = &part.as_ref()?.record;
            let steady = record.phases.iter().find(|p| p.phase == Phase::Steady);
            let at = i128::from(steady.map_or(record.start_ns, |p| p.t_ns));
            u64::try_from(at - i128::from(look.offset_ns)).ok()
        };
        let ran = self.parts.iter().zip(before).enumerate();
        let ran = ran.filter(|(i, _)| self.shape.did(*i) == NodeRole::Ran);
        ran.filter_map(|(_, pair)| of(pair)).min().unwrap_or_else(monotonic_ns)
    }
}

impl AgentGroup {
    /// Runs one trial on every agent; with `spans`, the first agent's program spans all nodes.
    /// `tick` is called about ten times per second. Returns the parts that were received, and the
    /// loss if an agent did not send its part.
    pub fn trial(
        &mut self,
        order: &TrialRequest,
        spans: bool,
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> (Vec<NodePart>, Option<GroupLoss>) {
        let mut course = TrialProgress {
            parts: self.members.iter().map(|_| None).collect(),
            ready: vec![false; self.members.len()],
            served: None,
            stopped: None,
            order: order.clone(),
            shape: match (self.server_node, spans) {
                (true, _) => RoleLayout::Server,
                (false, true) => RoleLayout::Span,
                (false, false) => RoleLayout::Each,
            },
        };
        let shape = course.shape;
        let done = self.take_through(&mut course, timeout, interrupt, tick);
        let began = Instant::now();
        let after: Vec<Option<ClockReading>> = match done {
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
                    did: shape.did(i),
                    part: part?,
                    clock: Clock {
                        before: *before.get(i)?,
                        after: after.get(i).copied().flatten(),
                    },
                })
            })
            .collect();
        let lost = match done {
            Ok(_) => self.called_off(&parts),
            Err((_, gone)) => Some(self.describe_loss(&gone)),
        };
        (parts, lost)
    }

    /// Returns the loss if the end of the job ended the programs. Their parts may arrive before
    /// their agents are gone: Slurm knows that a job ends before its programs are signalled.
    fn called_off(&mut self, parts: &[NodePart]) -> Option<GroupLoss> {
        let ended = |name: &str| {
            let part = parts.iter().find(|p| p.name == name);
            part.is_some_and(|p| {
                matches!(p.part.record.outcome, TrialOutcome::Failed | TrialOutcome::Interrupted)
            })
        };
        let members: Vec<usize> =
            (0..self.members.len()).filter(|i| ended(&self.members[*i].name)).collect();
        if members.is_empty() {
            return None;
        }
        let asked = self.carrier.as_ref().map(Carrier::state);
        let goes_on = matches!(&asked, Some(Ok(Some(job))) if job.state == "RUNNING");
        if goes_on {
            return None;
        }
        let broken = self.broken;
        let gone = GoneAgents { members, how: "had its program ended".to_owned() };
        let lost = self.describe_loss(&gone);
        if lost.to == LostTo::Failure {
            // The job continues: the program ended for a reason of its own.
            self.broken = broken;
            return None;
        }
        Some(lost)
    }

    fn take_through(
        &mut self,
        course: &mut TrialProgress,
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> Result<Vec<ClockReading>, (Vec<ClockReading>, GoneAgents)> {
        let began = Instant::now();
        let before = self.looks().map_err(|gone| (Vec::new(), gone))?;
        self.took.looks_ns = nanos(began.elapsed());
        self.through_phases(course, &before, timeout, interrupt, tick)
            .map(|()| before.clone())
            .map_err(|gone| (before, gone))
    }

    fn through_phases(
        &mut self,
        course: &mut TrialProgress,
        before: &[ClockReading],
        timeout: Duration,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
    ) -> Result<(), GoneAgents> {
        let began = Instant::now();
        let shape = course.shape;
        if shape == RoleLayout::Server {
            self.tell(0, &AgentMessage::Trial(Box::new(course.order.clone()), AgentRole::Server));
            self.wait(course, PREPARE, "start its server", interrupt, tick, |c| {
                c.served.is_some() || c.parts[0].is_some()
            })?;
            if course.served.is_none() {
                // Its part has the reason; the clients have no server.
                return Ok(());
            }
        }
        let first = usize::from(shape == RoleLayout::Server);
        for i in first..self.members.len() {
            let role = match (shape, &course.served) {
                (RoleLayout::Server, Some(served)) => AgentRole::Client(served.params_of(i - 1)),
                (RoleLayout::Span, _) if i == 0 => AgentRole::Leader,
                (RoleLayout::Span, _) => AgentRole::Follower,
                _ => AgentRole::Run,
            };
            self.tell(i, &AgentMessage::Trial(Box::new(course.order.clone()), role));
        }
        self.wait(course, PREPARE, "prepare the trial", interrupt, tick, |c| {
            (first..c.ready.len()).all(|i| c.ready[i] || c.parts[i].is_some())
        })?;
        self.took.barrier_ns = nanos(began.elapsed());
        let at = monotonic_ns() + lead(before, self.members.len());
        for (i, look) in before.iter().enumerate().skip(first) {
            if course.parts[i].is_none() {
                self.tell(i, &AgentMessage::Go(there(at, look)));
            }
        }
        let limit = timeout.saturating_add(self.grace).saturating_add(REPORT);
        self.wait(course, limit, "report the trial", interrupt, tick, TrialProgress::over)?;
        self.took.run_ns = monotonic_ns().saturating_sub(at);
        let finishes = course.served.as_ref().is_some_and(|s| s.finishes) && !course.failed();
        let others: Vec<usize> =
            (0..self.members.len()).filter(|i| shape.did(*i) != NodeRole::Ran).collect();
        let since = course.began(before);
        for i in others {
            let message = if finishes {
                AgentMessage::Done(there(since, &before[i]))
            } else {
                AgentMessage::Stop
            };
            self.tell(i, &message);
        }
        let (limit, interrupt) = if finishes { (limit, interrupt) } else { (STOP, None) };
        self.wait(course, limit, "come to its end", interrupt, tick, |c| {
            c.parts.iter().all(Option::is_some)
        })
    }

    /// Processes events until `done` returns true. The first part of a trial that did not complete
    /// stops the other agents.
    fn wait(
        &mut self,
        course: &mut TrialProgress,
        limit: Duration,
        what: &str,
        interrupt: Option<&Interrupt>,
        tick: &mut dyn FnMut(),
        done: impl Fn(&TrialProgress) -> bool,
    ) -> Result<(), GoneAgents> {
        let began = Instant::now();
        let mut full: Option<Instant> = None;
        while !done(course) {
            tick();
            full = self.host_is_full().map(|_| full.unwrap_or_else(Instant::now));
            if full.is_some_and(|since| since.elapsed() > FULL) {
                let members = (0..course.parts.len()).filter(|i| course.parts[*i].is_none());
                let how = format!("did not {what} while the disk of its host was full");
                return Err(GoneAgents { members: members.collect(), how });
            }
            let fired = interrupt.is_some_and(Interrupt::fired);
            if course.stopped.is_none() && (fired || course.failed()) {
                course.stopped = Some(Instant::now());
                for i in 0..self.members.len() {
                    self.tell(i, &AgentMessage::Stop);
                }
            }
            let late =
                began.elapsed() > limit || course.stopped.is_some_and(|at| at.elapsed() > STOP);
            if late {
                let silent = |i: &usize| course.parts[*i].is_none();
                let all = 0..course.parts.len();
                let unready: Vec<usize> =
                    all.clone().filter(silent).filter(|i| !course.ready[*i]).collect();
                let members =
                    if unready.is_empty() { all.filter(silent).collect() } else { unready };
                return Err(GoneAgents { members, how: format!("did not {what} in time") });
            }
            match self.events.recv_timeout(LOOK) {
                Ok(AgentEvent::Message(rank, message, _)) => {
                    let Some(i) = self.index(rank) else { continue };
                    take(course, i, message)?;
                }
                Ok(AgentEvent::Gone(rank, why)) => {
                    let why = if why.is_empty() { why } else { format!(" ({why})") };
                    let members = self.index(rank).into_iter().collect();
                    return Err(GoneAgents { members, how: format!("lost its agent{why}") });
                }
                Ok(AgentEvent::Connected(..)) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(GoneAgents { members: Vec::new(), how: "are all lost".into() });
                }
            }
        }
        Ok(())
    }
}

fn take(course: &mut TrialProgress, i: usize, message: CollectorMessage) -> Result<(), GoneAgents> {
    match message {
        CollectorMessage::Ready => course.ready[i] = true,
        CollectorMessage::Serves(served) => course.served = Some(served),
        CollectorMessage::Part(part) => {
            let record = &part.record;
            // A part of another attempt arrived too late.
            if (record.number, record.attempt)
                != (course.order.planned.number, course.order.attempt)
            {
                return Ok(());
            }
            // The collector did not stop it: the job is being cancelled, or its node shut down.
            if record.outcome == TrialOutcome::Interrupted && course.stopped.is_none() {
                let how = "was ended by a signal".to_owned();
                return Err(GoneAgents { members: vec![i], how });
            }
            course.parts[i] = Some(*part);
        }
        _ => {}
    }
    Ok(())
}

/// Converts a time of this machine's clock to the clock of a measured node.
fn there(at: u64, look: &ClockReading) -> u64 {
    u64::try_from(i128::from(at) + i128::from(look.offset_ns)).unwrap_or(0)
}

/// Returns the lead time of the common start in ns: long enough that every agent has received it.
/// A single agent starts at once.
fn lead(looks: &[ClockReading], members: usize) -> u64 {
    if members == 1 {
        return 0;
    }
    let slowest = looks.iter().map(|l| 2 * l.error_ns).max().unwrap_or(0);
    (10_000_000 + 4 * slowest + 200_000 * members as u64).min(2_000_000_000)
}

//! The agent that runs on each node of a cluster: it sets up the experiment that the collector
//! sends and runs its part of each trial with the same code as a run on one machine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_cluster::{
    AgentError, AgentRole, Bytes, Link, OverSsh, Samples, SetUp, Setup, TrialPart, TrialRequest,
};
use assay_model::{Experiment, Plan, SystemDescription, Treatment, TrialOutcome, TrialRecord};
use assay_system::process::Output;
use assay_system::redact::Recorder;
use assay_system::{Interrupt, ProcessSetup, Root};
use assay_workloads::driver::span::Span;
use assay_workloads::{KitPaths, TrialContext, Workload};

use crate::executors::server_program::ServerProgram;
use crate::executors::spanning_program::{self, RankFiles, Spanning};
use crate::run_lock::RunLock;
use crate::trial::execution::{TrialSpec, blank};
use crate::trial::machine::{Listener, Machine, RecordedTrial, TrialTask};
use crate::{describe, fitness};

/// Serves the collector, over `ssh` or named in the environment, until it sends no more orders.
///
/// # Errors
/// The collector cannot be reached, or the connection broke.
pub fn agent(exe: &Path, kits: &KitPaths, over_ssh: Option<&OverSsh>) -> Result<(), AgentError> {
    let interrupt = Interrupt::install()?;
    let link = Link::open(interrupt.clone(), over_ssh)?;
    let setup = link.setup()?;
    let mut agent = match Agent::set_up(&link, &setup, exe, kits, &interrupt) {
        Ok(agent) => agent,
        Err(why) => return link.refuse(why),
    };
    let sees = setup.look_for.iter().map(|path| path.exists()).collect();
    let (system, fitness) = (agent.system.clone(), std::mem::take(&mut agent.fitness));
    link.is_set_up(SetUp { system, fitness, sees })?;
    while let Some((asked, role)) = link.order()? {
        let part = agent.trial(&link, &asked, &role);
        link.part(part)?;
    }
    Ok(())
}

/// An agent whose set-up has succeeded.
struct Agent {
    experiment: Experiment,
    plan: Plan,
    workload: Box<dyn Workload>,
    machine: Machine,
    /// State folder of this node.
    folder: PathBuf,
    system: SystemDescription,
    fitness: Vec<assay_model::Observation>,
    /// Completed records that have curves, by treatment.
    previous: HashMap<u32, Vec<TrialRecord>>,
    lasted: HashMap<u32, Duration>,
    /// Lock on measuring on this host.
    _lock: Option<RunLock>,
}

impl Agent {
    /// Prepares this node to run trials. An error is a sentence for the collector.
    fn set_up(
        link: &Link,
        setup: &Setup,
        exe: &Path,
        kits: &KitPaths,
        interrupt: &Interrupt,
    ) -> Result<Self, String> {
        let membership = &link.membership;
        // Several tasks on a node share its CPUs; each gets neighbouring ones.
        if setup.tasks_per_node > 1 {
            let share = assay_workloads::driver::copies::places(
                &crate::trial::cpus::allowed(),
                setup.tasks_per_node,
            );
            bind(share.get(membership.local).map_or(&[], Vec::as_slice))?;
        }
        let experiment = crate::read_experiment("experiment.toml", &setup.experiment)
            .map_err(|e| e.to_string())?;
        let workload = assay_workloads::registry::find(&experiment.workload, kits)
            .map_err(|e| e.to_string())?;
        if workload.spec() != &setup.plan.workload {
            return Err(format!("workload `{}` differs there", experiment.workload));
        }
        // A host has its own state folder, and its own lock on being measured. All nodes of a job
        // may share one, so each has its own folder in it.
        let mut state_dir = assay_system::state_dir();
        let lock = if link.by_ssh {
            let taken = RunLock::take(&state_dir);
            let taken = taken.map_err(|e| format!("{}: {e}", state_dir.display()))?;
            Some(taken.map_err(|who| format!("{who} is measuring there; run this when it ends"))?)
        } else {
            state_dir = state_dir.join("nodes").join(&setup.name);
            None
        };
        let _ = assay_system::restore_pending(&state_dir, &Root::system());
        let output = if setup.keep_output { Output::Keep } else { Output::Discard };
        // Only the first task of a node observes it, for all tasks.
        let observes = membership.local == 0;
        let machine = Machine::set_up(
            &experiment,
            &state_dir,
            exe,
            output,
            Some(interrupt.clone()),
            observes,
        )
        .map_err(|e| e.to_string())?;
        for treatment in &setup.plan.treatments {
            crate::trial::inputs::check(workload.as_ref(), treatment, &treatment.params)
                .map_err(|e| e.to_string())?;
            machine.controller.check(&treatment.controls).map_err(|e| e.to_string())?;
        }
        let recorder = Recorder {
            key: assay_system::redact::RedactionKey::from_hex(&setup.key),
            also: experiment.observe.environment.clone(),
        };
        let (fitness, system) =
            fitness::check(&experiment, &recorder, Some(interrupt), exe, &mut |_| ())
                .map_err(|unfit| format!("it is not fit to measure on: {unfit}"))?;
        let inputs = (&experiment, &setup.plan);
        let system = describe::add_programs(system, workload.as_ref(), inputs, &recorder);
        Ok(Agent {
            experiment,
            plan: setup.plan.clone(),
            workload,
            machine,
            folder: state_dir,
            system,
            fitness: fitness.seen,
            previous: HashMap::new(),
            lasted: HashMap::new(),
            _lock: lock,
        })
    }

    fn trial(&mut self, link: &Link, asked: &TrialRequest, role: &AgentRole) -> TrialPart {
        let failed = |error: String| failed(asked, error);
        let Some(treatment) = self.plan.treatment(asked.planned.treatment).cloned() else {
            return failed(format!("its plan has no treatment {}", asked.planned.treatment));
        };
        let mut part = match role {
            AgentRole::Run => self.run(link, asked, &treatment, None),
            AgentRole::Client(params) => {
                let mut treatment = treatment;
                treatment.params.extend(params.clone());
                self.run(link, asked, &treatment, None)
            }
            AgentRole::Leader | AgentRole::Follower => {
                self.span(link, asked, &treatment, *role == AgentRole::Leader)
            }
            AgentRole::Server => self.serve(link, asked, &treatment),
        };
        if let Err(e) = self.machine.clear() {
            part.record.notes.push(format!("the trial's folder could not be emptied: {e}"));
        }
        part
    }

    /// Runs this node's part of a program that spans all nodes.
    fn span(
        &mut self,
        link: &Link,
        asked: &TrialRequest,
        treatment: &Treatment,
        leads: bool,
    ) -> TrialPart {
        let number = asked.planned.number;
        if self.workload.offers().spans.is_none() {
            let name = &self.plan.workload.name;
            return failed(asked, format!("workload `{name}` cannot span nodes"));
        }
        let Some(span) = spanning_program::span(&self.experiment, number, asked.attempt) else {
            return failed(asked, "Slurm did not set the job's id".to_owned());
        };
        let ready = RankFiles::new(&self.folder);
        let mut part = self.run(link, asked, treatment, Some((&span, leads, &ready)));
        spanning_program::conclude(&mut part.record, &span, leads, link);
        part
    }

    /// Runs the workload, or this node's part of a program that spans all nodes.
    fn run(
        &mut self,
        link: &Link,
        asked: &TrialRequest,
        treatment: &Treatment,
        spans: Option<(&Span, bool, &RankFiles)>,
    ) -> TrialPart {
        let lasted = self.lasted.get(&treatment.id);
        let at_start = |ctx: &TrialContext<'_>, setup: &ProcessSetup| {
            if let Some((span, _, ready)) = spans {
                let folder = self.folder.display();
                let failed = |e| format!("cannot write the files of the ranks in {folder}: {e}");
                ready.write(span, ctx, setup).map_err(failed)?;
            }
            Ok(link.meet().map_err(|e| e.to_string())?)
        };
        let inner = self.workload.as_ref();
        let spanning = spans.zip(inner.offers().spans).map(|((span, leads, _), spans)| Spanning {
            inner,
            spans,
            span,
            leads,
        });
        let tracing = self.machine.tracing(&self.experiment);
        let task = TrialTask {
            plan: &self.plan,
            workload: spanning.as_ref().map_or(inner, |s| s as &dyn Workload),
            order: TrialSpec {
                planned: &asked.planned,
                attempt: asked.attempt,
                treatment,
                previous: self.previous.get(&treatment.id).map_or(&[], Vec::as_slice),
                at_start: &at_start,
            },
            tracing: &tracing,
            samples: lasted.is_none_or(|l| *l >= self.machine.interval),
            last: false,
            timeout_factor: 1,
            called_off: &|| link.stopped(),
            system: &|| Some(self.system.clone()),
        };
        let recorded = self.machine.trial(&task, Listener::nobody(&mut |_, _| {}));
        let record = &recorded.record;
        let took = Duration::from_nanos(record.end_ns.saturating_sub(record.start_ns));
        self.lasted.insert(treatment.id, took);
        let previous = self.previous.entry(treatment.id).or_default();
        let wanted = previous.is_empty() || !record.curves.is_empty();
        if record.outcome == TrialOutcome::Completed && wanted {
            previous.push(record.clone());
        }
        self.part(recorded)
    }

    /// Collects the record, output, samples and files of a trial for the collector.
    fn part(&self, recorded: RecordedTrial) -> TrialPart {
        let RecordedTrial { mut record, samples, mut kept, trace } = recorded;
        kept.extend(trace.map(|trace| trace.files(&mut record)).into_iter().flatten());
        let runner = &self.machine.runner;
        TrialPart {
            record,
            stdout: Bytes(runner.stdout.bytes()),
            stderr: Bytes(runner.stderr.bytes()),
            samples: samples.as_ref().map(Samples::from),
            kept: kept.into_iter().map(|(name, bytes)| (name, Bytes(bytes))).collect(),
        }
    }

    /// Runs the workload's server until the collector reports that the clients are done.
    fn serve(&mut self, link: &Link, asked: &TrialRequest, treatment: &Treatment) -> TrialPart {
        let failed = |error: String| failed(asked, error);
        let clients = self.experiment.place.machines().saturating_sub(1).max(1) as usize;
        let host = match link.address() {
            Ok(host) => host.to_owned(),
            Err(e) => return failed(e.to_string()),
        };
        let Some(serves) = self.workload.offers().serves else {
            let name = &self.plan.workload.name;
            return failed(format!("workload `{name}` has no server for clients on other nodes"));
        };
        let serving = match serves.serve(&treatment.params, &host, clients) {
            Ok(serving) => serving,
            Err(e) => return failed(format!("preparation failed: {e}")),
        };
        let over = AtomicBool::new(false);
        let finishes = serving.done.is_some();
        let server = ServerProgram { workload: self.workload.as_ref(), serves, serving };
        let dir = self.machine.run_dir().to_owned();
        let tracing = self.machine.tracing(&self.experiment);
        let task = TrialTask {
            plan: &self.plan,
            workload: &server,
            order: TrialSpec {
                planned: &asked.planned,
                attempt: asked.attempt,
                treatment,
                previous: &[],
                at_start: &|_, _| Ok(()),
            },
            tracing: &tracing,
            samples: true,
            last: false,
            timeout_factor: 2,
            called_off: &|| link.stopped(),
            system: &|| None,
        };
        let mut recorded = std::thread::scope(|scope| {
            let announced = scope.spawn(|| server.announce(link, &dir, &over));
            let recorded = self.machine.trial(&task, Listener::nobody(&mut |_, _| {}));
            over.store(true, Ordering::Release);
            let _ = announced.join();
            recorded
        });
        let record = &mut recorded.record;
        if record.outcome == TrialOutcome::Interrupted && link.stopped() {
            record.outcome = TrialOutcome::Completed;
            record.error.clear();
        } else if record.error.is_empty() && !finishes {
            record.outcome = TrialOutcome::Failed;
            record.error = "the server ended before its clients".into();
        }
        self.part(recorded)
    }
}

/// Returns the part of a trial that failed before its program started.
fn failed(asked: &TrialRequest, error: String) -> TrialPart {
    TrialPart {
        record: TrialRecord { error, ..blank(&asked.planned, asked.attempt) },
        stdout: Bytes::default(),
        stderr: Bytes::default(),
        samples: None,
        kept: Vec::new(),
    }
}

/// Binds this process, and so every process that it starts, to `cpus`.
fn bind(cpus: &[usize]) -> Result<(), String> {
    let mut set = rustix::thread::CpuSet::new();
    cpus.iter().filter(|c| **c < rustix::thread::CpuSet::MAX_CPU).for_each(|c| set.set(*c));
    let shown = assay_model::environment::cpulist::format(cpus);
    rustix::thread::sched_setaffinity(None, &set)
        .map_err(|e| format!("the task cannot be bound to the CPUs {shown}: {e}"))
}

//! Executors run the trials of a run: on this machine, or on the nodes of a cluster
//! ([`crate::executors::nodes`]).

use std::time::Duration;

use assay_model::{
    Event, Experiment, Plan, PlannedTrial, RunState, SystemDescription, Treatment, TrialRecord,
};
use assay_observe::Sampler;
use assay_workloads::Workload;

use crate::LabError;
use crate::progress::live_profile::Snapshots;
use crate::progress::watcher::{TrialNews, Watcher};
use crate::tracers::Tracers;
use crate::trial::execution::TrialSpec;
use crate::trial::machine::{Listener, Machine, RecordedTrial, TrialTask};
use crate::trial::per_operation;

/// The next trial for an executor to run.
pub(crate) struct NextTrial<'a> {
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub workload: &'a dyn Workload,
    pub planned: &'a PlannedTrial,
    pub attempt: u32,
    pub treatment: &'a Treatment,
    /// Completed records with curves of the same treatment so far.
    pub previous: &'a [TrialRecord],
    /// Duration of the treatment's last trial.
    pub lasted: Option<Duration>,
    /// True if no trial follows.
    pub last: bool,
    /// Returns the system description made at the start of the run.
    pub system: &'a dyn Fn() -> Option<SystemDescription>,
}

/// Record and files of a trial, and the output of its program.
pub(crate) struct FinishedTrial {
    pub recorded: RecordedTrial,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// State and reason of a run that ends early.
pub(crate) type EarlyRunEnd = (RunState, String);

/// Runs the trials of a run in one kind of place: this machine, Slurm nodes or virtual machines.
pub(crate) trait Executor {
    /// Prepares for the trials of `block`.
    ///
    /// # Errors
    /// The executor is unavailable; the error is the state in which the run ends and the reason.
    fn ensure(&mut self, block: u32, watcher: &mut dyn Watcher) -> Result<(), EarlyRunEnd> {
        let _ = (block, watcher);
        Ok(())
    }

    /// Runs a trial. Failures go into its record.
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> FinishedTrial;

    /// Called when the trial is recorded.
    ///
    /// # Errors
    /// The trial's folder cannot be emptied.
    fn recorded(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Returns the state in which the run must end, if something else ended its environment (a
    /// Slurm job, for example).
    fn over(&mut self) -> Option<EarlyRunEnd> {
        None
    }

    /// Releases the executor's resources.
    fn end(&mut self, watcher: &mut dyn Watcher) {
        let _ = watcher;
    }
}

/// The executor that runs trials on this machine.
pub(crate) struct Local {
    machine: Machine,
    /// Tracers of the experiment, from the first trial on.
    tracing: Option<Tracers>,
    /// Monotonic time up to which the watcher has received the monitors' samples.
    sent_ns: u64,
}

impl Local {
    pub fn new(machine: Machine) -> Self {
        Local { machine, tracing: None, sent_ns: assay_system::clock::monotonic_ns() }
    }
}

/// Minimum time in nanoseconds between two deliveries of monitor samples to the watcher.
const TELL: u64 = 900_000_000;

/// Passes the monitors' samples since the last delivery to the watcher.
fn send_samples(sampler: Option<&Sampler>, sent_ns: &mut u64, watcher: &mut dyn Watcher) {
    let Some(sampler) = sampler else { return };
    let newest = sampler.newest_ns();
    if newest.saturating_sub(*sent_ns) < TELL {
        return;
    }
    // A live view has no use for samples older than a few seconds.
    let from = (*sent_ns + 1).max(newest.saturating_sub(5 * TELL));
    let samples = sampler.window(from, newest);
    *sent_ns = newest;
    watcher.samples(&samples);
}

impl Executor for Local {
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> FinishedTrial {
        let Local { machine, tracing, sent_ns } = self;
        let tracing = &*tracing.get_or_insert_with(|| machine.tracing(next.experiment));
        let interval = machine.interval;
        let task = TrialTask {
            plan: next.plan,
            workload: next.workload,
            order: TrialSpec {
                planned: next.planned,
                attempt: next.attempt,
                treatment: next.treatment,
                previous: next.previous,
                at_start: &|_, _| Ok(()),
            },
            tracing,
            samples: next.lasted.is_none_or(|lasted| lasted >= interval),
            last: next.last,
            timeout_factor: 1,
            called_off: &|| false,
            system: next.system,
        };
        let (every, wants_all) = (watcher.every(), watcher.wants_all());
        let mut snapshots =
            wants_all.then(|| Snapshots::new(next.planned.number, next.treatment.label()));
        let mut on_news = |news: TrialNews<'_>, sampler: Option<&Sampler>| match news {
            TrialNews::Tick => {
                if wants_all {
                    send_samples(sampler, sent_ns, watcher);
                    if let Some(snapshots) = &mut snapshots {
                        snapshots.tick(tracing, watcher);
                    }
                }
                watcher.tick(None);
            }
            TrialNews::Event(event, t_ns) => {
                if let Event::Progress { progress } = event {
                    watcher.tick(Some(progress.clamp(0.0, 1.0)));
                }
                watcher.event(event, t_ns);
            }
            TrialNews::Printed(stream, bytes) => watcher.printed(stream, bytes),
            TrialNews::Ended => {
                if wants_all {
                    send_samples(sampler, sent_ns, watcher);
                }
            }
        };
        let mut recorded =
            machine.trial(&task, Listener { every, wants_all, on_news: &mut on_news });
        // Only for one machine: on several nodes a rate covers all nodes, but the samples are
        // separate.
        if let Some(samples) = &recorded.samples {
            per_operation::account(next.plan, samples, &mut recorded.record);
        }
        let runner = &machine.runner;
        FinishedTrial { recorded, stdout: runner.stdout.bytes(), stderr: runner.stderr.bytes() }
    }

    fn recorded(&mut self) -> Result<(), LabError> {
        self.machine.clear()
    }
}

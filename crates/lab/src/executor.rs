//! Where the trials of a run happen: on this machine, or on the nodes of a cluster ([`crate::nodes`]).

use std::time::Duration;

use assay_model::{
    Event, Experiment, Plan, PlannedTrial, RunState, SystemDescription, Treatment, TrialRecord,
};
use assay_observe::Sampler;
use assay_workloads::Workload;

use crate::live_profile::Snapshots;
use crate::machine::{Listener, Machine, Recorded, Task};
use crate::trace::Tracing;
use crate::trial::TrialSpec;
use crate::watch::{News, Watcher};
use crate::{LabError, per_operation};

/// A trial that is asked for.
pub(crate) struct NextTrial<'a> {
    pub experiment: &'a Experiment,
    pub plan: &'a Plan,
    pub workload: &'a dyn Workload,
    pub planned: &'a PlannedTrial,
    pub attempt: u32,
    pub treatment: &'a Treatment,
    /// The completed records of the same treatment so far that have curves.
    pub previous: &'a [TrialRecord],
    /// How long the last trial of the treatment took.
    pub lasted: Option<Duration>,
    /// Whether no trial follows.
    pub last: bool,
    /// The system as described at the start.
    pub system: &'a dyn Fn() -> Option<SystemDescription>,
}

/// What a trial left, and what its program printed.
pub(crate) struct Done {
    pub recorded: Recorded,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// How a run ends early, and why.
pub(crate) type Over = (RunState, String);

/// Where a trial's life happens.
pub(crate) trait Executor {
    /// Makes ready for the trials of this block.
    ///
    /// # Errors
    /// How the run ends, since it cannot be had.
    fn ensure(&mut self, block: u32, watcher: &mut dyn Watcher) -> Result<(), Over> {
        let _ = (block, watcher);
        Ok(())
    }

    /// Runs a trial. What fails is in its record.
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> Done;

    /// Called when the trial is recorded.
    ///
    /// # Errors
    /// Its folder cannot be emptied.
    fn recorded(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// How the run must end, since others ended what it runs on.
    fn over(&mut self) -> Option<Over> {
        None
    }

    /// Gives back what it has.
    fn end(&mut self, watcher: &mut dyn Watcher) {
        let _ = watcher;
    }
}

/// This machine.
pub(crate) struct Local {
    machine: Machine,
    /// What the experiment asks for, from the first trial on.
    tracing: Option<Tracing>,
    /// Until when the watcher has the monitors' samples.
    sent_ns: u64,
}

impl Local {
    pub fn new(machine: Machine) -> Self {
        Local { machine, tracing: None, sent_ns: assay_sut::clock::monotonic_ns() }
    }
}

/// The smallest time between two tellings of what the monitors saw.
const TELL: u64 = 900_000_000;

/// Gives the watcher the monitors' samples since the last time.
fn send_samples(sampler: Option<&Sampler>, sent_ns: &mut u64, watcher: &mut dyn Watcher) {
    let Some(sampler) = sampler else { return };
    let newest = sampler.newest_ns();
    if newest.saturating_sub(*sent_ns) < TELL {
        return;
    }
    // What is older than a few seconds is of no use to one who watches.
    let from = (*sent_ns + 1).max(newest.saturating_sub(5 * TELL));
    let samples = sampler.window(from, newest);
    *sent_ns = newest;
    watcher.samples(&samples);
}

impl Executor for Local {
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> Done {
        let Local { machine, tracing, sent_ns } = self;
        let tracing = &*tracing.get_or_insert_with(|| machine.tracing(next.experiment));
        let interval = machine.interval;
        let task = Task {
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
            wants_all.then(|| Snapshots::of(next.planned.number, next.treatment.label()));
        let mut on_news = |news: News<'_>, sampler: Option<&Sampler>| match news {
            News::Tick => {
                if wants_all {
                    send_samples(sampler, sent_ns, watcher);
                    if let Some(snapshots) = &mut snapshots {
                        snapshots.tick(tracing, watcher);
                    }
                }
                watcher.tick(None);
            }
            News::Event(event, t_ns) => {
                if let Event::Progress { progress } = event {
                    watcher.tick(Some(progress.clamp(0.0, 1.0)));
                }
                watcher.event(event, t_ns);
            }
            News::Printed(stream, bytes) => watcher.printed(stream, bytes),
            News::Ended => {
                if wants_all {
                    send_samples(sampler, sent_ns, watcher);
                }
            }
        };
        let mut recorded =
            machine.trial(&task, Listener { every, wants_all, on_news: &mut on_news });
        // Of one machine: over nodes a rate is of all, and the samples of each.
        if let Some(samples) = &recorded.samples {
            per_operation::account(next.plan, samples, &mut recorded.record);
        }
        let runner = &machine.runner;
        Done { recorded, stdout: runner.stdout.bytes(), stderr: runner.stderr.bytes() }
    }

    fn recorded(&mut self) -> Result<(), LabError> {
        self.machine.clear()
    }
}

//! The machine that trials run on. It prepares, runs and records one trial at a time, both for a
//! run on this machine and for an agent on a node.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_model::{
    Experiment, Plan, SampleRow, SampleSet, SystemDescription, TrialOutcome, TrialRecord, units,
};
use assay_observe::Sampler;
use assay_system::process::{Output, Runner};
use assay_system::{Controller, Interrupt, ProcessSetup, Root};
use assay_workloads::{TrialContext, Workload};

use crate::LabError;
use crate::progress::watcher::TrialNews;
use crate::scratch::{self, Scratch};
use crate::tracers::{BlockIoResult, File, Tracers};
use crate::trial::event_reader::EventReader;
use crate::trial::execution::{TrialSettings, TrialSpec};
use crate::trial::observations::{Programs, StabilityWatch};
use crate::trial::{artifacts, power};

/// Fallback sampling interval, for an experiment whose interval cannot be parsed. (It was checked
/// with the plan.)
const INTERVAL: Duration = Duration::from_secs(1);

/// A machine that is set up for the trials of a run.
pub(crate) struct Machine {
    pub controller: Controller,
    pub runner: Runner,
    /// Sampler of the monitors; `None` without monitors or if another task of the node runs them.
    pub sampler: Option<Sampler>,
    /// Sampling interval of the monitors.
    pub interval: Duration,
    /// True if this task observes the node; another task may do so for all.
    observes: bool,
    scratch: Scratch,
    exe: PathBuf,
    output: Output,
    timeout: Duration,
    interrupt: Option<Interrupt>,
    /// Cached, because finding it searches the environment.
    cache_dir: PathBuf,
    /// CPUs that assay was started on.
    cpus: Vec<usize>,
    /// Control groups around this process that have limits.
    limited: Vec<PathBuf>,
    programs: RefCell<Programs>,
    witness: StabilityWatch,
    /// True once a trial has run.
    began: bool,
    /// True if the last trial created nothing in its folder.
    untouched: bool,
}

/// A trial and its surroundings for the machine to run.
pub(crate) struct TrialTask<'a> {
    pub plan: &'a Plan,
    pub workload: &'a dyn Workload,
    /// The trial; its `at_start` is called when the tracer is running, before the first sample.
    pub order: TrialSpec<'a>,
    pub tracing: &'a Tracers,
    /// True if the trial is expected to last at least one monitor interval.
    pub samples: bool,
    /// True if no trial follows.
    pub last: bool,
    /// Factor on the experiment's timeout.
    pub timeout_factor: u32,
    /// Returns true if the collector ended the trial, so that its end by a signal is not an
    /// interruption.
    pub called_off: &'a dyn Fn() -> bool,
    /// Describes the machine, for a result that discloses it.
    pub system: &'a dyn Fn() -> Option<SystemDescription>,
}

/// Receives news of a trial while it runs.
pub(crate) struct Listener<'a> {
    /// Interval at which the listener is called without news.
    pub every: Option<Duration>,
    /// True if the listener receives the program's output.
    pub wants_all: bool,
    /// Called with the sampler of the monitors that observe this trial.
    pub on_news: &'a mut dyn FnMut(TrialNews<'_>, Option<&Sampler>),
}

impl<'a> Listener<'a> {
    /// Returns a listener that ignores all news; `deaf` is a closure that does nothing.
    pub fn nobody(deaf: &'a mut dyn FnMut(TrialNews<'_>, Option<&Sampler>)) -> Self {
        Listener { every: None, wants_all: false, on_news: deaf }
    }
}

/// Record, samples and files of a trial.
pub(crate) struct RecordedTrial {
    pub record: TrialRecord,
    pub samples: Option<SampleSet>,
    pub kept: Vec<File>,
    pub trace: Option<BlockIoResult>,
}

impl Machine {
    /// Sets this machine up; `observes` is true if this task runs the monitors and tracers of the
    /// experiment.
    ///
    /// # Errors
    /// A monitor is unavailable, or no scratch folder can be created.
    pub fn set_up(
        experiment: &Experiment,
        state_dir: &Path,
        exe: &Path,
        output: Output,
        interrupt: Option<Interrupt>,
        observes: bool,
    ) -> Result<Self, LabError> {
        let observe = &experiment.observe;
        let interval = units::duration_of(&observe.interval).unwrap_or(INTERVAL);
        let sampler = match (observe.monitors.as_slice(), observe.meters.as_slice()) {
            ([], []) => None,
            _ if !observes => None,
            (names, meters) => Some(Sampler::with_meters(Path::new("/"), names, meters, interval)?),
        };
        let scratch = Scratch::new()?;
        let mut runner = Runner::new(interrupt.clone());
        // Tracers follow programs from this process.
        if observe.tracers.is_empty() && !runner.knows_peak_memory() {
            runner.start_launcher();
        }
        Ok(Machine {
            controller: Controller::new(state_dir, Root::system()),
            runner,
            sampler,
            interval,
            observes,
            scratch,
            exe: exe.to_owned(),
            output,
            timeout: units::duration_of(&experiment.design.timeout).unwrap_or(Duration::MAX),
            interrupt,
            cache_dir: scratch::cache_dir(),
            cpus: crate::trial::cpus::allowed(),
            limited: assay_system::limited_groups(&Root::system()),
            programs: RefCell::default(),
            witness: StabilityWatch::new(),
            began: false,
            untouched: false,
        })
    }

    /// Returns the folder that exists for the whole run.
    pub fn run_dir(&self) -> &Path {
        self.scratch.run_dir()
    }

    /// Creates the experiment's tracers. On a node with several tasks only the first one traces.
    pub fn tracing(&self, experiment: &Experiment) -> Tracers {
        if !self.observes {
            return Tracers::default();
        }
        Tracers::new(experiment, self.interval.as_nanos() as u64, self.run_dir())
    }

    /// Runs a trial and records it. Failures go into the record and are not errors of the lab.
    pub fn trial(&mut self, task: &TrialTask<'_>, listener: Listener<'_>) -> RecordedTrial {
        if !std::mem::replace(&mut self.began, true) {
            assay_system::end_strays();
        }
        // A sample at the start of a trial keeps earlier activity out of its first interval. Short
        // trials have no samples and are not delayed by one.
        let sampler = self.sampler.as_ref().filter(|_| task.samples);
        let at_start = |ctx: &TrialContext<'_>, setup: &ProcessSetup| {
            task.tracing.start();
            (task.order.at_start)(ctx, setup)?;
            if let Some(sampler) = sampler {
                sampler.tick_now();
            }
            Ok(())
        };
        // These are copies, because the folder may be emptied for a trial that counts instructions.
        let (run_dir, trial_dir) =
            (self.scratch.run_dir().to_owned(), self.scratch.trial_dir().to_owned());
        let bench = TrialSettings {
            workload: task.workload,
            controller: &self.controller,
            exe: &self.exe,
            run_dir: &run_dir,
            trial_dir: &trial_dir,
            cache_dir: &self.cache_dir,
            cpus: &self.cpus,
            limited: &self.limited,
            timeout: self.timeout.saturating_mul(task.timeout_factor),
            output: self.output,
            env: task.tracing.env(),
            under: Vec::new(),
            programs: &self.programs,
        };
        let Listener { every, wants_all, on_news: tell } = listener;
        let mut reported = SampleSet::default();
        let mut on_news = |news: TrialNews<'_>| tell(news, sampler);
        let on_phase = |phase| task.tracing.phase(phase);
        let events =
            EventReader::new(every, wants_all, &mut on_news, &mut reported).with_phases(&on_phase);
        let order = TrialSpec { at_start: &at_start, ..task.order };
        let mut record = bench.run(&mut self.runner, order, events);
        tell(TrialNews::Ended, self.sampler.as_ref());
        let interrupted = self.interrupt.as_ref().is_some_and(Interrupt::fired);
        if record.exit.is_none() && interrupted && !(task.called_off)() {
            record.outcome = TrialOutcome::Interrupted;
        }
        let samples = joined(observed(self.sampler.as_ref(), self.interval, &mut record), reported);
        let seen = task.tracing.stop_programs(&mut record);
        let trace = task.tracing.stop_block_io(&mut record);
        self.witness.check_after_trial(&mut record, task.last);
        if let Some(samples) = &samples {
            power::account(task.plan, samples, &mut record);
        }
        self.untouched = self.scratch.is_untouched();
        let mut kept = Vec::new();
        if !self.untouched {
            kept = artifacts::take(self.scratch.trial_dir(), &mut record);
        }
        if !kept.is_empty() {
            let judged = task.workload.offers().judged;
            artifacts::judge(judged, (task.system)().as_ref(), &mut kept, &mut record);
        }
        kept.extend(seen);
        if let Some(counting) = &task.tracing.instructions
            && counting.wanted(task.order.planned, &record)
        {
            let counted = counting.prefix().and_then(|under| {
                self.scratch.clear_trial()?;
                let runner = Runner::new(self.interrupt.clone());
                Ok(count(&TrialSettings { under, ..bench }, runner, task.order))
            });
            kept.extend(counting.put(counted, &mut record));
            // Files of the counted run must not remain for the next trial.
            self.untouched = false;
        }
        RecordedTrial { record, samples, kept, trace }
    }

    /// Empties the trial's folder.
    ///
    /// # Errors
    /// Something in it could not be removed.
    pub fn clear(&mut self) -> Result<(), LabError> {
        if self.untouched {
            return Ok(());
        }
        self.scratch.clear_trial().map_err(|source| LabError::Scratch {
            root: self.scratch.trial_dir().to_owned(),
            source,
        })
    }
}

/// Runs a trial's program once more under callgrind. Only the outcome of this record is used. A
/// runner of its own keeps the output of the timed trial intact.
fn count(bench: &TrialSettings<'_>, mut runner: Runner, order: TrialSpec<'_>) -> TrialRecord {
    let (mut deaf, mut reported) = (|_: TrialNews<'_>| {}, SampleSet::default());
    let events = EventReader::new(None, false, &mut deaf, &mut reported);
    bench.run(&mut runner, TrialSpec { at_start: &|_, _| Ok(()), ..order }, events)
}

/// Returns the samples of the trial's time if the trial lasted at least one interval.
fn observed(
    sampler: Option<&Sampler>,
    interval: Duration,
    record: &mut TrialRecord,
) -> Option<SampleSet> {
    let sampler = sampler?;
    if record.end_ns.saturating_sub(record.start_ns) < interval.as_nanos() as u64 {
        return None;
    }
    sampler.tick_now();
    let now = assay_system::clock::monotonic_ns();
    // A row describes the interval that ends at its time, so the row at the start of the trial is
    // excluded.
    let from = record.start_ns + 1;
    let samples = sampler.window(from, now);
    record.observers = sampler.reports(from, now);
    sampler.discard_before(now);
    Some(samples)
}

/// Merges the monitors' samples with the program's own, rows in order of time; `None` if there are
/// none.
fn joined(observed: Option<SampleSet>, reported: SampleSet) -> Option<SampleSet> {
    if reported.rows.is_empty() {
        return observed;
    }
    let mut all = observed.unwrap_or_default();
    let first = all.series.len() as u32;
    all.series.extend(reported.series);
    all.rows.extend(reported.rows.iter().map(|r| SampleRow { series: first + r.series, ..*r }));
    all.rows.sort_by_key(|r| r.t_ns);
    Some(all)
}

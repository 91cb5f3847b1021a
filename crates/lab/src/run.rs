//! Runs a plan: registers it, runs its trials one after the other, decides when to stop, and leaves
//! the system as it was.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_archive::{Archive, NewRun, RunWriter};
use assay_model::{
    Experiment, Finding, FitnessAction, LedgerEvent, Outcome, Plan, PlannedTrial, RunId, RunState,
    TrialRecord, units,
};
use assay_observe::Sampler;
use assay_sut::process::{Output, Runner};
use assay_sut::{Controller, Interrupt, Root, Watch};
use assay_workloads::Calibration;

use crate::heard::Heard;
use crate::prepare::Prepared;
use crate::schedule;
use crate::scratch::{self, Scratch};
use crate::stop::{self, Rule};
use crate::trial::{Bench, Order, calibrate};
use crate::watch::{Standing, Watcher};
use crate::{LabError, describe};

/// How often the system's tunables are read again between short trials.
const RECHECK: Duration = Duration::from_secs(1);
/// How many times the empty launch (a shell's start-up) is measured.
const CALIBRATIONS: usize = 30;

/// Where a run happens.
#[derive(Debug)]
pub struct Lab<'a> {
    /// Where its record goes.
    pub archive: &'a Archive,
    /// Where the journal of controls is.
    pub state_dir: PathBuf,
    /// The assay executable, for built-in workloads.
    pub exe: PathBuf,
    /// Where kits are looked for.
    pub kits: assay_workloads::KitPaths,
    /// What ends it early.
    pub interrupt: Option<Interrupt>,
    /// What happens to the programs' output.
    pub output: Output,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// The run.
    pub id: RunId,
    /// Its state.
    pub state: RunState,
    /// Why it ended, as a sentence.
    pub reason: String,
    /// How many trials completed in this session.
    pub completed: usize,
    /// How many trials did not, in this session.
    pub failed: usize,
}

/// What is ready before a run is registered.
struct Ready {
    controller: Controller,
    sampler: Option<Sampler>,
    interval: Duration,
    scratch: Scratch,
    fitness: Vec<Finding>,
}

/// What a session of a run carries from trial to trial.
struct Session<'a> {
    lab: &'a Lab<'a>,
    experiment: &'a Experiment,
    bench: Bench<'a>,
    runner: Runner,
    writer: RunWriter,
    plan: Plan,
    records: Vec<TrialRecord>,
    calibrations: BTreeMap<u32, Option<Calibration>>,
    sampler: Option<Sampler>,
    interval: Duration,
    watch: Watch,
    checked: Instant,
    began: Instant,
    completed: usize,
    failed: usize,
}

impl Lab<'_> {
    /// Runs an experiment from its plan to its end.
    ///
    /// # Errors
    /// The lab could not do its part: the archive cannot be written, a control cannot be set here, a
    /// monitor is unknown, the machine is unfit and the experiment refuses. Trials that fail are
    /// records, not errors.
    pub fn run(&self, prepared: &Prepared, watcher: &mut dyn Watcher) -> Result<Ended, LabError> {
        let experiment = &prepared.experiment;
        let ready = self.get_ready(prepared, watcher)?;
        let system = describe::system(prepared.workload.as_ref(), &prepared.plan);
        let writer = self.archive.create_run(&NewRun {
            experiment_toml: &prepared.toml,
            plan: &prepared.plan,
            system: &system,
            host: system.text("host.name"),
            experiment_name: &experiment.name,
            workload: &prepared.plan.workload.name,
            tags: &experiment.tags,
            stop_rule: &stop::stop_rule(experiment),
        })?;
        watcher.registered(writer.id(), prepared.plan.trials.len());
        self.session(prepared, ready, writer, Vec::new(), watcher)
    }

    /// Takes up a run that was interrupted. Trials with a record other than `interrupted` stay as they
    /// are; the rest of the plan is run.
    ///
    /// # Errors
    /// As [`Lab::run`]; or the run is complete, alive, or was made by another workload.
    pub fn resume(&self, id: &RunId, watcher: &mut dyn Watcher) -> Result<Ended, LabError> {
        let reader = self.archive.run(id)?;
        let plan = reader.plan()?;
        let records = reader.records()?;
        let text = reader.experiment_toml()?;
        let experiment = crate::read_experiment("experiment.toml", &text)?;
        let workload = assay_workloads::registry::find(&experiment.workload, &self.kits)?;
        if workload.spec() != &plan.workload {
            let reason = format!("workload `{}` is not what it was then", experiment.workload);
            return Err(LabError::CannotResume { run: id.clone(), reason });
        }
        if reader.state() == RunState::Completed {
            return Err(LabError::NothingToResume(id.clone()));
        }
        let prepared = Prepared { experiment, toml: text, workload, plan };
        let ready = self.get_ready(&prepared, watcher)?;
        let mut writer = self.archive.resume(id)?;
        writer.ledger(LedgerEvent::Resumed)?;
        watcher.registered(id, prepared.plan.trials.len());
        self.session(&prepared, ready, writer, records, watcher)
    }

    /// Everything that can go wrong before a run is registered.
    fn get_ready(&self, prepared: &Prepared, watcher: &mut dyn Watcher) -> Result<Ready, LabError> {
        let experiment = &prepared.experiment;
        let controller = Controller::new(&self.state_dir, Root::system());
        check_controls(&controller, &prepared.plan)?;
        let interval = units::duration_of(&experiment.observe.interval).unwrap_or(RECHECK);
        let sampler = match experiment.observe.monitors.as_slice() {
            [] => None,
            names => Some(Sampler::start(Path::new("/"), names, interval)?),
        };
        let root = scratch::scratch_root();
        scratch::sweep(&root);
        let scratch =
            Scratch::create(&root).map_err(|source| LabError::Scratch { root, source })?;
        let fitness = self.fitness(experiment, watcher)?;
        Ok(Ready { controller, sampler, interval, scratch, fitness })
    }

    fn session(
        &self,
        prepared: &Prepared,
        ready: Ready,
        writer: RunWriter,
        records: Vec<TrialRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<Ended, LabError> {
        let Ready { controller, sampler, interval, scratch, fitness } = ready;
        let experiment = &prepared.experiment;
        let bench = Bench {
            workload: prepared.workload.as_ref(),
            controller: &controller,
            exe: &self.exe,
            run_dir: scratch.run_dir(),
            trial_dir: scratch.trial_dir(),
            cache_dir: scratch::cache_dir(),
            timeout: units::duration_of(&experiment.design.timeout).unwrap_or(Duration::MAX),
            output: self.output,
        };
        let mut session = Session {
            lab: self,
            experiment,
            bench,
            runner: Runner::new(self.interrupt.clone()),
            writer,
            plan: prepared.plan.clone(),
            records,
            calibrations: BTreeMap::new(),
            sampler,
            interval,
            watch: Watch::new(&Root::system()),
            checked: Instant::now(),
            began: Instant::now(),
            completed: 0,
            failed: 0,
        };
        let ended = session.trials(&scratch, &fitness, watcher);
        watcher.finished();
        let Session { writer, completed, failed, .. } = session;
        let id = writer.id().clone();
        let (state, reason) = match ended {
            Ok(ended) => ended,
            Err(e) => {
                // The archive may be what failed; what is on disk already counts.
                let _ = writer.finish(RunState::Failed, &e.to_string());
                return Err(e);
            }
        };
        writer.finish(state, &reason)?;
        Ok(Ended { id, state, reason, completed, failed })
    }

    /// Checks that the machine is fit, and does what the experiment says when it is not.
    fn fitness(
        &self,
        experiment: &Experiment,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<Finding>, LabError> {
        let wait = units::duration_of(&experiment.fitness.max_wait).unwrap_or(Duration::ZERO);
        let until = Instant::now() + wait;
        let mut waited = false;
        loop {
            let findings = assay_sut::fitness::check(
                &Root::system(),
                &assay_sut::fitness::Options {
                    work_dir: Some(scratch::scratch_root()),
                    ..Default::default()
                },
            );
            let unfit: Vec<String> = findings
                .iter()
                .filter(|f| f.severity > assay_model::Severity::Note)
                .map(|f| f.message.clone())
                .collect();
            let interrupted = self.interrupt.as_ref().is_some_and(Interrupt::fired);
            match experiment.fitness.action {
                FitnessAction::Refuse if !unfit.is_empty() => {
                    return Err(LabError::Unfit(unfit.join("; ")));
                }
                FitnessAction::Wait
                    if !unfit.is_empty() && Instant::now() < until && !interrupted =>
                {
                    if !waited {
                        watcher.say(&format!("waiting for the machine: {}", unfit.join("; ")));
                        waited = true;
                    }
                    std::thread::sleep(Duration::from_secs(1));
                }
                _ => {
                    for sentence in unfit {
                        watcher.say(&format!("warning: {sentence}"));
                    }
                    return Ok(findings);
                }
            }
        }
    }
}

fn check_controls(controller: &Controller, plan: &Plan) -> Result<(), LabError> {
    for treatment in &plan.treatments {
        controller
            .check(&treatment.controls)
            .map_err(|source| LabError::Control { treatment: treatment.label(), source })?;
    }
    Ok(())
}

impl Session<'_> {
    /// Runs what is left of the plan. Returns how the run ended.
    fn trials(
        &mut self,
        scratch: &Scratch,
        fitness: &[Finding],
        watcher: &mut dyn Watcher,
    ) -> Result<(RunState, String), LabError> {
        let design = &self.experiment.design;
        let rule = Rule::of(self.experiment);
        let max_time = units::duration_of(&design.max_time).unwrap_or(Duration::MAX);
        let mut index = 0;
        while let Some(planned) = self.plan.trials.get(index).cloned() {
            index += 1;
            if self.recorded(&planned) {
                continue;
            }
            if self.interrupted() {
                return Ok((RunState::Interrupted, "interrupted by a signal".into()));
            }
            if self.began.elapsed() >= max_time {
                return Ok((RunState::Failed, format!("max_time ({}) is over", design.max_time)));
            }
            if self.completed + self.failed >= design.max_trials as usize {
                let reason = format!("max_trials ({}) is reached", design.max_trials);
                return Ok((RunState::Failed, reason));
            }
            let outcome = self.trial(scratch, &planned, fitness, watcher)?;
            if outcome == Outcome::Interrupted {
                return Ok((RunState::Interrupted, "interrupted by a signal".into()));
            }
            if design.max_failures > 0 && self.failed >= design.max_failures as usize {
                let reason = format!("{} trials failed (max_failures)", self.failed);
                return Ok((RunState::Failed, reason));
            }
            if let Some(reason) = self.block_ended(rule, index, &planned)? {
                return Ok((RunState::Completed, reason));
            }
        }
        Ok((RunState::Completed, "the plan is done".into()))
    }

    fn recorded(&self, planned: &PlannedTrial) -> bool {
        let done =
            |r: &&TrialRecord| r.number == planned.number && r.outcome != Outcome::Interrupted;
        self.records.iter().any(|r| done(&r))
    }

    fn interrupted(&self) -> bool {
        self.lab.interrupt.as_ref().is_some_and(Interrupt::fired)
    }

    /// At the end of a block: fixes an open number of blocks, or looks. `Some`: stop, and why.
    fn block_ended(
        &mut self,
        rule: Rule,
        index: usize,
        planned: &PlannedTrial,
    ) -> Result<Option<String>, LabError> {
        let last_of_block = self.plan.trials.get(index).is_none_or(|n| n.block != planned.block);
        if !last_of_block || planned.warmup {
            return Ok(None);
        }
        let counted = planned.block + 1 - self.experiment.design.warmup_blocks;
        match rule {
            Rule::Open if counted == 1 => self.fix_blocks().map(|()| None),
            Rule::Looks => {
                let look = stop::look(self.experiment, &self.plan, &self.records, counted);
                let Some((stop, decision)) = look else { return Ok(None) };
                self.writer
                    .ledger(LedgerEvent::Looked { blocks: counted, decision: decision.clone() })?;
                Ok(stop.then_some(decision))
            }
            Rule::Open | Rule::Fixed(_) => Ok(None),
        }
    }

    fn fix_blocks(&mut self) -> Result<(), LabError> {
        let times: Vec<f64> =
            self.records.iter().filter_map(|r| r.resources.map(|u| u.wall_s)).collect();
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let design = &self.experiment.design;
        let blocks = stop::open_blocks(mean, self.plan.treatments.len(), design.max_trials);
        self.plan.trials = schedule::trials(design, &self.plan.treatments, self.plan.seed, blocks);
        let reason = format!("a trial of the first block took {}", units::format_value(mean, "s"));
        self.writer.replace_plan(&self.plan, &reason)?;
        Ok(())
    }

    /// Runs one trial and records it.
    fn trial(
        &mut self,
        scratch: &Scratch,
        planned: &PlannedTrial,
        fitness: &[Finding],
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, LabError> {
        let treatment = self.plan.treatment(planned.treatment).cloned().ok_or_else(|| {
            LabError::CannotResume {
                run: self.writer.id().clone(),
                reason: format!("its plan has no treatment {}", planned.treatment),
            }
        })?;
        let attempt = 1 + self.records.iter().filter(|r| r.number == planned.number).count() as u32;
        watcher.started(&self.standing(planned, &treatment));
        let calibration = self.calibration(&treatment);
        self.writer.ledger(LedgerEvent::TrialStarted { number: planned.number, attempt })?;
        let previous: Vec<TrialRecord> = self
            .records
            .iter()
            .filter(|r| r.treatment == treatment.id && r.outcome == Outcome::Completed)
            .filter(|r| !r.curves.is_empty())
            .cloned()
            .collect();
        let every = watcher.every();
        let order =
            Order { planned, attempt, treatment: &treatment, previous: &previous, calibration };
        let mut on_progress = |progress| watcher.tick(progress);
        let heard = Heard::new(every, &mut on_progress);
        let mut record = self.bench.run(&mut self.runner, order, heard);
        let samples = self.observe(&mut record);
        self.recheck(&mut record);
        if self.completed + self.failed == 0 {
            record.findings.extend(fitness.iter().cloned());
        }
        self.require_metric(&mut record);
        self.writer.write_trial(
            &record,
            &self.runner.stdout.bytes(),
            &self.runner.stderr.bytes(),
            samples.as_ref(),
        )?;
        scratch
            .clear_trial()
            .map_err(|source| LabError::Scratch { root: scratch.trial_dir(), source })?;
        if record.outcome == Outcome::Completed {
            self.completed += 1;
        } else {
            self.failed += 1;
        }
        watcher.ended(&record);
        let outcome = record.outcome;
        self.records.push(record);
        Ok(outcome)
    }

    /// What every trial of this treatment pays first, measured once.
    fn calibration(&mut self, treatment: &assay_model::Treatment) -> Option<Calibration> {
        if let Some(known) = self.calibrations.get(&treatment.id) {
            return *known;
        }
        let launch = self.bench.workload.calibrate(&treatment.params);
        let measured = launch.and_then(|launch| {
            calibrate(&mut self.runner, &launch, &self.bench.trial_dir, CALIBRATIONS)
        });
        self.calibrations.insert(treatment.id, measured);
        measured
    }

    /// Takes the samples of the trial's time, if it was long enough to have any.
    fn observe(&mut self, record: &mut TrialRecord) -> Option<assay_model::SampleSet> {
        let sampler = self.sampler.as_ref()?;
        if record.end_ns.saturating_sub(record.start_ns) < self.interval.as_nanos() as u64 {
            return None;
        }
        sampler.tick_now();
        let now = assay_sut::process::monotonic_ns();
        let samples = sampler.window(record.start_ns, now);
        record.observers = sampler.reports(record.start_ns, now);
        sampler.discard_before(now);
        Some(samples)
    }

    /// Reads again what should not have changed, at most once a second.
    fn recheck(&mut self, record: &mut TrialRecord) {
        if self.checked.elapsed() < RECHECK {
            return;
        }
        self.checked = Instant::now();
        record.changed = self.watch.changed();
        if !record.changed.is_empty() {
            let paths: Vec<&str> = record.changed.keys().map(String::as_str).collect();
            record.findings.push(Finding {
                id: "F13".into(),
                name: "environment-stable".into(),
                severity: assay_model::Severity::Invalid,
                message: format!("{} changed since the start of the run", paths.join(", ")),
                remedy: "find what changed it and run again".into(),
            });
        }
    }

    /// A trial without the metric that decides has not measured anything.
    fn require_metric(&self, record: &mut TrialRecord) {
        if record.outcome == Outcome::Completed && record.metric(&self.plan.metric).is_none() {
            record.outcome = Outcome::Failed;
            let has: Vec<&str> = record.metrics.iter().map(|m| m.name.as_str()).collect();
            record.error = format!(
                "the program reported no `{}`; it reported {}",
                self.plan.metric,
                if has.is_empty() { "nothing".to_owned() } else { has.join(", ") }
            );
        }
    }

    fn standing<'b>(
        &'b self,
        trial: &'b PlannedTrial,
        treatment: &'b assay_model::Treatment,
    ) -> Standing<'b> {
        let done = self.completed + self.failed;
        let values: Vec<f64> = crate::pairs::values(&self.records, treatment.id, &self.plan.metric)
            .into_iter()
            .flatten()
            .filter(|v| *v > 0.0)
            .collect();
        let estimate = (!values.is_empty()).then(|| {
            let mean = values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64;
            let unit = self.plan.workload.metric(&self.plan.metric).map(|m| m.unit.clone());
            (mean.exp(), unit.unwrap_or_default())
        });
        let total = self.plan.trials.len();
        let left = (done > 0).then(|| {
            let each = self.began.elapsed().as_secs_f64() / done as f64;
            Duration::from_secs_f64(each * (total.saturating_sub(self.records.len())) as f64)
        });
        Standing { trial, treatment, done: self.records.len(), total, estimate, left }
    }
}

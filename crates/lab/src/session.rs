//! One session of a run: trial after trial, from what is left of the plan to the reason to stop.

use std::time::{Duration, Instant};

use assay_archive::RunWriter;
use assay_model::{
    Event, Experiment, LedgerEvent, Outcome, Plan, PlannedTrial, RunState, SampleRow, SampleSet,
    TrialRecord, units,
};
use assay_observe::Sampler;
use assay_redact::Recorder;
use assay_sut::Interrupt;
use assay_sut::process::Runner;

use crate::fit::Fit;
use crate::heard::Heard;
use crate::nodes::Nodes;
use crate::schedule;
use crate::scratch::Scratch;
use crate::so_far::SoFar;
use crate::stop::{self, Rule};
use crate::trace::Tracing;
use crate::trial::{Bench, Order};
use crate::watch::{News, Standing, Watcher};
use crate::witness::Witness;
use crate::{Lab, LabError, kept, power};

/// What a session of a run carries from trial to trial.
pub(crate) struct Session<'a> {
    pub lab: &'a Lab<'a>,
    pub experiment: &'a Experiment,
    pub bench: Bench<'a>,
    pub runner: Runner,
    pub writer: RunWriter,
    pub plan: Plan,
    pub so_far: SoFar,
    /// The nodes, where trials run on others than this machine.
    pub nodes: Option<Nodes>,
    pub sampler: Option<Sampler>,
    pub interval: Duration,
    pub witness: Witness,
    pub began: Instant,
    pub completed: usize,
    pub failed: usize,
    /// Until when the watcher was told what the monitors saw.
    pub told_ns: u64,
}

/// What a trial left.
struct Done {
    record: TrialRecord,
    samples: Option<SampleSet>,
    kept: Vec<(String, Vec<u8>)>,
    /// Standard output and error; `None`: what the runner has.
    output: Option<(Vec<u8>, Vec<u8>)>,
}

/// The least time between two tellings of what the monitors saw.
const TELL: u64 = 900_000_000;

/// Tells the watcher what the monitors saw since it was told last.
fn tell_samples(sampler: Option<&Sampler>, told_ns: &mut u64, watcher: &mut dyn Watcher) {
    let Some(sampler) = sampler else { return };
    let newest = sampler.newest_ns();
    if newest.saturating_sub(*told_ns) < TELL {
        return;
    }
    // What is older than a few seconds is of no use to one who watches.
    let from = (*told_ns + 1).max(newest.saturating_sub(5 * TELL));
    let samples = sampler.window(from, newest);
    *told_ns = newest;
    watcher.samples(&samples);
}

impl Session<'_> {
    /// Runs what is left of the plan. Returns how the run ended.
    pub fn trials(
        &mut self,
        scratch: &mut Scratch,
        fitness: &Fit,
        watcher: &mut dyn Watcher,
    ) -> Result<(RunState, String), LabError> {
        let design = &self.experiment.design;
        let rule = Rule::of(self.experiment);
        let max_time = units::duration_of(&design.max_time).unwrap_or(Duration::MAX);
        let mut index = 0;
        while let Some(planned) = self.plan.trials.get(index).cloned() {
            index += 1;
            if self.so_far.stands(planned.number) {
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
            if let Some(nodes) = &mut self.nodes
                && let Err(e) = nodes.ensure_or_fail(planned.block, watcher)
            {
                let interrupted = matches!(e, assay_cluster::ClusterError::Interrupted);
                let state = if interrupted { RunState::Interrupted } else { RunState::Failed };
                return Ok((state, e.to_string()));
            }
            let outcome = self.trial(scratch, &planned, fitness, watcher)?;
            if let Some(over) = self.nodes.as_mut().and_then(|n| n.over.take()) {
                return Ok(over);
            }
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
                let look = stop::look(self.experiment, &self.plan, self.so_far.records(), counted);
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
            self.so_far.records().iter().filter_map(|r| r.resources.map(|u| u.wall_s)).collect();
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let design = &self.experiment.design;
        let blocks = stop::open_blocks(mean, self.plan.treatments.len(), design);
        self.plan.trials = schedule::trials(design, &self.plan.treatments, self.plan.seed, blocks)?;
        let reason = format!("a trial of the first block took {}", units::format_value(mean, "s"));
        self.writer.replace_plan(&self.plan, &reason)?;
        Ok(())
    }

    /// Runs one trial and records it.
    fn trial(
        &mut self,
        scratch: &mut Scratch,
        planned: &PlannedTrial,
        fitness: &Fit,
        watcher: &mut dyn Watcher,
    ) -> Result<Outcome, LabError> {
        let treatment = self.plan.treatment(planned.treatment).cloned().ok_or_else(|| {
            LabError::CannotResume {
                run: self.writer.id().clone(),
                reason: format!("its plan has no treatment {}", planned.treatment),
            }
        })?;
        let attempt = self.so_far.next_attempt(planned.number);
        watcher.started(&self.standing(planned, &treatment));
        self.writer.ledger(LedgerEvent::TrialStarted { number: planned.number, attempt })?;
        let mut done = match self.nodes.take() {
            Some(mut nodes) => {
                let done = self.on_nodes(&mut nodes, planned, attempt, watcher);
                self.nodes = Some(nodes);
                done
            }
            None => self.here(planned, attempt, &treatment, watcher),
        };
        if self.completed + self.failed == 0 {
            done.record.evidence.extend(fitness.seen.iter().cloned());
            done.record.findings.extend(fitness.findings.iter().cloned());
        }
        self.require_metric(&mut done.record);
        let Done { record, samples, kept, output } = done;
        // Before anybody hears of it.
        let record = Recorder::record(&record).unwrap_or(record);
        let (stdout, stderr) =
            output.unwrap_or_else(|| (self.runner.stdout.bytes(), self.runner.stderr.bytes()));
        self.writer.write_trial_with(&record, &stdout, &stderr, samples.as_ref(), &kept)?;
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
        self.so_far.push(record);
        Ok(outcome)
    }

    /// Runs one trial on the nodes.
    fn on_nodes(
        &mut self,
        nodes: &mut Nodes,
        planned: &PlannedTrial,
        attempt: u32,
        watcher: &mut dyn Watcher,
    ) -> Done {
        let done = nodes.trial(&self.plan, planned, attempt, watcher);
        let merged = done.merged;
        Done {
            record: merged.record,
            samples: merged.samples,
            kept: done.kept,
            output: Some((merged.stdout, merged.stderr)),
        }
    }

    /// Runs one trial on this machine.
    fn here(
        &mut self,
        planned: &PlannedTrial,
        attempt: u32,
        treatment: &assay_model::Treatment,
        watcher: &mut dyn Watcher,
    ) -> Done {
        let every = watcher.every();
        // A sample at the start of a trial keeps what came before it out of its first interval. Short
        // trials have no samples and are not delayed by one.
        let sampler = self.sampler.as_ref().filter(|_| self.expects_samples(treatment.id));
        let tick_ns = self.interval.as_nanos() as u64;
        let tracing = Tracing::new(self.experiment, tick_ns, &self.bench.run_dir);
        let at_start = |_: &assay_workloads::TrialContext<'_>, _: &assay_sut::ProcessSetup| {
            tracing.start();
            if let Some(sampler) = sampler {
                sampler.tick_now();
            }
            Ok(())
        };
        let order = Order {
            planned,
            attempt,
            treatment,
            previous: self.so_far.with_curves(treatment.id),
            at_start: &at_start,
        };
        let wants_all = watcher.wants_all();
        let told = &mut self.told_ns;
        let mut on_news = |news: News<'_>| match news {
            News::Tick => {
                if wants_all {
                    tell_samples(sampler, told, watcher);
                }
                watcher.tick(None);
            }
            News::Said(event, t_ns) => {
                if let Event::Progress { progress } = event {
                    watcher.tick(Some(progress.clamp(0.0, 1.0)));
                }
                watcher.heard(event, t_ns);
            }
            News::Printed(stream, bytes) => watcher.printed(stream, bytes),
        };
        let mut said = SampleSet::default();
        let on_phase = |phase| tracing.phase(phase);
        let heard = Heard::new(every, wants_all, &mut on_news, &mut said).with_phases(&on_phase);
        let mut record = self.bench.run(&mut self.runner, order, heard);
        if self.interrupted() && record.exit.is_none() {
            record.outcome = Outcome::Interrupted;
        }
        if wants_all {
            tell_samples(self.sampler.as_ref(), &mut self.told_ns, watcher);
        }
        let samples = joined(observed(self.sampler.as_ref(), self.interval, &mut record), said);
        if let Some(kept) = tracing.stop(&mut record) {
            self.writer.trace_next(kept.answer, kept.events);
        }
        let last = self.plan.trials.last().is_some_and(|t| t.number == planned.number);
        self.witness.look(&mut record, last);
        if let Some(samples) = &samples {
            power::account(&self.plan, samples, &mut record);
        }
        let mut kept = kept::take(&self.bench.trial_dir, &mut record);
        if !kept.is_empty() {
            let system = self.writer.reader().and_then(|r| r.system()).ok();
            kept::judge(&self.plan.workload.name, system.as_ref(), &mut kept, &mut record);
        }
        Done { record, samples, kept, output: None }
    }

    /// Whether a trial of this treatment will last an interval of the monitors, judged by the last one.
    fn expects_samples(&self, treatment: u32) -> bool {
        self.so_far.lasted(treatment).is_none_or(|lasted| lasted >= self.interval)
    }

    /// A trial without the metric that decides has not measured anything.
    fn require_metric(&self, record: &mut TrialRecord) {
        if record.outcome == Outcome::Completed && record.metric(&self.plan.metric).is_none() {
            record.outcome = Outcome::Failed;
            let name = &self.plan.metric;
            let has: Vec<&str> = record.metrics.iter().map(|m| m.name.as_str()).collect();
            record.error = if has.contains(&name.as_str()) {
                let why = record.notes.join("; ");
                let why = if why.is_empty() { why } else { format!("; it noted: {why}") };
                format!("the program reported no value for `{name}`{why}")
            } else if has.is_empty() {
                format!("the program reported no `{name}`; it reported nothing")
            } else {
                format!("the program reported no `{name}`; it reported {}", has.join(", "))
            };
        }
    }

    fn standing<'b>(
        &'b self,
        trial: &'b PlannedTrial,
        treatment: &'b assay_model::Treatment,
    ) -> Standing<'b> {
        let done = self.completed + self.failed;
        let unit = || {
            let metric = self.plan.workload.metric(&self.plan.metric);
            metric.map(|m| m.unit.clone()).unwrap_or_default()
        };
        let estimate = self.so_far.estimate(treatment.id).map(|value| (value, unit()));
        let recorded = self.so_far.records().len();
        let total = self.plan.trials.len();
        let left = (done > 0).then(|| {
            let each = self.began.elapsed().as_secs_f64() / done as f64;
            Duration::from_secs_f64(each * (total.saturating_sub(recorded)) as f64)
        });
        Standing { trial, treatment, done: recorded, total, estimate, left }
    }
}

/// Takes the samples of the trial's time, if it was long enough to have any.
pub(crate) fn observed(
    sampler: Option<&Sampler>,
    interval: Duration,
    record: &mut TrialRecord,
) -> Option<SampleSet> {
    let sampler = sampler?;
    if record.end_ns.saturating_sub(record.start_ns) < interval.as_nanos() as u64 {
        return None;
    }
    sampler.tick_now();
    let now = assay_sut::clock::monotonic_ns();
    // A row tells of the interval that ends at its time: the one at the start is of before.
    let from = record.start_ns + 1;
    let samples = sampler.window(from, now);
    record.observers = sampler.reports(from, now);
    sampler.discard_before(now);
    Some(samples)
}

/// The monitors' samples together with the program's own, rows in order of time; `None` if there are
/// none.
pub(crate) fn joined(observed: Option<SampleSet>, said: SampleSet) -> Option<SampleSet> {
    if said.rows.is_empty() {
        return observed;
    }
    let mut all = observed.unwrap_or_default();
    let first = all.series.len() as u32;
    all.series.extend(said.series);
    all.rows.extend(said.rows.iter().map(|r| SampleRow { series: first + r.series, ..*r }));
    all.rows.sort_by_key(|r| r.t_ns);
    Some(all)
}

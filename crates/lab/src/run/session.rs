//! One session of a run: runs the remaining trials of the plan one after the other and decides when
//! and why to stop.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use assay_archive::RunWriter;
use assay_model::nouns::count;
use assay_model::{
    Experiment, LedgerEvent, MetricValue, Observation, Plan, PlannedTrial, RunState, TrialOutcome,
    TrialRecord, units,
};
use assay_system::Interrupt;
use assay_system::redact::CleanRecord;
use assay_workloads::Workload;

use crate::LabError;
use crate::executors::executor::{EarlyRunEnd, Executor, FinishedTrial, NextTrial};
use crate::fitness::Fit;
use crate::plan::schedule;
use crate::progress::watcher::{Progress, Watcher};
use crate::run::finished_trials::FinishedTrials;
use crate::run::stop::{self, StopRule};
use crate::trial::machine::RecordedTrial;

/// Maximum number of metrics named in the message about a missing deciding metric.
const MAX_NAMED: usize = 10;
/// Maximum number of the trial's last notes quoted in that message.
const MAX_NOTES: usize = 3;

/// State of a session that is carried from trial to trial.
pub(crate) struct RunSession<'a> {
    /// Signal that ends the session early.
    pub interrupt: Option<&'a Interrupt>,
    pub experiment: &'a Experiment,
    pub workload: &'a dyn Workload,
    pub executor: Box<dyn Executor>,
    pub writer: RunWriter,
    pub plan: Plan,
    pub history: FinishedTrials,
    pub began: Instant,
    pub completed: usize,
    pub failed: usize,
    /// Number of failed trials by treatment in this session; `u32::MAX` if all its trials must
    /// fail.
    pub failures: BTreeMap<u32, u32>,
}

impl RunSession<'_> {
    /// Runs the remaining trials of the plan. Returns the state in which the run ended and the
    /// reason.
    pub fn trials(
        &mut self,
        fitness: &Fit,
        watcher: &mut dyn Watcher,
    ) -> Result<EarlyRunEnd, LabError> {
        let design = &self.experiment.design;
        let rule = StopRule::from_experiment(self.experiment);
        let max_time = units::duration_of(&design.max_time).unwrap_or(Duration::MAX);
        let mut index = 0;
        while let Some(planned) = self.plan.trials.get(index).cloned() {
            index += 1;
            if self.history.stands(planned.number) || self.given_up(planned.treatment) {
                continue;
            }
            if self.interrupt.is_some_and(Interrupt::fired) {
                return Ok((RunState::Interrupted, "interrupted by a signal".into()));
            }
            if self.began.elapsed() >= max_time {
                return Ok((RunState::Failed, format!("max_time ({}) is over", design.max_time)));
            }
            if self.completed + self.failed >= design.max_trials as usize {
                let reason = format!("max_trials ({}) is reached", design.max_trials);
                return Ok((RunState::Failed, reason));
            }
            if let Err(over) = self.executor.ensure(planned.block, watcher) {
                return Ok(over);
            }
            let outcome = self.trial(&planned, fitness, watcher)?;
            if let Some(over) = self.executor.over() {
                return Ok(over);
            }
            if outcome == TrialOutcome::Interrupted {
                return Ok((RunState::Interrupted, "interrupted by a signal".into()));
            }
            if outcome != TrialOutcome::Completed && self.given_up(planned.treatment) {
                let sentence = self.without(&[planned.treatment]);
                if self.plan.treatments.iter().all(|t| self.given_up(t.id)) {
                    return Ok((RunState::Failed, sentence));
                }
                watcher.say(&format!("{sentence}; the others continue"));
            }
            if let Some(reason) = self.block_ended(rule, index, &planned)? {
                return Ok((RunState::Completed, reason));
            }
        }
        let lost: Vec<u32> =
            self.failures.keys().copied().filter(|id| self.given_up(*id)).collect();
        let reason = match lost.as_slice() {
            [] => format!("{} ran", count(self.plan.trials.len(), "trial")),
            lost => format!("the other trials ran; {}", self.without(lost)),
        };
        Ok((RunState::Completed, reason))
    }

    /// Returns true if no more trials of a treatment are run because too many failed.
    fn given_up(&self, treatment: u32) -> bool {
        let most = self.experiment.design.max_failures;
        let failed = self.failures.get(&treatment).copied().unwrap_or(0);
        failed == u32::MAX || most > 0 && failed >= most
    }

    /// Describes the treatments that were given up and the number of failures.
    fn without(&self, given_up: &[u32]) -> String {
        let all: Vec<String> = given_up.iter().filter_map(|id| self.why_given_up(*id)).collect();
        all.join("; ")
    }

    fn why_given_up(&self, treatment: u32) -> Option<String> {
        let label = self.plan.treatment(treatment)?.label();
        let only = self.plan.treatments.len() == 1;
        let whose = if only { String::new() } else { format!(" of {label}") };
        Some(match self.failures.get(&treatment)? {
            &u32::MAX => format!("the preparation of the trials{whose} failed"),
            failed => {
                let trials = count(*failed as usize, "trial");
                format!("{trials}{whose} failed (max_failures)")
            }
        })
    }

    /// At the end of a block, fixes an open number of blocks or takes a look at the results.
    /// Returns the reason if the run must stop.
    fn block_ended(
        &mut self,
        rule: StopRule,
        index: usize,
        planned: &PlannedTrial,
    ) -> Result<Option<String>, LabError> {
        let last_of_block = self.plan.trials.get(index).is_none_or(|n| n.block != planned.block);
        if !last_of_block || planned.warmup {
            return Ok(None);
        }
        let counted = planned.block + 1 - self.experiment.design.all_warmup_blocks();
        match rule {
            StopRule::Open if counted == 1 => self.fix_blocks().map(|()| None),
            StopRule::Looks => {
                let look = stop::look(self.experiment, &self.plan, self.history.records(), counted);
                let Some((stop, decision)) = look else { return Ok(None) };
                self.writer
                    .ledger(LedgerEvent::Looked { blocks: counted, decision: decision.clone() })?;
                Ok(stop.then_some(decision))
            }
            StopRule::Open | StopRule::Fixed(_) => Ok(None),
        }
    }

    fn fix_blocks(&mut self) -> Result<(), LabError> {
        let times: Vec<f64> =
            self.history.records().iter().filter_map(|r| r.resources.map(|u| u.wall_s)).collect();
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
        planned: &PlannedTrial,
        fitness: &Fit,
        watcher: &mut dyn Watcher,
    ) -> Result<TrialOutcome, LabError> {
        let treatment =
            self.plan.treatment(planned.treatment).ok_or_else(|| LabError::CannotResume {
                run: self.writer.id().clone(),
                reason: format!("its plan has no treatment {}", planned.treatment),
            })?;
        let attempt = self.history.next_attempt(planned.number);
        watcher.started(&self.progress(planned, treatment));
        self.writer.ledger(LedgerEvent::TrialStarted { number: planned.number, attempt })?;
        let RunSession { executor, writer, history, .. } = self;
        let next = NextTrial {
            experiment: self.experiment,
            plan: &self.plan,
            workload: self.workload,
            planned,
            attempt,
            treatment,
            previous: history.previous(treatment.id),
            lasted: history.lasted(treatment.id),
            last: self.plan.trials.last().is_some_and(|t| t.number == planned.number),
            system: &|| writer.reader().and_then(|r| r.system()).ok(),
        };
        let FinishedTrial { recorded, stdout, stderr } = executor.trial(&next, watcher);
        let RecordedTrial { mut record, samples, kept, trace } = recorded;
        if self.completed + self.failed == 0 {
            record.evidence.extend(fitness.seen.iter().cloned());
            record.findings.extend(fitness.findings.iter().cloned());
        }
        self.require_units(&mut record);
        self.require_metric(&mut record);
        // Secrets are removed before anything else sees the record.
        let record = CleanRecord::new(record, self.history.last(treatment.id));
        if let Some(trace) = trace {
            self.writer.trace_next(trace.answer, trace.events);
        }
        self.writer.write_trial(&record, &stdout, &stderr, samples.as_ref(), &kept)?;
        self.executor.recorded()?;
        if record.outcome == TrialOutcome::Completed {
            self.completed += 1;
        } else {
            self.failed += 1;
            let failures = self.failures.entry(record.treatment).or_default();
            // A lasting failure to prepare will repeat in every trial of the treatment.
            let lasts = record.evidence.contains(&Observation::NotPrepared);
            *failures = if lasts { u32::MAX } else { failures.saturating_add(1) };
        }
        watcher.ended(&record);
        let outcome = record.outcome;
        self.history.push(record.into_inner());
        Ok(outcome)
    }

    /// Leaves out values in another unit than in the first completed trial.
    fn require_units(&self, record: &mut TrialRecord) {
        let completed = |r: &&TrialRecord| r.outcome == TrialOutcome::Completed;
        let Some(first) = self.history.records().iter().find(completed) else { return };
        let known: BTreeMap<&str, &MetricValue> =
            first.metrics.iter().map(|m| (m.name.as_str(), m)).collect();
        for metric in &mut record.metrics {
            let Some(known) = known.get(metric.name.as_str()) else { continue };
            let unlike = metric.unit != known.unit && known.value.is_some();
            if unlike && metric.value.take().is_some() {
                record.notes.push(format!(
                    "`{}` is in `{}`, and in the first trial in `{}`; its value was left out",
                    metric.name, metric.unit, known.unit
                ));
            }
        }
    }

    /// Marks a completed trial as failed if it lacks the deciding metric, because it measured
    /// nothing.
    fn require_metric(&self, record: &mut TrialRecord) {
        if record.outcome == TrialOutcome::Completed && record.metric(&self.plan.metric).is_none() {
            record.outcome = TrialOutcome::Failed;
            let name = &self.plan.metric;
            let has: Vec<&str> = record.metrics.iter().map(|m| m.name.as_str()).collect();
            let named = has[..has.len().min(MAX_NAMED)].join(", ");
            let (what, others) = match has.len() {
                _ if has.contains(&name.as_str()) => ("no value for", String::new()),
                0 => ("no", "; it reported nothing".to_owned()),
                1..=MAX_NAMED => ("no", format!("; it reported {named}")),
                n => ("no", format!("; it reported {named} and {} more", n - MAX_NAMED)),
            };
            let notes = record.notes[record.notes.len().saturating_sub(MAX_NOTES)..].join("; ");
            let why = if notes.is_empty() { notes } else { format!("; noted: {notes}") };
            record.error = format!("the program reported {what} `{name}`{others}{why}");
        }
    }

    fn progress<'b>(
        &'b self,
        trial: &'b PlannedTrial,
        treatment: &'b assay_model::Treatment,
    ) -> Progress<'b> {
        let done = self.completed + self.failed;
        let unit = || {
            let metric = self.plan.workload.metric(&self.plan.metric);
            metric.map(|m| m.unit.clone()).unwrap_or_default()
        };
        let estimate = self.history.estimate(treatment.id).map(|value| (value, unit()));
        let recorded = self.history.records().len();
        let total = self.plan.trials.len();
        let left = (done > 0).then(|| {
            let each = self.began.elapsed().as_secs_f64() / done as f64;
            Duration::from_secs_f64(each * (total.saturating_sub(recorded)) as f64)
        });
        Progress { trial, treatment, done: recorded, total, estimate, left }
    }
}

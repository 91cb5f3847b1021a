//! One trial: sets the controls, places the inputs, runs the program, checks its output and
//! restores everything.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_checks::record_observation;
use assay_model::{
    Better, MetricKind, MetricValue, Observation, PlannedTrial, Setting, Treatment, TrialOutcome,
    TrialRecord, ValidationResult,
};
use assay_system::process::container::{self, ContainerStart};
use assay_system::process::{Limits, Output, ProcessEnd, ProcessResult, ProgramSpec, Runner, Sink};
use assay_system::{
    AppliedSettings, ControlScope, Controller, LimitHits, LimitWatch, ObserverHook, PauseDetector,
    ProcessSetup, RecordHook, Root,
};
use assay_workloads::{FinishedProgram, Launch, TrialContext, Workload, WorkloadError};

use crate::clock::now_utc;
use crate::trial::event_reader::EventReader;
use crate::trial::observations::Programs;
use crate::trial::{artifacts, inputs, working_folder};

/// Settings that are the same for all trials of a run.
pub(crate) struct TrialSettings<'a> {
    pub workload: &'a dyn Workload,
    pub controller: &'a Controller,
    pub exe: &'a Path,
    pub run_dir: &'a Path,
    pub trial_dir: &'a Path,
    pub cache_dir: &'a Path,
    /// CPUs of programs whose treatment names none.
    pub cpus: &'a [usize],
    pub timeout: Duration,
    /// Control groups around this process that have limits.
    pub limited: &'a [PathBuf],
    pub output: Output,
    /// Environment variables that the profiler needs in programs.
    pub env: Vec<(OsString, OsString)>,
    /// Words that precede the command of the trial's program.
    pub under: Vec<OsString>,
    /// Observations of the run's programs so far.
    pub programs: &'a RefCell<Programs>,
}

/// One trial to run.
#[derive(Clone, Copy)]
pub(crate) struct TrialSpec<'a> {
    pub planned: &'a PlannedTrial,
    pub attempt: u32,
    pub treatment: &'a Treatment,
    /// Completed records with curves of the same treatment so far.
    pub previous: &'a [TrialRecord],
    /// Called just before the program starts; an error prevents the start.
    pub at_start: &'a StartHook<'a>,
}

/// Function called before a program starts, with the trial's context and the settings of its
/// processes.
pub(crate) type StartHook<'a> =
    dyn Fn(&TrialContext<'_>, &ProcessSetup) -> Result<(), NotStarted> + 'a;

/// Number of bytes kept of each output stream.
pub(crate) const KEEP_BYTES: usize = 2 << 20;
/// Time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Time limit for an empty launch.
const EMPTY: Duration = Duration::from_secs(10);

/// Note on a trial whose output is discarded. The command line prints it before the first trial,
/// too.
pub const DISCARDED: &str =
    "output goes to /dev/null, where some programs (grep) do less work than with a reader";

/// Result of a program's run, functions by which controls complete the record, the program's file,
/// observations made meanwhile, and the wall time of an empty launch in the program's container.
type ExecutionResult =
    (ProcessResult, Vec<RecordHook>, Option<PathBuf>, Vec<Observation>, Option<f64>);

/// Reason why a program was not started.
pub(crate) struct NotStarted {
    /// A sentence for the record.
    error: String,
    /// True if no other trial of the treatment can be started either.
    for_good: bool,
}

impl From<String> for NotStarted {
    fn from(error: String) -> Self {
        NotStarted { error, for_good: false }
    }
}

/// Records the effects of control group limits on a trial.
fn limited(hits: LimitHits, record: &mut TrialRecord) {
    let LimitHits { periods, stopped, stopped_s, memory } = hits;
    let (better, kind) = (Better::Lower, MetricKind::Measured);
    if periods > 0 {
        let value = MetricValue::new("stopped_by_quota", Some(stopped_s), "s", better, kind);
        record.metrics.push(value);
    }
    record_observation(record, Observation::Limited { periods, stopped, stopped_s, memory });
}

/// Creates an empty record for a planned trial.
pub(crate) fn blank(planned: &PlannedTrial, attempt: u32) -> TrialRecord {
    let now = assay_system::clock::monotonic_ns();
    TrialRecord::blank(planned, attempt, now_utc(), now)
}

impl TrialSettings<'_> {
    /// Runs one trial and returns its record. Failures go into the record and are not errors of the
    /// lab.
    pub fn run(
        &self,
        runner: &mut Runner,
        order: TrialSpec<'_>,
        mut events: EventReader<'_>,
    ) -> TrialRecord {
        let mut record = blank(order.planned, order.attempt);
        runner.forget();
        let (actions, settings): (Vec<Setting>, Vec<Setting>) =
            order.treatment.controls.iter().cloned().partition(is_action);
        let mut applied = match self.controller.apply(&settings) {
            Ok(applied) => applied,
            Err(e) => {
                record.error = format!("a control could not be set: {e}");
                return record;
            }
        };
        record.notes.extend(applied.notes.iter().cloned());
        let mut during = applied.during();
        during.extend(assay_system::node_memory(&Root::system(), &applied.setup));
        let params = order.planned.params(&order.treatment.params);
        let ctx = TrialContext {
            number: order.planned.number,
            block: order.planned.block,
            treatment: order.treatment.id,
            params: &params,
            cpus: applied.setup.cpus.as_deref().unwrap_or(self.cpus),
            trial_dir: applied.setup.storage.as_deref().unwrap_or(self.trial_dir),
            run_dir: self.run_dir,
            cache_dir: self.cache_dir,
            exe: self.exe,
            previous: order.previous,
        };
        let own = applied.setup.container.is_none();
        let empty_s = own.then(|| self.empty(runner, &ctx, &applied)).flatten();
        let limits = LimitWatch::start(self.limited.iter().chain(&applied.setup.groups));
        match self.execute(runner, &ctx, (&applied, during), &actions, order.at_start, &mut events)
        {
            Ok((ran, after, program, seen, inside_s)) => {
                self.programs.borrow_mut().see(program.as_deref(), &mut record);
                self.conclude(runner, &ctx, &ran, empty_s.or(inside_s), events, &mut record);
                if let Some(hits) = limits.since() {
                    limited(hits, &mut record);
                }
                for found in seen {
                    record_observation(&mut record, found);
                }
                for say in after {
                    say(&mut record);
                }
            }
            Err(stopped) => {
                record.error = stopped.error;
                if stopped.for_good {
                    record_observation(&mut record, Observation::NotPrepared);
                }
            }
        }
        // Applied at this point, because the program's own reports replace earlier values.
        applied.after(&mut record);
        if let Some(storage) = &applied.setup.storage {
            artifacts::bring(storage, self.trial_dir, &mut record);
        }
        if let Err(e) = applied.restore() {
            record_observation(&mut record, Observation::NotPutBack { error: e.to_string() });
            record.outcome = TrialOutcome::Failed;
            record.error = e.to_string();
        }
        record
    }

    /// Runs the workload's empty launch under the same settings as the trial's program and returns
    /// its wall time in seconds. It runs before the preparation, so that the preparation's effect
    /// on the caches remains.
    fn empty(
        &self,
        runner: &mut Runner,
        ctx: &TrialContext<'_>,
        applied: &AppliedSettings,
    ) -> Option<f64> {
        let launch = self.workload.offers().calibrates?.empty_launch(ctx.params)?;
        let ran =
            self.launch(runner, &launch, ctx.trial_dir, applied, self.timeout.min(EMPTY), &mut ());
        runner.forget();
        ran.ok().filter(|ran| ran.end == ProcessEnd::Exited).map(|ran| ran.resources.wall_s)
    }

    /// Prepares the trial, takes the actions and runs the program.
    fn execute(
        &self,
        runner: &mut Runner,
        ctx: &TrialContext<'_>,
        (applied, during): (&AppliedSettings, Vec<ObserverHook>),
        actions: &[Setting],
        at_start: &StartHook<'_>,
        events: &mut EventReader<'_>,
    ) -> Result<ExecutionResult, NotStarted> {
        let mut launch = self
            .workload
            .prepare(ctx)
            .and_then(|()| inputs::place(self.workload, ctx, &applied.setup))
            .and_then(|()| self.workload.launch(ctx))
            .map_err(|e| NotStarted {
                error: format!("preparation failed: {e}"),
                for_good: matches!(e, WorkloadError::Once(_)),
            })?;
        launch.argv.splice(..0, self.under.iter().cloned());
        launch.env.extend(ctx.variables());
        for note in inputs::make_cold(self.workload, applied).map_err(|e| e.to_string())? {
            events.note(note);
        }
        let contained = self.contain(ctx, &launch, &applied.setup)?;
        let empty_s = contained.as_ref().and_then(|_| self.empty(runner, ctx, applied));
        // Actions (such as dropping caches) come last, so that preparation does not undo them.
        let take = || self.controller.apply(actions);
        let done = (!actions.is_empty()).then(take).transpose();
        let done = done.map_err(|e| format!("a control could not be set: {e}"))?;
        at_start(ctx, &applied.setup)?;
        // A folder inside the trial's own is removed before the next trial, so only others are
        // compared.
        let kept = launch.cwd.as_deref().filter(|cwd| !cwd.starts_with(ctx.trial_dir));
        let first = kept.filter(|_| self.programs.borrow_mut().begins(ctx.treatment));
        let before = first.and_then(|cwd| Some((cwd, working_folder::list(cwd)?)));
        let hiatus = PauseDetector::watch();
        let (ran, after) = assay_system::observe(during, || {
            self.launch(runner, &launch, ctx.trial_dir, applied, self.timeout, events)
        });
        let mut seen = hiatus.seen();
        seen.extend(before.and_then(|(cwd, files)| working_folder::written(cwd, &files)));
        drop(done);
        let program = self.programs.borrow_mut().file_of(&launch, ctx.trial_dir);
        let program = program.filter(|_| contained.is_none());
        seen.extend(contained);
        Ok((ran?, after, program, seen, empty_s))
    }

    /// Starts the container of the trial if its treatment has one.
    fn contain(
        &self,
        ctx: &TrialContext<'_>,
        launch: &Launch,
        setup: &ProcessSetup,
    ) -> Result<Option<Observation>, NotStarted> {
        let Some(request) = &setup.container else { return Ok(None) };
        if launch.by_others {
            return Err("a program over several nodes cannot run in a container".to_owned().into());
        }
        let began = Instant::now();
        let image = request.engine.inspect(&request.image).map_err(|e| e.to_string())?;
        // One mount of their parent takes less time than one each.
        let scratch = ctx.run_dir.parent().filter(|dir| self.trial_dir.starts_with(dir));
        let mut folders = scratch.map_or(vec![ctx.run_dir, self.trial_dir], |dir| vec![dir]);
        folders.extend([&setup.storage, &setup.inputs].into_iter().filter_map(Option::as_deref));
        let started = container::start(&ContainerStart {
            setup,
            request,
            image: &image,
            exe: self.exe,
            folders: &folders,
            read_only: &[self.cache_dir],
            cwd: launch.cwd.as_deref().unwrap_or(ctx.trial_dir),
        });
        started.map_err(|e| e.to_string())?;
        Ok(Some(Observation::Container {
            engine: request.engine.name().to_owned(),
            image: image.name,
            digest: image.digest,
            startup_s: began.elapsed().as_secs_f64(),
        }))
    }

    /// Starts the program under the treatment's process settings and waits until it ends.
    fn launch(
        &self,
        runner: &mut Runner,
        launch: &Launch,
        trial_dir: &Path,
        applied: &AppliedSettings,
        timeout: Duration,
        sink: &mut dyn Sink,
    ) -> Result<ProcessResult, String> {
        let mut env = launch.env.clone();
        env.extend(applied.setup.env.iter().map(|(k, v)| (k.into(), v.into())));
        for (name, value) in &self.env {
            if !env.iter().any(|(known, _)| known == name) {
                env.push((name.clone(), value.clone()));
            }
        }
        let entered = assay_system::enter(&applied.setup).map_err(|e| e.to_string())?;
        let program = ProgramSpec {
            argv: &launch.argv,
            env: &env,
            cwd: Some(launch.cwd.as_deref().unwrap_or(trial_dir)),
            stdin: launch.stdin.as_deref(),
            output: self.output,
            protocol: launch.protocol,
            groups: if launch.by_others { &[] } else { &applied.setup.groups },
            received: None,
            contained: applied.setup.container.as_ref().map(|_| &applied.setup),
            inherits: entered.changed(),
        };
        let limits = Limits { timeout, grace: GRACE, keep_bytes: KEEP_BYTES };
        let ran = runner.run(&program, &limits, sink).map_err(|e| e.to_string());
        entered.leave().map_err(|e| e.to_string())?;
        ran
    }

    /// Copies the outcome of the program into the record.
    fn conclude(
        &self,
        runner: &Runner,
        ctx: &TrialContext<'_>,
        ran: &ProcessResult,
        empty_s: Option<f64>,
        events: EventReader<'_>,
        record: &mut TrialRecord,
    ) {
        record.start_ns = ran.start_ns;
        record.end_ns = ran.end_ns;
        record.exit = Some(ran.exit);
        record.resources = Some(ran.resources);
        record.stdout = summary(&runner.stdout);
        record.stderr = summary(&runner.stderr);
        let spec = self.workload.spec();
        let reported = events.into_record(record, spec);
        let declared = |m: &MetricValue| spec.metric(&m.name).is_some_and(|s| s.counted);
        record.metrics.iter_mut().for_each(|m| m.counted |= declared(m));
        Self::note_leftovers(ran, record);
        match ran.end {
            ProcessEnd::Interrupted => {
                record.outcome = TrialOutcome::Interrupted;
                record.error = "interrupted by a signal to assay".into();
                return;
            }
            ProcessEnd::TimedOut => {
                record.outcome = TrialOutcome::TimedOut;
                record.error = format!(
                    "it ran longer than {} and was ended with its process group",
                    assay_model::units::format_duration(self.timeout)
                );
                return;
            }
            ProcessEnd::WantsTerminal => {
                record.outcome = TrialOutcome::Failed;
                record.error = "it asked for the terminal and has none; use --stdin FILE".into();
                return;
            }
            ProcessEnd::Exited => {}
        }
        let stdout = runner.stdout.bytes();
        let stderr = runner.stderr.bytes();
        let finished = FinishedProgram {
            exit: ran.exit,
            resources: &ran.resources,
            stdout: &stdout,
            stderr: &stderr,
            stdout_whole: runner.stdout.whole(),
            empty_s,
        };
        match self.workload.collect(ctx, &finished) {
            Ok(collected) => {
                record.metrics.extend(collected.metrics);
                record.notes.extend(collected.notes);
                if self.output == Output::Null {
                    record.notes.push(DISCARDED.into());
                }
                collected.evidence.into_iter().for_each(|seen| record_observation(record, seen));
                if record.metrics.iter().any(|m| m.name == "peak_memory" && m.value.is_none()) {
                    record.notes.push(
                        "peak memory is unknown: less than that of the process that started the \
                         program, which the kernel includes; as root, assay reads it for the \
                         program alone"
                            .into(),
                    );
                }
                record.validation = match reported {
                    Some((false, detail)) => ValidationResult::Failed { detail },
                    Some((true, detail))
                        if collected.validation == ValidationResult::ExitCodeOnly =>
                    {
                        ValidationResult::Passed { detail }
                    }
                    _ => collected.validation,
                };
                judge(ran, &stderr, record);
            }
            Err(e) => record.error = format!("its output could not be read: {e}"),
        }
    }

    fn note_leftovers(ran: &ProcessResult, record: &mut TrialRecord) {
        if ran.leftovers > 0 {
            record_observation(record, Observation::Leftovers { processes: ran.leftovers });
        }
        if ran.dropped_lines > 0 {
            record.notes.push(format!(
                "{} lines on descriptor 3 were longer than 16 MiB and were dropped",
                ran.dropped_lines
            ));
        }
    }
}

/// Sets the outcome of a program that exited on its own.
fn judge(ran: &ProcessResult, stderr: &[u8], record: &mut TrialRecord) {
    record.outcome = match &record.validation {
        ValidationResult::Failed { detail } => {
            record.error.clone_from(detail);
            if ran.exit.success() { TrialOutcome::Invalid } else { TrialOutcome::Failed }
        }
        _ => TrialOutcome::Completed,
    };
    if record.outcome == TrialOutcome::Failed {
        record.error = with_last_line(std::mem::take(&mut record.error), stderr);
    }
}

/// Appends the last line of standard error to the error, unless the error contains that line
/// already.
fn with_last_line(error: String, stderr: &[u8]) -> String {
    let end = String::from_utf8_lossy(stderr);
    let Some(last) = end.lines().rev().map(str::trim).find(|l| !l.is_empty()) else { return error };
    let quoted = error.lines().any(|l| l.trim() == last) || error.ends_with(&format!(": {last}"));
    if quoted {
        return error;
    }
    let last: String = last.chars().take(300).collect();
    format!("{error}; its last stderr line: {last}")
}

fn summary(capture: &assay_system::Capture) -> assay_model::StreamSummary {
    assay_model::StreamSummary { bytes: capture.total(), kept: capture.kept() }
}

fn is_action(setting: &Setting) -> bool {
    assay_system::find(&setting.control).is_some_and(|c| c.spec().scope == ControlScope::Action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_trial_says_its_sentence_once() {
        let printed = b"initdb warned\nthe port 5432 is taken; end the program that has it  \n\n";
        // A built-in program's message on standard error is already the error.
        let own = "initdb warned\nthe port 5432 is taken; end the program that has it".to_owned();
        assert_eq!(with_last_line(own.clone(), printed), own);
        assert_eq!(
            with_last_line("exit code 3".into(), printed),
            "exit code 3; its last stderr line: the port 5432 is taken; end the program that has it"
        );
        assert_eq!(with_last_line("exit code 3".into(), b" \n"), "exit code 3");
        assert_eq!(
            with_last_line("exit code 3".into(), b"3\n"),
            "exit code 3; its last stderr line: 3"
        );
        let copy = "copy 2 ended at once: no such file".to_owned();
        assert_eq!(with_last_line(copy.clone(), b"no such file\n"), copy);
    }
}

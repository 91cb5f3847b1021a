//! Runs a plan: registers the run, runs its trials one after the other, decides when to stop, and
//! restores the system.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use assay_archive::{NewRun, RunWriter};
use assay_model::{
    Engine, Experiment, LedgerEvent, Plan, RunId, RunState, Scalar, SystemDescription, TrialRecord,
    WorkloadSpec,
};
use assay_system::redact::Recorder;
use assay_system::{Controller, Interrupt, Root};

use crate::LabError;
use crate::analyse::aa;
use crate::context::Lab;
use crate::executors::executor::{Executor, Local};
use crate::executors::hosts::Hosts;
use crate::executors::nodes::Nodes;
use crate::executors::virtual_machine::VirtualMachines;
use crate::experiment::source::{BuiltRevisions, REV};
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::Watcher;
use crate::run::finished_trials::FinishedTrials;
use crate::run::session::RunSession;
use crate::run::stop;
use crate::scratch;
use crate::trial::machine::Machine;
use crate::{describe, fitness};

/// Result of a run that ended.
#[derive(Debug)]
pub struct EndedRun {
    pub id: RunId,
    pub state: RunState,
    /// Reason for the end, as a sentence.
    pub reason: String,
    /// Number of trials that completed in this session.
    pub completed: usize,
    /// Number of trials that did not complete in this session.
    pub failed: usize,
    /// Labels of the revisions that did not build.
    pub unbuilt: Vec<String>,
    /// Latest record of each trial as written, if this session made all of them; otherwise they
    /// must be read from the archive.
    pub records: Option<Vec<TrialRecord>>,
    /// Description of the system as written, if this session made it.
    pub system: Option<SystemDescription>,
}

/// Resources that are ready before a run is registered.
struct RunResources {
    executor: Box<dyn Executor>,
    fitness: fitness::Fit,
    /// Description of the system, on this machine still without the workload's programs.
    system: SystemDescription,
    remote: bool,
}

impl Lab<'_> {
    /// Runs an experiment from its plan to its end.
    ///
    /// # Errors
    /// The lab could not do its part: the archive cannot be written, a control cannot be set here,
    /// a monitor is unknown, or the machine is unfit and the experiment refuses to run then. Trials
    /// that fail are records, not errors.
    pub fn run(
        &self,
        prepared: &PreparedExperiment,
        watcher: &mut dyn Watcher,
    ) -> Result<EndedRun, LabError> {
        let built = self.build(prepared, watcher)?;
        let prepared = built.as_ref().map_or(prepared, |(_, prepared)| prepared);
        let experiment = &prepared.experiment;
        let ready = self.get_ready(prepared, &[], watcher)?;
        let recorder = self.recorder(experiment);
        let mut system = ready.system.clone();
        if !ready.remote {
            self.build_programs(prepared, watcher);
            let inputs = (experiment, &prepared.plan);
            system = describe::add_programs(system, prepared.workload.as_ref(), inputs, &recorder);
        }
        if let Some((built, _)) = &built {
            let mut facts = built.facts();
            // The output of a build may contain secrets.
            recorder.facts(&mut facts);
            system.facts.extend(facts);
        }
        let host = system.text(if ready.remote { "cluster.node_list" } else { "host.name" });
        let mut writer = self.archive.create_run(&NewRun {
            experiment_toml: &prepared.toml,
            plan: &prepared.plan,
            system: &system,
            host,
            experiment_name: &experiment.name,
            workload: &prepared.plan.workload.name,
            tags: &experiment.tags,
            stop_rule: &stop::stop_rule(experiment),
        })?;
        if !aa::is_self_comparison(&prepared.plan)
            && let Some(floor) =
                aa::newest_self_comparison(&self.state_dir, &prepared.plan, &system)
        {
            writer.ledger(LedgerEvent::FloorKnown { floor: Box::new(floor) })?;
        }
        watcher.registered(writer.id(), prepared.plan.trials.len());
        let mut ended = self.session(prepared, ready, writer, Vec::new(), watcher)?;
        if let Some((built, _)) = &built {
            ended.unbuilt = built.failed().map(|(_, label, _)| label.to_owned()).collect();
        }
        ended.system = Some(system);
        Ok(ended)
    }

    /// Builds the revisions of an experiment with `[source]` before any trial. Revisions that do
    /// not build are left out.
    fn build(
        &self,
        prepared: &PreparedExperiment,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<(BuiltRevisions, PreparedExperiment)>, LabError> {
        let Some(source) = &prepared.experiment.source else { return Ok(None) };
        let interrupt = self.interrupt.clone();
        let mut experiment = prepared.experiment.clone();
        let built = BuiltRevisions::make(&experiment, source, interrupt, &mut |s| watcher.say(s))?;
        let workload = assay_workloads::registry::find(&experiment.workload, &self.kits)?;
        let baseline = &prepared.plan.treatments;
        let baseline = baseline.iter().find(|t| t.id == prepared.plan.baseline);
        let baseline = baseline.and_then(|t| t.levels.get(REV)).map(Scalar::to_text);
        for (level, label, reason) in built.failed() {
            if baseline.as_deref() == Some(level) {
                return Err(LabError::Unbuilt {
                    label: label.to_owned(),
                    without: "the others are compared with it",
                    reason: reason.to_owned(),
                });
            }
            watcher.say(&format!("warning: {label} does not build and is left out: {reason}"));
        }
        let (mut plan, mut toml) = (prepared.plan.clone(), prepared.toml.clone());
        if built.leave_out_failed(&mut experiment) {
            let cpus = crate::trial::cpus::allowed().len();
            plan = crate::make_plan(&experiment, workload.as_ref(), cpus, plan.seed)?;
            toml = crate::plan::prepare::as_text(&experiment);
        }
        built.place(&mut plan, workload.as_ref())?;
        Ok(Some((built, PreparedExperiment { experiment, toml, workload, plan })))
    }

    /// Resumes a run that was interrupted. Trials with a record other than `interrupted` keep it;
    /// the rest of the plan is run.
    ///
    /// # Errors
    /// The same as [`Lab::run`], or the run is complete, still running, or was made with another
    /// version of the workload.
    pub fn resume(&self, id: &RunId, watcher: &mut dyn Watcher) -> Result<EndedRun, LabError> {
        let reader = self.archive.run(id)?;
        let plan = reader.plan()?;
        let records = reader.records()?;
        let text = reader.experiment_toml()?;
        let experiment = crate::read_experiment("experiment.toml", &text)?;
        let workload = assay_workloads::registry::find(&experiment.workload, &self.kits)?;
        if !same_workload(workload.spec(), &plan.workload) {
            let reason = format!("workload `{}` has changed since", experiment.workload);
            return Err(LabError::CannotResume { run: id.clone(), reason });
        }
        if reader.ledger().iter().any(|e| matches!(e.event, LedgerEvent::Redacted { .. })) {
            let reason = "it is a copy for publication, without the trials' inputs".to_owned();
            return Err(LabError::CannotResume { run: id.clone(), reason });
        }
        if reader.state() == RunState::Completed {
            return Err(LabError::NothingToResume(id.clone()));
        }
        crate::plan::check_size(&experiment, plan.treatments.len())?;
        let prepared = PreparedExperiment { experiment, toml: text, workload, plan };
        // Held until the last trial, so that no other command removes the builds from the cache.
        let _built = match &prepared.experiment.source {
            None => None,
            Some(source) => {
                let interrupt = self.interrupt.clone();
                let say = &mut |s: &str| watcher.say(s);
                let built = BuiltRevisions::make(&prepared.experiment, source, interrupt, say)?;
                if !built.is_where(&prepared.plan) {
                    let reason = "its revisions would be built with other tools or variables";
                    return Err(LabError::CannotResume { run: id.clone(), reason: reason.into() });
                }
                Some(built)
            }
        };
        let ready = self.get_ready(&prepared, &records, watcher)?;
        let writer = self.archive.resume(id)?;
        watcher.registered(id, prepared.plan.trials.len());
        self.session(&prepared, ready, writer, records, watcher)
    }

    /// Performs every step that can fail before a run is registered.
    fn get_ready(
        &self,
        prepared: &PreparedExperiment,
        records: &[TrialRecord],
        watcher: &mut dyn Watcher,
    ) -> Result<RunResources, LabError> {
        let experiment = &prepared.experiment;
        if experiment.place.engine == Engine::Vm {
            let mut machines = VirtualMachines::new(self, prepared)?;
            let (system, fitness) = machines.describe(watcher)?;
            return Ok(RunResources {
                executor: Box::new(machines),
                fitness,
                system,
                remote: true,
            });
        }
        if experiment.place.engine == Engine::Ssh {
            let mut hosts = Hosts::new(self, prepared);
            let (system, fitness) = hosts.start(watcher)?;
            return Ok(RunResources { executor: Box::new(hosts), fitness, system, remote: true });
        }
        if experiment.place.is_remote() {
            // Remove folders left by a run that was killed on this machine.
            scratch::sweep(&scratch::scratch_root());
            let mut nodes = Nodes::new(self, prepared);
            nodes.start(first_block(&prepared.plan, records), watcher)?;
            let (system, fitness) = nodes.describe(watcher);
            return Ok(RunResources { executor: Box::new(nodes), fitness, system, remote: true });
        }
        let machine = Machine::set_up(
            experiment,
            &self.state_dir,
            &self.exe,
            self.output,
            self.interrupt.clone(),
            true,
        )?;
        check_controls(&machine.controller, &prepared.plan)?;
        let interrupt = self.interrupt.as_ref();
        let recorder = self.recorder(experiment);
        let say = &mut |sentence: &str| watcher.say(sentence);
        let (fitness, system) = fitness::check(experiment, &recorder, interrupt, &self.exe, say)?;
        for sentence in fitness::sentences(&fitness.findings) {
            watcher.say(&format!("warning: {sentence}"));
        }
        for (tracer, why) in crate::tracers::obstacles(experiment) {
            watcher.say(&format!("warning: the tracer `{tracer}` will record nothing: {why}"));
        }
        Ok(RunResources { executor: Box::new(Local::new(machine)), fitness, system, remote: false })
    }

    fn recorder(&self, experiment: &Experiment) -> Recorder {
        Recorder { key: self.archive.key().ok(), also: experiment.observe.environment.clone() }
    }

    /// Builds the programs that the treatments need and the cache lacks. A failed build is not an
    /// error here: each trial of the treatment fails with the same reason, and the other treatments
    /// run.
    fn build_programs(&self, prepared: &PreparedExperiment, watcher: &mut dyn Watcher) {
        let Some(builds) = prepared.workload.offers().builds else { return };
        let cache_dir = scratch::cache_dir();
        for treatment in &prepared.plan.treatments {
            if self.interrupt.as_ref().is_some_and(Interrupt::fired) {
                return;
            }
            if let Err(e) =
                builds.build(&treatment.params, &cache_dir, &mut |sentence| watcher.say(sentence))
            {
                watcher.say(&format!("warning: {}: {e}", treatment.label()));
            }
        }
    }

    fn session(
        &self,
        prepared: &PreparedExperiment,
        ready: RunResources,
        writer: RunWriter,
        records: Vec<TrialRecord>,
        watcher: &mut dyn Watcher,
    ) -> Result<EndedRun, LabError> {
        let RunResources { executor, fitness, .. } = ready;
        let experiment = &prepared.experiment;
        let made_all = records.is_empty();
        let mut session = RunSession {
            interrupt: self.interrupt.as_ref(),
            experiment,
            workload: prepared.workload.as_ref(),
            executor,
            writer,
            plan: prepared.plan.clone(),
            history: FinishedTrials::new(&prepared.plan.metric, records),
            began: Instant::now(),
            completed: 0,
            failed: 0,
            failures: BTreeMap::new(),
        };
        let ended = session.trials(&fitness, watcher);
        session.executor.end(watcher);
        watcher.finished();
        let RunSession { writer, plan, history, completed, failed, .. } = session;
        let id = writer.id().clone();
        let (state, reason) = match ended {
            Ok(ended) => ended,
            Err(e) => {
                // The archive may be what failed; the data on disk counts anyway.
                let _ = writer.finish(RunState::Failed, &e.to_string());
                watcher.concluded(RunState::Failed, &e.to_string());
                return Err(e);
            }
        };
        if state == RunState::Completed && aa::is_self_comparison(&plan) {
            let system = writer.reader()?.system()?;
            if let Err(e) = aa::keep(&self.state_dir, &id, &plan, history.records(), &system) {
                let dir = self.state_dir.display();
                watcher.say(&format!("warning: cannot save the A/A floor in {dir}: {e}"));
            }
        }
        writer.finish(state, &reason)?;
        watcher.concluded(state, &reason);
        let records = made_all.then(|| history.into_latest());
        let (unbuilt, system) = (Vec::new(), None);
        Ok(EndedRun { id, state, reason, completed, failed, unbuilt, records, system })
    }
}

/// Lists the controls of a plan that this user cannot set on this machine, one sentence for each
/// treatment affected, without repeats. Nothing is changed. `state_dir` holds the journal of
/// controls.
pub fn obstacles(plan: &Plan, state_dir: &Path) -> Vec<String> {
    let controller = Controller::new(state_dir, Root::system());
    let mut found: Vec<String> = Vec::new();
    for treatment in &plan.treatments {
        if let Err(e) = controller.check(&treatment.controls) {
            let sentence = e.to_string();
            if !found.contains(&sentence) {
                found.push(sentence);
            }
        }
    }
    found
}

/// Returns the block of the first trial that remains to be run.
fn first_block(plan: &Plan, records: &[TrialRecord]) -> u32 {
    let history = FinishedTrials::new(&plan.metric, records.to_vec());
    plan.trials.iter().find(|t| !history.stands(t.number)).map_or(0, |t| t.block)
}

fn check_controls(controller: &Controller, plan: &Plan) -> Result<(), LabError> {
    assay_system::process::container::engine::forget_images();
    for treatment in &plan.treatments {
        controller
            .check(&treatment.controls)
            .map_err(|source| LabError::Control { prefix: treatment.prefix(), source })?;
    }
    Ok(())
}
/// Returns true if a workload has not changed since a run began. Earlier versions did not declare
/// how metrics are merged over nodes, so that is ignored, and so are new parameters that have a
/// default.
fn same_workload(now: &WorkloadSpec, then: &WorkloadSpec) -> bool {
    let bare = |spec: &WorkloadSpec| {
        let mut spec = spec.clone();
        spec.help.clear();
        spec.params.retain(|p| p.default.is_none() || then.param(&p.name).is_some());
        spec.metrics.iter_mut().for_each(|metric| metric.merge = None);
        spec
    };
    bare(now) == bare(then)
}

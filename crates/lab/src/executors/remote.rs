//! Steps that the executors on other machines share: the set-up for agents and their fitness, and
//! the record of a trial from the parts that they send.

use std::time::Duration;

use assay_cluster::merge::{MergeSettings, MergedTrial, merge};
use assay_cluster::{
    AgentGroup, ClusterError, GroupLoss, HarnessTimes, NODES, NodePart, SetUp, Setup, TrialRequest,
};
use assay_model::{Finding, Observation, Plan, RunState, TrialRecord, units};
use assay_system::Interrupt;
use assay_system::process::Output;

use crate::Lab;
use crate::executors::executor::{EarlyRunEnd, FinishedTrial, NextTrial};
use crate::fitness;
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::{Watcher, ticks};
use crate::trial::execution::blank;
use crate::trial::machine::RecordedTrial;

/// Time limit for the nodes to set up, not counting the wait until they are fit.
pub(crate) const SET_UP: Duration = Duration::from_secs(300);
/// Maximum number of further unfit nodes that a message names.
const MAX_NAMED: usize = 3;

/// Settings of a run whose trials run on other machines.
pub(crate) struct Remote {
    /// Name of the engine in records.
    engine: &'static str,
    /// Set-up that is sent to the agents.
    pub setup: Setup,
    /// Time limit for the agents to set up, including the wait until they are fit.
    pub limit: Duration,
    pub interrupt: Option<Interrupt>,
    /// Difference between the nodes' steady phases that still coincide.
    pub bound: Duration,
    timeout: Duration,
}

/// Trial as its agents ended it.
pub(crate) struct AgentTrial {
    /// Record without the agents' parts; its error is the loss.
    pub record: TrialRecord,
    pub parts: Vec<NodePart>,
    /// Loss of agents that did not send their part.
    pub lost: Option<GroupLoss>,
    took: HarnessTimes,
}

impl Remote {
    /// Collects the settings of a run. `set_up` limits the set-up without the wait until the agents
    /// are fit.
    pub fn new(
        lab: &Lab<'_>,
        prepared: &PreparedExperiment,
        engine: &'static str,
        set_up: Duration,
    ) -> Self {
        let experiment = &prepared.experiment;
        let duration = |value, least| units::duration_of(value).unwrap_or(least);
        Remote {
            engine,
            setup: setup(lab, prepared),
            limit: set_up.saturating_add(duration(&experiment.fitness.max_wait, Duration::ZERO)),
            interrupt: lab.interrupt.clone(),
            timeout: duration(&experiment.design.timeout, Duration::MAX),
            bound: duration(&experiment.place.phase_bound, Duration::ZERO),
        }
    }

    /// Fails if a signal has ended the run.
    pub fn ensure(&self) -> Result<(), EarlyRunEnd> {
        if self.interrupt.as_ref().is_some_and(Interrupt::fired) {
            return Err((RunState::Interrupted, ClusterError::Interrupted.to_string()));
        }
        Ok(())
    }

    /// Runs a trial on all agents; with `spans`, its program runs over all of them.
    pub fn run(
        &self,
        crew: &mut AgentGroup,
        next: &NextTrial<'_>,
        spans: bool,
        watcher: &mut dyn Watcher,
    ) -> AgentTrial {
        let mut record = blank(next.planned, next.attempt);
        let order = TrialRequest { planned: next.planned.clone(), attempt: next.attempt };
        let interrupt = self.interrupt.as_ref();
        let (parts, lost) = crew.trial(&order, spans, self.timeout, interrupt, &mut ticks(watcher));
        if let Some(lost) = &lost {
            record.error.clone_from(&lost.sentence);
        }
        AgentTrial { record, parts, lost, took: crew.took() }
    }

    /// Makes the record of a trial without agents.
    pub fn failed(&self, next: &NextTrial<'_>, job: &str, error: String) -> FinishedTrial {
        let record = TrialRecord { error, ..blank(next.planned, next.attempt) };
        let took = HarnessTimes::default();
        self.merged(next, job, &AgentTrial { record, parts: Vec::new(), lost: None, took })
    }

    /// Merges the parts of a trial into one record; `job` is the name of the job that ran it.
    pub fn merged(&self, next: &NextTrial<'_>, job: &str, trial: &AgentTrial) -> FinishedTrial {
        let (engine, bound) = (self.engine, self.bound);
        let settings = MergeSettings { spec: &next.plan.workload, engine, job, bound };
        let began = std::time::Instant::now();
        let mut merged = merge(trial.record.clone(), &trial.parts, &settings);
        let merge_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        merged.nodes.took = HarnessTimes { merge_ns, ..trial.took };
        match serde_json::to_vec_pretty(&merged.nodes) {
            Ok(bytes) => merged.kept.push((NODES.into(), bytes)),
            Err(e) => merged.record.notes.push(format!("{NODES} could not be written: {e}")),
        }
        let MergedTrial { record, samples, kept, stdout, stderr, .. } = merged;
        let recorded = RecordedTrial { record, samples, kept, trace: None };
        FinishedTrial { recorded, stdout, stderr }
    }
}

/// Judges the agents' observations before a run, and `seen` between them. The watcher is warned of
/// agents that are not fit.
pub(crate) fn fit(
    set_ups: &[(String, SetUp)],
    mut seen: Vec<Observation>,
    watcher: &mut dyn Watcher,
) -> fitness::Fit {
    let mut findings = assay_checks::judge_observations(&seen);
    let judge = |s: &SetUp| assay_checks::judge_observations(&s.fitness);
    let judged: Vec<_> = set_ups.iter().map(|(name, s)| (name.clone(), judge(s))).collect();
    let mut unfit = judged.iter().filter_map(|(name, found)| {
        let why = fitness::sentences(found);
        (!why.is_empty()).then(|| (name.as_str(), why.join("; ")))
    });
    if let Some((name, why)) = unfit.next() {
        let others: Vec<&str> = unfit.map(|(name, _)| name).collect();
        watcher.say(&format!("warning: node {name}: {why}{}", more("; also not fit: ", &others)));
    }
    findings.extend(gathered(&judged));
    seen.extend(set_ups.iter().flat_map(|(_, s)| s.fitness.iter().cloned()));
    fitness::Fit { seen, findings }
}

/// Ends a group of agents, and warns if its job may still exist.
pub(crate) fn end(crew: Option<AgentGroup>, watcher: &mut dyn Watcher) {
    if let Some(sentence) = crew.and_then(AgentGroup::end) {
        watcher.say(&format!("warning: {sentence}"));
    }
}

/// Reports findings of one kind on several nodes once, with the message of the first node.
fn gathered(nodes: &[(String, Vec<Finding>)]) -> Vec<Finding> {
    let mut all: Vec<(usize, Finding, Vec<&str>)> = Vec::new();
    for (name, findings) in nodes {
        for (i, finding) in findings.iter().enumerate() {
            let nth = findings[..i].iter().filter(|f| f.id == finding.id).count();
            if let Some((_, _, others)) =
                all.iter_mut().find(|(n, f, _)| *n == nth && f.id == finding.id)
            {
                others.push(name);
                continue;
            }
            let mut finding = finding.clone();
            finding.message = format!("node {name}: {}", finding.message);
            all.push((nth, finding, Vec::new()));
        }
    }
    let say = |(_, mut finding, others): (usize, Finding, Vec<&str>)| {
        finding.message += &more("; likewise on ", &others);
        finding
    };
    all.into_iter().map(say).collect()
}

/// Returns `intro` and the first of these nodes, or nothing without nodes.
fn more(intro: &str, nodes: &[&str]) -> String {
    let shown = nodes.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    match nodes.len() {
        0 => String::new(),
        n if n <= MAX_NAMED => format!("{intro}{shown}"),
        n => format!("{intro}{shown} and {} more", n - MAX_NAMED),
    }
}

/// Returns the set-up that is sent to the agents of a run.
pub(crate) fn setup(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Setup {
    Setup {
        experiment: prepared.toml.clone(),
        plan: Plan { trials: Vec::new(), ..prepared.plan.clone() },
        keep_output: lab.output == Output::Keep,
        tasks_per_node: prepared.experiment.place.tasks_per_node as usize,
        name: String::new(),
        key: lab.archive.key().map(|key| key.to_hex()).unwrap_or_default(),
        look_for: Vec::new(),
    }
}

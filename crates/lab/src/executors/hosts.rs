//! Hosts of a run that are reached by SSH: connects to them, and runs each trial on the host of its
//! treatment or block, or on all hosts at the same time.

use std::time::Duration;

use assay_cluster::merge::MergeSettings;
use assay_cluster::ssh::AgentProgram;
use assay_cluster::{
    AgentGroup, ClusterError, Connect, HarnessTimes, Setup, TrialEnd, TrialRequest, describe,
};
use assay_model::{ExecutionPlace, HostUse, RunState, Scalar, SystemDescription, Treatment, units};
use assay_system::Interrupt;

use crate::Lab;
use crate::executors::executor::{EarlyRunEnd, Executor, FinishedTrial, NextTrial};
use crate::executors::remote::{SET_UP, gathered, merged, setup};
use crate::experiment::place::HOST;
use crate::fitness;
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::{Watcher, ticks};
use crate::trial::execution::blank;

/// Hosts that run trials together; there is one such group, or one for each host.
struct HostGroup {
    hosts: Vec<String>,
    crew: Option<AgentGroup>,
}

/// Executor that runs trials on hosts.
pub(crate) struct Hosts {
    place: ExecutionPlace,
    program: AgentProgram,
    setup: Setup,
    limit: Duration,
    timeout: Duration,
    bound: Duration,
    interrupt: Option<Interrupt>,
    groups: Vec<HostGroup>,
}

impl Hosts {
    /// Creates the executor without connecting to a host.
    pub fn new(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Self {
        let experiment = &prepared.experiment;
        let place = experiment.place.clone();
        let duration = |value, least| units::duration_of(value).unwrap_or(least);
        let apart = matches!(place.hosts_as, Some(HostUse::Factor | HostUse::Replicates));
        let groups: Vec<Vec<String>> = if apart {
            place.hosts.iter().map(|host| vec![host.clone()]).collect()
        } else {
            vec![place.hosts.clone()]
        };
        Hosts {
            program: AgentProgram::for_place(&place, &lab.exe),
            setup: setup(lab, prepared),
            limit: SET_UP.saturating_add(duration(&experiment.fitness.max_wait, Duration::ZERO)),
            timeout: duration(&experiment.design.timeout, Duration::MAX),
            bound: duration(&place.phase_bound, Duration::ZERO),
            interrupt: lab.interrupt.clone(),
            groups: groups.into_iter().map(|hosts| HostGroup { hosts, crew: None }).collect(),
            place,
        }
    }

    /// Connects to every host. Returns their description and the findings against measuring on
    /// them.
    ///
    /// # Errors
    /// A host cannot be reached, or its agent cannot set up.
    pub fn start(
        &mut self,
        watcher: &mut dyn Watcher,
    ) -> Result<(SystemDescription, fitness::Fit), ClusterError> {
        (0..self.groups.len()).try_for_each(|at| self.connect(at, watcher))?;
        let crews = self.groups.iter().filter_map(|group| group.crew.as_ref());
        let set_ups: Vec<_> = crews.flat_map(AgentGroup::set_ups).collect();
        let systems: Vec<_> = set_ups.iter().map(|(n, s)| (n.clone(), s.system.clone())).collect();
        let cluster = [
            ("engine", "ssh".to_owned()),
            ("node_list", self.place.hosts.join(",")),
            ("nodes", self.place.hosts.len().to_string()),
        ];
        let described = describe(&systems, &cluster);
        // Differences between hosts that are compared are the subject of the comparison.
        let compared = self.place.hosts_as == Some(HostUse::Factor);
        let mut seen = if compared { Vec::new() } else { described.seen };
        let mut findings = assay_checks::judge_observations(&seen);
        let unfit = gathered(set_ups.iter().map(|(name, s)| (name.as_str(), &s.fitness)));
        for sentence in fitness::sentences(&unfit) {
            watcher.say(&format!("warning: {sentence}"));
        }
        findings.extend(unfit);
        seen.extend(set_ups.iter().flat_map(|(_, s)| s.fitness.iter().cloned()));
        Ok((described.system, fitness::Fit { seen, findings }))
    }

    fn connect(&mut self, at: usize, watcher: &mut dyn Watcher) -> Result<(), ClusterError> {
        let group = &mut self.groups[at];
        if group.crew.is_none() {
            let request = Connect {
                hosts: &group.hosts,
                place: &self.place,
                program: &self.program,
                setup: &self.setup,
                limit: self.limit,
                interrupt: self.interrupt.as_ref(),
            };
            group.crew = Some(AgentGroup::connect(&request, &mut |s| watcher.say(s))?);
        }
        Ok(())
    }

    /// Returns the group that runs a trial.
    fn group(&self, next: &NextTrial<'_>) -> usize {
        let level = |t: &Treatment| t.levels.get(HOST).map(Scalar::to_text);
        let host = next.planned.host.clone().or_else(|| level(next.treatment));
        let place = host.and_then(|host| self.groups.iter().position(|g| g.hosts[0] == host));
        place.unwrap_or(0)
    }
}

impl Executor for Hosts {
    /// Runs a trial on its host or hosts. If one is lost, the record states it, and the next trial
    /// there connects again.
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> FinishedTrial {
        let NextTrial { plan, planned, attempt, .. } = *next;
        let at = self.group(next);
        let connected = self.connect(at, watcher);
        let mut record = blank(planned, attempt);
        let settings =
            MergeSettings { spec: &plan.workload, engine: "ssh", job: "", bound: self.bound };
        let Some(crew) = &mut self.groups[at].crew else {
            record.error = connected.err().map(|e| e.to_string()).unwrap_or_default();
            return merged(&settings, record, &[], HarnessTimes::default());
        };
        let order = TrialRequest { planned: planned.clone(), attempt };
        let interrupt = self.interrupt.as_ref();
        let end = crew.trial(&order, false, self.timeout, interrupt, &mut ticks(watcher));
        let took = crew.took();
        let parts = match end {
            TrialEnd::Parts(parts) => parts,
            TrialEnd::Lost(lost, parts) => {
                record.error.clone_from(&lost.sentence);
                if let Some(sentence) = self.groups[at].crew.take().and_then(AgentGroup::end) {
                    watcher.say(&format!("warning: {sentence}"));
                }
                parts
            }
        };
        let mut done = merged(&settings, record, &parts, took);
        crate::trial::per_operation::over_nodes(plan, &mut done.recorded.record);
        done
    }

    fn ensure(&mut self, _: u32, _: &mut dyn Watcher) -> Result<(), EarlyRunEnd> {
        if self.interrupt.as_ref().is_some_and(Interrupt::fired) {
            return Err((RunState::Interrupted, ClusterError::Interrupted.to_string()));
        }
        Ok(())
    }

    fn end(&mut self, watcher: &mut dyn Watcher) {
        for group in &mut self.groups {
            if let Some(sentence) = group.crew.take().and_then(AgentGroup::end) {
                watcher.say(&format!("warning: {sentence}"));
            }
        }
    }
}

//! Hosts of a run that are reached by SSH: connects to them, and runs each trial on the host of its
//! treatment or block, or on all hosts at the same time.

use assay_cluster::ssh::AgentProgram;
use assay_cluster::{AgentGroup, ClusterError, Connect, describe};
use assay_model::{ExecutionPlace, HostUse, Scalar, SystemDescription, Treatment};

use crate::Lab;
use crate::executors::executor::{EarlyRunEnd, Executor, FinishedTrial, NextTrial};
use crate::executors::remote::{Remote, SET_UP, end, fit};
use crate::experiment::place::HOST;
use crate::fitness;
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::Watcher;

/// Hosts that run trials together; there is one such group, or one for each host.
struct HostGroup {
    hosts: Vec<String>,
    crew: Option<AgentGroup>,
}

/// Executor that runs trials on hosts.
pub(crate) struct Hosts {
    place: ExecutionPlace,
    program: AgentProgram,
    remote: Remote,
    groups: Vec<HostGroup>,
}

impl Hosts {
    /// Creates the executor without connecting to a host.
    pub fn new(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Self {
        let place = prepared.experiment.place.clone();
        let apart = matches!(place.hosts_as, Some(HostUse::Factor | HostUse::Replicates));
        let groups: Vec<Vec<String>> = if apart {
            place.hosts.iter().map(|host| vec![host.clone()]).collect()
        } else {
            vec![place.hosts.clone()]
        };
        Hosts {
            program: AgentProgram::for_place(&place, &lab.exe),
            remote: Remote::new(lab, prepared, "ssh", SET_UP),
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
        let seen = if compared { Vec::new() } else { described.seen };
        Ok((described.system, fit(&set_ups, seen, watcher)))
    }

    fn connect(&mut self, at: usize, watcher: &mut dyn Watcher) -> Result<(), ClusterError> {
        let group = &mut self.groups[at];
        if group.crew.is_none() {
            let request = Connect {
                hosts: &group.hosts,
                place: &self.place,
                program: &self.program,
                setup: &self.remote.setup,
                limit: self.remote.limit,
                interrupt: self.remote.interrupt.as_ref(),
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
        let at = self.group(next);
        let connected = self.connect(at, watcher);
        let Some(crew) = &mut self.groups[at].crew else {
            let error = connected.err().map(|e| e.to_string()).unwrap_or_default();
            return self.remote.failed(next, "", error);
        };
        let trial = self.remote.run(crew, next, false, watcher);
        if trial.lost.is_some() {
            end(self.groups[at].crew.take(), watcher);
        }
        let mut done = self.remote.merged(next, "", &trial);
        crate::trial::per_operation::over_nodes(next.plan, &mut done.recorded.record);
        done
    }

    fn ensure(&mut self, _: u32, _: &mut dyn Watcher) -> Result<(), EarlyRunEnd> {
        self.remote.ensure()
    }

    fn end(&mut self, watcher: &mut dyn Watcher) {
        for group in &mut self.groups {
            end(group.crew.take(), watcher);
        }
    }
}

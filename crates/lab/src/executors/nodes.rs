//! Nodes of a run: starts the job and its agents when a trial needs them, and merges the parts of a
//! trial from all nodes into one record.

use std::path::PathBuf;

use assay_cluster::{AgentGroup, AgentRequest, ClusterError, LostTo, Setup, describe};
use assay_model::{Engine, ExecutionPlace, JobSpan, RunState, SystemDescription, TrialOutcome};

use crate::Lab;
use crate::executors::executor::{EarlyRunEnd, Executor, FinishedTrial, NextTrial};
use crate::executors::remote::{Remote, SET_UP, end, fit, setup};
use crate::fitness;
use crate::plan::prepare::PreparedExperiment;
use crate::progress::watcher::Watcher;

/// Executor that runs trials on the nodes of a Slurm job.
pub(crate) struct Nodes {
    place: ExecutionPlace,
    exe: PathBuf,
    state_dir: PathBuf,
    remote: Remote,
    crew: Option<AgentGroup>,
    /// Treatments whose program runs over all nodes.
    spanning: Vec<u32>,
    /// Block that the current job was started for.
    block: Option<u32>,
    /// Nodes lost in this session, which later jobs must avoid.
    exclude: Vec<String>,
    /// Reason why there is no crew.
    absent: String,
    /// State in which the run must end, because its job was ended from outside.
    over: Option<EarlyRunEnd>,
}

impl Nodes {
    /// Creates the executor without requesting nodes yet.
    pub fn new(lab: &Lab<'_>, prepared: &PreparedExperiment) -> Self {
        let place = prepared.experiment.place.clone();
        Nodes {
            exe: assay_cluster::slurm::agent_path(&place, &lab.exe),
            state_dir: lab.state_dir.clone(),
            remote: Remote::new(lab, prepared, "slurm", SET_UP),
            place,
            crew: None,
            spanning: prepared
                .plan
                .treatments
                .iter()
                .filter(|t| prepared.workload.offers().spans.is_some_and(|s| s.spans(&t.params)))
                .map(|t| t.id)
                .collect(),
            block: None,
            exclude: Vec::new(),
            absent: "there are no nodes".into(),
            over: None,
        }
    }

    /// Makes sure that a crew is running for the trials of this block.
    pub fn start(&mut self, block: u32, watcher: &mut dyn Watcher) -> Result<(), ClusterError> {
        let other = self.place.job == JobSpan::Block && self.block != Some(block);
        if other && self.block.is_some() {
            end(self.crew.take(), watcher);
        }
        self.block = Some(block);
        if self.crew.is_some() {
            return Ok(());
        }
        let request = AgentRequest {
            place: &self.place,
            exclude: &self.exclude,
            exe: self.exe.clone(),
            state_dir: &self.state_dir,
            setup: &self.remote.setup,
            limit: self.remote.limit,
            interrupt: self.remote.interrupt.as_ref(),
        };
        self.crew = Some(AgentGroup::start(&request, &mut |sentence| watcher.say(sentence))?);
        Ok(())
    }

    /// Returns the description of the nodes and the findings against measuring on them. The crew
    /// must be running.
    pub fn describe(&self, watcher: &mut dyn Watcher) -> (SystemDescription, fitness::Fit) {
        let Some(crew) = &self.crew else {
            return (SystemDescription::default(), fitness::Fit::default());
        };
        let set_ups = crew.set_ups();
        let systems: Vec<_> = set_ups.iter().map(|(n, s)| (n.clone(), s.system.clone())).collect();
        let list = crew.node_list();
        let cluster = [
            ("engine", "slurm".to_owned()),
            ("version", assay_cluster::slurm::version().unwrap_or_else(|e| e.to_string())),
            ("job", crew.job().to_owned()),
            ("nodes", self.place.nodes.to_string()),
            ("tasks_per_node", self.place.tasks_per_node.to_string()),
            ("mpi", self.place.mpi.clone()),
            ("node_list", list),
            ("partition", self.place.partition.clone().unwrap_or_else(|| "default".into())),
        ];
        let described = describe(&systems, &cluster);
        (described.system, fit(&set_ups, described.seen, watcher))
    }
}

impl Executor for Nodes {
    /// If nodes fail when their job starts, the next trial fails and the job after that excludes
    /// them.
    fn ensure(&mut self, block: u32, watcher: &mut dyn Watcher) -> Result<(), EarlyRunEnd> {
        match self.start(block, watcher) {
            Err(e) if !e.failed_nodes().is_empty() => {
                self.exclude.extend_from_slice(e.failed_nodes());
                self.absent = e.to_string();
                Ok(())
            }
            Err(e @ ClusterError::Interrupted) => Err((RunState::Interrupted, e.to_string())),
            Err(e) => Err((RunState::Failed, e.to_string())),
            Ok(()) => Ok(()),
        }
    }

    /// Runs a trial on all nodes. If nodes are lost, the record states it and the next trial gets a
    /// new job.
    fn trial(&mut self, next: &NextTrial<'_>, watcher: &mut dyn Watcher) -> FinishedTrial {
        let Some(crew) = &mut self.crew else {
            return self.remote.failed(next, "", self.absent.clone());
        };
        let job = crew.job().to_owned();
        let spans = self.spanning.contains(&next.planned.treatment);
        let mut trial = self.remote.run(crew, next, spans, watcher);
        if let Some(lost) = trial.lost.take() {
            let early = match lost.to {
                LostTo::Cancelled => Some(format!("the Slurm job {job} was cancelled")),
                LostTo::TimeLimit if self.place.job == JobSpan::Run => Some(format!(
                    "the Slurm job {job} reached its time limit (`where.time_limit`, or \
                     `where.job = \"block\"`)"
                )),
                LostTo::TimeLimit => None,
                LostTo::Failure => {
                    self.exclude.extend(lost.nodes);
                    None
                }
            };
            self.over = early.map(|why| (RunState::Interrupted, why)).or(self.over.take());
            end(self.crew.take(), watcher);
        }
        let mut done = self.remote.merged(next, &job, &trial);
        crate::trial::per_operation::over_nodes(next.plan, &mut done.recorded.record);
        if self.over.is_some() {
            // The trial was cut off together with its job, and a resumed run repeats it.
            done.recorded.record.outcome = TrialOutcome::Interrupted;
        }
        done
    }

    fn over(&mut self) -> Option<EarlyRunEnd> {
        self.over.take()
    }

    fn end(&mut self, watcher: &mut dyn Watcher) {
        end(self.crew.take(), watcher);
    }
}

/// Checks a Slurm installation with a job of a few seconds ([`assay_cluster::doctor`]), or hosts
/// ([`assay_cluster::doctor_hosts`]). The nodes set up `prepared` but run nothing. `folders` are
/// those that the nodes should share with this machine.
pub fn doctor(
    lab: &Lab<'_>,
    prepared: &PreparedExperiment,
    folders: &[PathBuf],
) -> assay_cluster::ClusterReport {
    let experiment = &prepared.experiment;
    // A diagnosis keeps no output and hashes no values.
    let setup = Setup { key: String::new(), keep_output: false, ..setup(lab, prepared) };
    if experiment.place.engine == Engine::Ssh {
        return assay_cluster::doctor_hosts(&experiment.place, &lab.exe, &setup);
    }
    assay_cluster::doctor(&experiment.place, &lab.exe, &lab.state_dir, folders, &setup)
}

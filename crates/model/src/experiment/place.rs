//! Place of a run: this machine, virtual machines on it, or the nodes of a cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scalar;

/// Executor that runs the trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Run on this machine.
    #[default]
    #[serde(alias = "here")]
    Local,
    /// Run on nodes that Slurm allocates; every trial uses all of them.
    Slurm,
    /// Run in virtual machines on this machine, one at a time.
    Vm,
    /// Run on other hosts, which are reached by the user's `ssh`.
    Ssh,
}

/// Meaning of several hosts in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostUse {
    /// Every trial runs on all hosts at the same time, as on the nodes of a Slurm job.
    Together,
    /// Every treatment runs on every host, one at a time; `host` is a factor that is compared.
    Factor,
    /// The blocks run on the hosts in turn. A comparison has one value per host, so that its
    /// interval covers the differences between hosts.
    Replicates,
}

/// Scope of one job of the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobSpan {
    /// One job for the whole run.
    #[default]
    Run,
    /// One job for each block, where the site's time limits are too short for a run.
    Block,
}

/// Place where the trials run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExecutionPlace {
    /// Executor of the trials.
    pub engine: Engine,
    /// Hosts of engine `ssh`, as `ssh` takes them (`name`, `user@name`, an alias of its
    /// configuration).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Meaning of several hosts; required unless `server_node` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_as: Option<HostUse>,
    /// Working folder on the hosts of engine `ssh`; if absent, the user's home folder there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Number of nodes of each trial.
    pub nodes: u32,
    /// Number of copies of the workload's program on each node, each with its share of the CPUs.
    pub tasks_per_node: u32,
    /// Partition of the nodes; if absent, the scheduler's default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// Required features of the nodes, in the scheduler's syntax (`"skylake&ib"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// True if no other job may run on the nodes.
    pub exclusive: bool,
    /// Time limit requested for a job (a duration); if absent, the partition's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Scalar>,
    /// Scope of a job: the run, or a block.
    pub job: JobSpan,
    /// True if the first node runs only the workload's server and the other nodes send the load.
    pub server_node: bool,
    /// Value of `srun --mpi=` for a program that runs over all nodes (`pmix`, `pmi2`, ...).
    pub mpi: String,
    /// Additional options of `salloc` or `ssh`, each with its value (`["--account=x"]`,
    /// `["-p2222"]`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// Path of assay on the nodes; if absent, the path on this machine. Hosts of engine `ssh` get a
    /// copy of this program if it is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Address of this machine that the nodes can reach; if absent, all of its addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Maximum time that a job may wait for its nodes (a duration).
    pub max_wait: Scalar,
    /// Maximum time that the nodes may take to start their agents (a duration).
    pub start_timeout: Scalar,
    /// Maximum difference between the beginnings, or the ends, of steady phases that still coincide
    /// (a duration).
    pub phase_bound: Scalar,
    /// Settings of the virtual machine: `kernel`, `root`, `cmdline`, `memory`, `cpus`, `numa`,
    /// `disks`, `accelerator` and `boot_timeout`. A factor `vm.NAME` varies one of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vm: BTreeMap<String, Scalar>,
}

impl Default for ExecutionPlace {
    fn default() -> Self {
        ExecutionPlace {
            engine: Engine::Local,
            hosts: Vec::new(),
            hosts_as: None,
            folder: None,
            nodes: 1,
            tasks_per_node: 1,
            partition: None,
            constraint: None,
            exclusive: true,
            time_limit: None,
            job: JobSpan::Run,
            server_node: false,
            mpi: "pmix".into(),
            options: Vec::new(),
            program: None,
            listen: None,
            max_wait: Scalar::Text("10 min".into()),
            start_timeout: Scalar::Text("1 min".into()),
            phase_bound: Scalar::Text("100 ms".into()),
            vm: BTreeMap::new(),
        }
    }
}

impl ExecutionPlace {
    /// Returns true if every setting has its default.
    pub fn is_default(&self) -> bool {
        *self == ExecutionPlace::default()
    }

    /// Returns the number of machines that a trial runs on at the same time.
    pub fn machines(&self) -> u32 {
        match (self.engine, self.hosts_as) {
            (Engine::Ssh, Some(HostUse::Factor | HostUse::Replicates)) => 1,
            (Engine::Ssh, _) => u32::try_from(self.hosts.len()).unwrap_or(u32::MAX),
            _ => self.nodes,
        }
    }

    /// Returns true unless the executor is [`Engine::Local`].
    pub fn is_remote(&self) -> bool {
        self.engine != Engine::Local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_of_before_is_read() {
        assert_eq!(serde_json::from_str::<Engine>("\"here\"").unwrap(), Engine::Local);
        assert_eq!(serde_json::to_string(&Engine::Local).unwrap(), "\"local\"");
    }
}

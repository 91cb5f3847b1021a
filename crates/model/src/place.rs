//! Where a run happens: on this machine, in virtual machines on it, or on the nodes of a cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Scalar;

/// What runs the trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// This machine.
    #[default]
    #[serde(alias = "here")]
    Local,
    /// Nodes that Slurm gives, all of them in every trial.
    Slurm,
    /// Virtual machines on this machine, one at a time.
    Vm,
}

/// What one job of the scheduler is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobSpan {
    /// The whole run.
    #[default]
    Run,
    /// A block, where the site's limits are too short for a run.
    Block,
}

/// Where the trials run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Where {
    /// What runs them.
    pub engine: Engine,
    /// How many nodes.
    pub nodes: u32,
    /// How many times the workload's program runs on each node, each with its share of the CPUs.
    pub tasks_per_node: u32,
    /// The partition; absent: the scheduler's usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    /// What the nodes must have, in the scheduler's words (`"skylake&ib"`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// Whether nobody else may be on the nodes.
    pub exclusive: bool,
    /// The time that is asked for a job (a duration); absent: the partition's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Scalar>,
    /// Whether a job is for the run or for a block.
    pub job: JobSpan,
    /// Whether the first node runs the workload's server alone and the others ask it.
    pub server_node: bool,
    /// The value of `srun --mpi=` for a program that runs over all nodes (`pmix`, `pmi2`, ...).
    pub mpi: String,
    /// More options of `salloc` (`["--account=x"]`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The path of assay on the nodes; absent: the path that it has here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The address of this machine that the nodes reach; absent: all that it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// How long a job may wait for its nodes (a duration).
    pub max_wait: Scalar,
    /// How long the nodes may take to start their agents (a duration).
    pub start_timeout: Scalar,
    /// Steady phases that begin or end further apart than this do not coincide (a duration).
    pub phase_bound: Scalar,
    /// The virtual machine: `kernel`, `root`, `cmdline`, `memory`, `cpus`, `numa`, `disks`, `accelerator` and
    /// `boot_timeout`. A factor `vm.NAME` varies one of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vm: BTreeMap<String, Scalar>,
}

impl Default for Where {
    fn default() -> Self {
        Where {
            engine: Engine::Local,
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

impl Where {
    /// Whether nothing was asked for.
    pub fn is_default(&self) -> bool {
        *self == Where::default()
    }

    /// Whether the trials run on other machines.
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

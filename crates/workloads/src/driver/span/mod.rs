//! One program over all nodes of a Slurm job, as ranks that communicate over MPI. The first node
//! starts it with `srun` ([`Span`]). Before that, every node has prepared resources for its ranks
//! and described them in a local file ([`Share`]), which each rank reads ([`rank`]) before it
//! starts the program.

mod rank;
mod share;
mod used;

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

pub use rank::run as rank;
pub use share::Share;
pub use used::{RankCpuTime, placed, used};

/// Name of the trial program of a rank.
pub const RANK: &str = "rank";

/// The nodes that a program runs over, and the way to start it there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Id of the Slurm job.
    pub job: String,
    /// Name of the job step with the ranks; no other step of the job has it.
    pub step: String,
    /// Value of `srun --mpi=`.
    pub mpi: String,
    /// Number of nodes of the step.
    pub nodes: u32,
    /// Number of tasks on each node, which share its CPUs.
    pub tasks_per_node: u32,
}

/// Spec of a rank, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RankSpec {
    /// Name of the step that the rank must belong to.
    step: String,
    /// Number of ranks per task.
    each: usize,
    /// Number of tasks per node.
    tasks_per_node: u32,
    /// The program and its arguments.
    argv: Vec<String>,
}

impl Span {
    /// Returns the total number of ranks, with `each` ranks per task.
    pub fn ranks(&self, each: usize) -> usize {
        self.nodes as usize * self.tasks_per_node as usize * each
    }

    /// Returns the launcher for messages.
    pub fn launcher(&self) -> String {
        format!("srun --mpi={}", self.mpi)
    }

    /// Returns the command that runs `argv` as `each` ranks per task; `exe` is the path of assay,
    /// the same on all nodes.
    pub fn command(&self, exe: &Path, each: usize, argv: &[String]) -> Command {
        let spec = RankSpec {
            step: self.step.clone(),
            each,
            tasks_per_node: self.tasks_per_node,
            argv: argv.to_vec(),
        };
        let mut command = Command::new("srun");
        command.args([
            format!("--jobid={}", self.job),
            format!("--job-name={}", self.step),
            format!("--nodes={0}-{0}", self.nodes),
            format!("--ntasks-per-node={}", self.tasks_per_node as usize * each),
            format!("--ntasks={}", self.ranks(each)),
            format!("--mpi={}", self.mpi),
        ]);
        // The agents occupy the nodes already. There may be more ranks than CPUs, and the scheduler
        // places them.
        command.args(["--overlap", "--overcommit", "--cpu-bind=none", "--distribution=block"]);
        command.args(["--kill-on-bad-exit=1", "--input=none", "--export=ALL"]);
        command.arg(exe).args(["__work", RANK]).arg(serde_json::json!(spec).to_string());
        for (name, _) in std::env::vars_os().filter(|(n, _)| is_of_the_agent(&n.to_string_lossy()))
        {
            command.env_remove(name);
        }
        command
    }
}

/// Returns true if a variable comes from the step that an agent runs in, and not from the site or
/// the user.
fn is_of_the_agent(name: &str) -> bool {
    let kept = ["SLURM_CONF", "SLURM_PMIX_", "PMIX_MCA_", "OMPI_MCA_"];
    ["SLURM_", "SLURMD_", "PMI_", "PMIX_", "OMPI_"].iter().any(|p| name.starts_with(p))
        && !kept.iter().any(|k| name.starts_with(k))
}

/// Converts the program and its arguments to text, because they are passed as JSON.
///
/// # Errors
/// Fails if one of them is not UTF-8.
pub fn as_text(argv: &[OsString]) -> Result<Vec<String>, crate::WorkloadError> {
    let text = |word: &OsString| {
        word.to_str().map(str::to_owned).ok_or_else(|| {
            crate::WorkloadError::Param(format!("{} is not UTF-8", word.to_string_lossy()))
        })
    };
    argv.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span() -> Span {
        Span {
            job: "7".into(),
            step: "assay-mpi-3-1".into(),
            mpi: "pmix".into(),
            nodes: 4,
            tasks_per_node: 1,
        }
    }

    #[test]
    fn the_ranks_are_a_step_of_the_job() {
        let command = span().command(Path::new("/bin/assay"), 2, &["solve".into()]);
        let words: Vec<String> =
            command.get_args().map(|a| a.to_string_lossy().into_owned()).collect();
        let line = words.join(" ");
        assert!(line.starts_with("--jobid=7 --job-name=assay-mpi-3-1 --nodes=4-4 "), "{line}");
        assert!(line.contains("--ntasks-per-node=2 --ntasks=8 --mpi=pmix --overlap"), "{line}");
        let spec: RankSpec = serde_json::from_str(words.last().unwrap()).unwrap();
        assert_eq!((spec.each, spec.argv), (2, vec!["solve".to_owned()]));
    }

    #[test]
    fn settings_of_the_site_go_on_and_the_agents_own_do_not() {
        for kept in ["SLURM_CONF", "SLURM_PMIX_DIRECT_CONN", "OMPI_MCA_btl", "PATH", "PMIX_MCA_x"] {
            assert!(!is_of_the_agent(kept), "{kept}");
        }
        for gone in ["SLURM_JOB_ID", "SLURM_NTASKS", "SLURMD_NODENAME", "PMIX_RANK", "PMI_FD"] {
            assert!(is_of_the_agent(gone), "{gone}");
        }
    }
}

//! One rank: `assay __work rank JSON`, a task of the step that the first node started. It reads
//! what its node has prepared, runs the program as its child with these settings, and reports the
//! CPU time.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use assay_model::Exit;
use assay_system::{ExitedChild, ProcessSetup, end_with_parent, enter, join_groups, wait_any};

use super::{RankSpec, Share};
use crate::Failure;
use crate::driver::span::used::RankCpuTime;

/// Variables for the folder in which Open MPI keeps memory shared by the ranks of a node, as named
/// by its versions 4 and 5.
const SHARED: [&str; 2] =
    ["OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory"];

/// Returns the failure of a missing variable that Slurm sets for each task of a step.
fn no_task(name: &str) -> Failure {
    Failure::other(format_args!("a rank is started by `srun`: {name} is not set"))
}

/// The task of the step that this process is.
struct StepRank {
    rank: usize,
    local: usize,
    node: String,
}

impl StepRank {
    fn own() -> Result<Self, Failure> {
        let text = |name| std::env::var(name).map_err(|_| no_task(name));
        let number = |name| text(name)?.parse().map_err(|_| no_task(name));
        Ok(StepRank {
            rank: number("SLURM_PROCID")?,
            local: number("SLURM_LOCALID")?,
            node: text("SLURMD_NODENAME")?,
        })
    }

    /// Describes the task: `rank 3 on node n1`.
    fn named(&self) -> String {
        format!("rank {} on node {}", self.rank, self.node)
    }

    /// Returns the state folder of the agent whose share this rank uses.
    fn folder(&self, spec: &RankSpec) -> PathBuf {
        let name = if spec.tasks_per_node > 1 {
            format!("{}.{}", self.node, self.local / spec.each.max(1))
        } else {
            self.node.clone()
        };
        assay_system::state_dir().join("nodes").join(name)
    }
}

/// Runs the rank that `json` describes.
///
/// # Errors
/// [`Failure`] if the program could not be started or failed.
pub fn run(json: &str) -> Result<(), Failure> {
    let spec: RankSpec = serde_json::from_str(json)?;
    let task = StepRank::own()?;
    let share = share(&spec, &task)?;
    let ended = become_program(&spec, &task, &share)?;
    let used = RankCpuTime {
        rank: task.rank,
        node: task.node.clone(),
        cpus: share.cpus.len(),
        user_s: ended.user_s,
        system_s: ended.system_s,
    };
    let how = match ended.exit {
        Exit::Code(0) => None,
        Exit::Code(code) => Some(format!("exit code {code}")),
        Exit::Signal(signal) => Some(format!("signal {signal}")),
    };
    let failure = how.map(|how| Failure::other(format_args!("{} ended with {how}", task.named())));
    let more = failure.as_ref().map_or_else(String::new, |f| format!("{f}\n"));
    let words = format!("{}\n{more}", used.line());
    // Written in one piece, so that no other rank's output comes in between, and at once, because
    // Slurm is about to end the step. The reader may have ended; that is ignored.
    let _ = io::stdout().write_all(words.as_bytes());
    failure.map_or(Ok(()), Err)
}

fn share(spec: &RankSpec, task: &StepRank) -> Result<Share, Failure> {
    let folder = task.folder(spec);
    let none = |why| {
        let (node, rank) = (&task.node, task.rank);
        Failure::program(format_args!("node {node} has prepared nothing for rank {rank}"), why)
    };
    let share = Share::read(&folder).map_err(|e| none(format!("{}: {e}", folder.display())))?;
    if share.step == spec.step {
        return Ok(share);
    }
    Err(none(format!("{} is for {}, not {}", folder.display(), share.step, spec.step)))
}

/// Runs the program in the trial's folder of this node, under the treatment's settings.
fn become_program(spec: &RankSpec, task: &StepRank, share: &Share) -> Result<ExitedChild, Failure> {
    let program = spec.argv.first().cloned().unwrap_or_default();
    let failed =
        |why: String| Failure::program(format_args!("{}: start {program}", task.named()), why);
    let setup = ProcessSetup {
        cpus: Some(share.cpus.clone()).filter(|cpus| !cpus.is_empty()),
        ..share.setup.clone()
    };
    let entered = enter(&setup).map_err(|e| failed(e.to_string()))?;
    let mut command = Command::new(&program);
    command.args(spec.argv.iter().skip(1)).current_dir(&share.dir).stdin(Stdio::null());
    command.envs(setup.env.iter().map(|(name, value)| (name, value)));
    if let Some(memory) = &share.memory {
        command.envs(SHARED.map(|name| (name, memory)));
    }
    // A rank belongs to Slurm's step and not to its node's agent, so it joins the control groups
    // that the agent made.
    join_groups(&mut command, &setup.groups)
        .map_err(|(path, e)| failed(format!("join the control group {}: {e}", path.display())))?;
    let own = share.ranks.join(std::process::id().to_string());
    std::fs::write(&own, "").map_err(|e| failed(format!("write {}: {e}", own.display())))?;
    end_with_parent(&mut command, None);
    command.spawn().map_err(|e| failed(e.to_string()))?;
    let ended = wait_any().map_err(|e| failed(e.to_string()));
    drop(entered);
    ended
}

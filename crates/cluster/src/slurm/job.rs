//! One Slurm job: `salloc` holds it and runs `srun`, which starts a task on every node.
//!
//! The job ends when its tasks do, and the tasks end when their connection does. So the job of a
//! killed assay ends by itself; if it does not, it is cancelled by name.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use assay_model::ExecutionPlace;

use super::{JobState, call, job_named};
use crate::ClusterError;
use crate::output::{ProgramOutput, ended_within, last_words};
use crate::slurm::orphaned_jobs::JobNote;

/// Maximum time for tasks to end after their connection did, and for the job to end after it was
/// cancelled.
const LEAVE: Duration = Duration::from_secs(8);
/// The same limit when some tasks may be lost.
const BROKEN: Duration = Duration::from_secs(2);

/// Request for a Slurm job.
#[derive(Debug, Clone)]
pub struct JobRequest<'a> {
    /// Number of nodes, partition and other options.
    pub place: &'a ExecutionPlace,
    /// Nodes that must not be part of the job.
    pub exclude: &'a [String],
    /// Program that every task runs, with its arguments.
    pub argv: &'a [OsString],
    /// Environment variables added to those of this process.
    pub env: &'a [(OsString, OsString)],
    /// Folder in which jobs are noted for recovery after a crash.
    pub state_dir: &'a Path,
}

/// A Slurm job that this process started.
#[derive(Debug)]
pub struct SlurmJob {
    name: String,
    child: Child,
    output: ProgramOutput,
    left: Option<JobNote>,
}

impl SlurmJob {
    /// Submits the job. It is noted on disk first, so that it can be cancelled after a crash.
    ///
    /// # Errors
    /// The note cannot be written, or `salloc` is not installed.
    pub fn submit(ask: &JobRequest<'_>) -> Result<Self, ClusterError> {
        let name = format!("assay-{}", crate::token::random_hex()?);
        let left = JobNote::note(ask.state_dir, &name)?;
        let mut command = Command::new("salloc");
        // A user's defaults for steps would leave agents fewer CPUs than the job has.
        for narrow in ["SLURM_EXACT", "SLURM_EXCLUSIVE", "SRUN_CPUS_PER_TASK"] {
            command.env_remove(narrow);
        }
        command
            .args(allocation(ask.place, ask.exclude, &name))
            .arg("srun")
            .args(step(ask.place))
            .args(ask.argv)
            .envs(ask.env.iter().map(|(k, v)| (k, v)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for assay, which ends its tasks in order.
            .process_group(0);
        let started = command.spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(source) => {
                left.done()?;
                return Err(ClusterError::Start { program: "salloc".into(), source });
            }
        };
        let output = ProgramOutput::default();
        output.read(child.stdout.take());
        output.read(child.stderr.take());
        Ok(SlurmJob { name, child, output, left: Some(left) })
    }

    /// Returns Slurm's view of the job; `None` while Slurm does not know it.
    ///
    /// # Errors
    /// Slurm cannot be queried.
    pub fn state(&self) -> Result<Option<JobState>, ClusterError> {
        job_named(&self.name)
    }

    /// Returns the exit status of `salloc`; `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Returns the last lines that the commands printed.
    pub fn last_output(&self) -> String {
        let text = self.output.text();
        // Messages about a normal allocation do not explain a failure.
        let noise = [
            "Granted job allocation",
            "Relinquishing job",
            "Pending job allocation",
            "queued and waiting",
            "has been allocated resources",
            "Waiting for resource",
            "are ready for job",
            "lacks support for cpu binding",
        ];
        let lines: Vec<&str> =
            text.lines().filter(|l| !noise.iter().any(|n| l.contains(n))).collect();
        last_words(&lines.join("\n"))
    }

    /// Ends the job: waits briefly for its tasks, whose connections are closed, then cancels it.
    /// Returns a sentence if the job may still exist. With `broken`, some nodes may be gone, and it
    /// is cancelled sooner.
    pub fn end(mut self, broken: bool) -> Option<String> {
        self.leave(if broken { BROKEN } else { LEAVE })
    }

    fn leave(&mut self, limit: Duration) -> Option<String> {
        let left = self.left.take()?;
        if !ended_within(&mut self.child, limit) {
            let _ = call("scancel", &[format!("--name={}", self.name)]);
            if !ended_within(&mut self.child, LEAVE) {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
        // A job that has ended is still listed for a moment.
        let began = Instant::now();
        loop {
            match self.state() {
                Ok(Some(job)) if job.active() => {
                    if began.elapsed() > LEAVE {
                        return Some(format!(
                            "the Slurm job {} is still {}; the next command cancels it again",
                            job.id, job.state
                        ));
                    }
                    let _ = call("scancel", &[format!("--name={}", self.name)]);
                    std::thread::sleep(Duration::from_millis(200));
                }
                Ok(_) => break,
                Err(e) => {
                    return Some(format!(
                        "cannot ask Slurm if job {} has ended ({e}); the next command asks again",
                        self.name
                    ));
                }
            }
        }
        left.done().err().map(|e| e.to_string())
    }
}

impl Drop for SlurmJob {
    fn drop(&mut self) {
        self.leave(Duration::ZERO);
    }
}

/// Returns the arguments of `salloc`.
fn allocation(place: &ExecutionPlace, exclude: &[String], name: &str) -> Vec<String> {
    let mut arguments = vec![
        format!("--job-name={name}"),
        format!("--nodes={0}-{0}", place.nodes),
        format!("--ntasks-per-node={}", place.tasks_per_node),
        // assay handles a failed node itself; without this option Slurm would end the whole job.
        "--no-kill".into(),
    ];
    if place.exclusive {
        arguments.push("--exclusive".into());
    }
    arguments.extend(place.partition.as_ref().map(|p| format!("--partition={p}")));
    arguments.extend(place.constraint.as_ref().map(|c| format!("--constraint={c}")));
    let limit = place.time_limit.as_ref();
    let limit = limit.and_then(|l| assay_model::units::duration_of(l).ok());
    arguments.extend(limit.map(|l| format!("--time={}", l.as_secs().div_ceil(60).max(1))));
    if !exclude.is_empty() {
        arguments.push(format!("--exclude={}", exclude.join(",")));
    }
    arguments.extend(place.options.iter().cloned());
    arguments
}

/// Returns the arguments of `srun`.
fn step(place: &ExecutionPlace) -> Vec<String> {
    vec![
        format!("--nodes={0}-{0}", place.nodes),
        format!("--ntasks-per-node={}", place.tasks_per_node),
        // The agents place their programs themselves, as on a single machine.
        "--cpu-bind=none".into(),
        "--no-kill".into(),
        // Agents are not MPI ranks, whatever the site's default type is.
        "--mpi=none".into(),
        "--kill-on-bad-exit=0".into(),
        "--wait=0".into(),
        "--input=none".into(),
        "--export=ALL".into(),
    ]
}

/// Returns the path of the agent's program, which must exist on every node.
pub fn agent_path(place: &ExecutionPlace, own: &Path) -> PathBuf {
    place.program.clone().map_or_else(|| own.to_owned(), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_on_the_command_line() {
        let place = ExecutionPlace {
            nodes: 4,
            partition: Some("lab".into()),
            time_limit: Some("90 s".into()),
            options: vec!["--account=x".into()],
            ..ExecutionPlace::default()
        };
        let line = allocation(&place, &["n3".into()], "assay-1").join(" ");
        assert_eq!(
            line,
            "--job-name=assay-1 --nodes=4-4 --ntasks-per-node=1 --no-kill --exclusive \
             --partition=lab --time=2 --exclude=n3 --account=x"
        );
        assert!(step(&place).contains(&"--cpu-bind=none".to_owned()));
    }
}

//! Slurm's commands and parsers of their output. Nothing here depends on agents.

mod job;
pub mod orphaned_jobs;
mod query;
mod step;

use std::ffi::OsStr;
use std::process::{Command, Stdio};

pub use job::{JobRequest, SlurmJob, agent_path};
pub use query::{JobState, NodeState, hostnames, job_named, nodes, parse_jobs, parse_nodes};
pub use step::end_step;

use crate::ClusterError;
use crate::output::last_words;

/// Runs a Slurm command and returns its standard output.
///
/// # Errors
/// The command is not installed, or it failed.
pub fn call<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> Result<String, ClusterError> {
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| ClusterError::Start { program: program.to_owned(), source })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let shown: Vec<String> =
        arguments.iter().map(|a| a.as_ref().to_string_lossy().into_owned()).collect();
    Err(ClusterError::Command {
        line: format!("{program} {}", shown.join(" ")),
        status: output.status.to_string(),
        message: last_words(&String::from_utf8_lossy(&output.stderr)),
    })
}

/// Returns Slurm's version (`22.05.8`).
///
/// # Errors
/// Slurm's commands are not installed.
pub fn version() -> Result<String, ClusterError> {
    let version = call("sinfo", &["--version"])?;
    Ok(version.split_whitespace().last().unwrap_or_default().to_owned())
}

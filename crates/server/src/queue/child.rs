//! The process that runs a job: started in a group of its own with its words in a file, so that it
//! outlives the server if the server dies.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay_model::RunId;
use assay_system::{Fate, Owner};
use rustix::process::{Pid, Signal};

use crate::config::Config;
use crate::error::ServeError;
use crate::queue::job::Process;

/// The events of the run.
pub(crate) const EVENTS: &str = "events.jsonl";
/// What it runs.
pub(crate) const EXPERIMENT: &str = "experiment.toml";
/// What `assay run` printed.
pub(crate) const WORDS: &str = "run.log";

/// Starts the run of the job in `folder`, or takes up `resume`.
pub(crate) fn start(
    config: &Config,
    folder: &Path,
    resume: Option<&RunId>,
) -> Result<(Child, Process), ServeError> {
    let events = folder.join(EVENTS);
    let append = |path: &Path| {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(ServeError::io("open", path))
    };
    append(&events)?;
    let words = append(&folder.join(WORDS))?;
    let mut command = Command::new(&config.exe);
    command.arg("run");
    match resume {
        Some(run) => command.arg("--resume").arg(run.as_str()),
        None => command.arg(folder.join(EXPERIMENT)),
    };
    command
        .arg("--events")
        .arg(&events)
        .arg("--wait-for-lock")
        .arg("--archive")
        .arg(config.archive.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(words)
        .process_group(0);
    let child = command.spawn().map_err(ServeError::io("start", &config.exe))?;
    let owner = Owner::of(child.id()).ok().flatten();
    // A child that nobody has waited for keeps its id, so it can be identified.
    let process = owner.map_or_else(
        || Process { pid: child.id(), start_ticks: 0, boot_id: String::new() },
        Process::from,
    );
    Ok((child, process))
}

/// Whether the process still lives.
pub(crate) fn is_alive(process: &Process) -> bool {
    matches!(Owner::from(process).fate(), Ok(Fate::Alive))
}

/// Asks the run to end: its trial is cut off, the settings are restored, what was measured is kept.
pub(crate) fn interrupt(process: &Process) -> bool {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    match pid.filter(|_| is_alive(process)) {
        Some(pid) => rustix::process::kill_process(pid, Signal::INT).is_ok(),
        None => false,
    }
}

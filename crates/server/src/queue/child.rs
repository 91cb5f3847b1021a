//! Process that runs a job. It has its own process group and writes its output to a file, so that
//! it survives if the server dies.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use assay_model::RunId;
use assay_system::{Owner, OwnerState};
use rustix::process::{Pid, Signal};

use crate::config::Config;
use crate::error::ServeError;
use crate::queue::job::Process;

/// File name of the run's events.
pub(crate) const EVENTS: &str = "events.jsonl";
/// File name of the experiment to run.
pub(crate) const EXPERIMENT: &str = "experiment.toml";
/// File name of the output of `assay run`.
pub(crate) const OUTPUT: &str = "run.log";

/// Starts the run of the job in `folder`, or resumes the run `resume`.
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
    let output = append(&folder.join(OUTPUT))?;
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
        .stderr(output)
        .process_group(0);
    let child = command.spawn().map_err(ServeError::io("start", &config.exe))?;
    let owner = Owner::from_pid(child.id()).ok().flatten();
    // The id of a child is not reused until it is waited for, so the child can be identified.
    let process = owner.map_or_else(
        || Process { pid: child.id(), start_ticks: 0, boot_id: String::new() },
        Process::from,
    );
    Ok((child, process))
}

/// Returns true if the process is alive.
pub(crate) fn is_alive(process: &Process) -> bool {
    matches!(Owner::from(process).determine_state(), Ok(OwnerState::Alive))
}

/// Asks the run to end, with SIGINT: it ends its trial, restores the settings and keeps the
/// recorded data. Returns false if no signal was sent.
pub(crate) fn interrupt(process: &Process) -> bool {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    match pid.filter(|_| is_alive(process)) {
        Some(pid) => rustix::process::kill_process(pid, Signal::INT).is_ok(),
        None => false,
    }
}

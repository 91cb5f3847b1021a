//! One copy until its start: it sets its CPUs, reports that it is ready, sleeps until the given
//! time, reports when it woke, and becomes the program.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use assay_system::{ProcessSetup, clock::monotonic_ns};

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::Failure;
use crate::driver::clock::sleep_until;
use crate::driver::side_by_side::spec::{CopyStart, ReplicaMessage, go_pipe, ready_pipe};

/// Replaces this process by the program that `json` describes; returns only on failure.
///
/// # Errors
/// Fails if the spec cannot be parsed, the CPUs cannot be set, a pipe is closed, or the program
/// cannot be started.
pub fn become_program(json: &str) -> Result<std::convert::Infallible, Failure> {
    let CopyStart { index, copy, dir } = serde_json::from_str(json)?;
    let (ready_path, go_path) = (ready_pipe(&dir), go_pipe(&dir));
    let failed = |what: String| Failure::program(format_args!("copy {}", index + 1), what);
    // If the crew is killed, its copies are too; the program inherits this setting.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|e| failed(format!("cannot bind it to its parent: {e}")))?;
    // The pipes are closed on exec, so the program does not inherit them.
    let mut ready = open(&ready_path, true)?;
    let mut go = open(&go_path, false)?;
    if !copy.cpus.is_empty() {
        let setup = ProcessSetup { cpus: Some(copy.cpus.clone()), ..ProcessSetup::default() };
        let entered = assay_system::enter(&setup).map_err(|e| failed(e.to_string()))?;
        // Never restored, because this process becomes the program.
        std::mem::forget(entered);
    }
    let (program, args) = copy
        .argv
        .split_first()
        .ok_or_else(|| Failure::other("the specification of the copies has no program"))?;
    let mut command = Command::new(program);
    command.args(args);
    let say = |ready: &mut File, began_ns| {
        ready.write_all(&ReplicaMessage { index: index as u64, began_ns }.to_bytes())
    };
    say(&mut ready, 0).map_err(Failure::file("write", &ready_path))?;
    let mut moment = [0; 8];
    go.read_exact(&mut moment).map_err(Failure::file("read", &go_path))?;
    sleep_until(u64::from_le_bytes(moment));
    say(&mut ready, monotonic_ns()).map_err(Failure::file("write", &ready_path))?;
    let error = command.exec();
    Err(failed(format!("cannot start `{program}`: {error}")))
}

fn open(path: &Path, write: bool) -> Result<File, Failure> {
    File::options().read(!write).write(write).open(path).map_err(Failure::file("open", path))
}

//! A command that runs while assay observes it: it shares assay's terminal and runs until its end
//! or an interrupt.

use std::ffi::OsString;
use std::thread::JoinHandle;
use std::time::Duration;

use assay_system::Interrupt;
use assay_system::process::{Limits, Output, ProcessError, ProcessResult, ProgramSpec, Runner};

use crate::exit::{Exit, mistake};

/// Runs a command on the calling thread, so that it inherits the thread's counters and CPUs.
///
/// # Errors
/// The command cannot be started.
pub fn run(argv: &[OsString], interrupt: Interrupt) -> Result<ProcessResult, ProcessError> {
    let program = ProgramSpec { argv, output: Output::Inherit, ..ProgramSpec::default() };
    let limits = Limits { timeout: Duration::MAX, grace: Duration::from_secs(2), keep_bytes: 0 };
    Runner::new(Some(interrupt)).run(&program, &limits, &mut ())
}

/// Starts a command like [`run`], on a new thread.
pub fn start(
    argv: &[OsString],
    interrupt: &Interrupt,
) -> JoinHandle<Result<ProcessResult, ProcessError>> {
    let (argv, interrupt) = (argv.to_vec(), interrupt.clone());
    std::thread::spawn(move || run(&argv, interrupt))
}

/// Waits for the end of a command that [`run`] runs on another thread.
///
/// # Errors
/// The command could not be started.
pub fn ended(
    thread: JoinHandle<Result<ProcessResult, ProcessError>>,
) -> anyhow::Result<ProcessResult> {
    let ran = thread.join().map_err(|_| anyhow::anyhow!("the thread of the command failed"))?;
    Ok(ran.map_err(mistake)?)
}

/// Returns the exit code of a verb that observed a command to its end.
pub fn exit(interrupt: &Interrupt, ran: &ProcessResult) -> Exit {
    match (interrupt.fired(), ran.exit.success()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Fine,
        (false, false) => Exit::Workload,
    }
}

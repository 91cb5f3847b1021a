//! A command that assay looks at while it runs: with assay's own terminal, until its end or an interrupt.

use std::ffi::OsString;
use std::time::Duration;

use assay_sut::Interrupt;
use assay_sut::process::{Limits, Output, ProcessError, Program, Ran, Runner};

/// Runs it on the calling thread, whose counters and CPUs it inherits.
///
/// # Errors
/// It cannot be started.
pub fn run(argv: &[OsString], interrupt: Interrupt) -> Result<Ran, ProcessError> {
    let program = Program {
        argv,
        env: &[],
        cwd: None,
        stdin: None,
        output: Output::Inherit,
        protocol: false,
        groups: &[],
    };
    let limits = Limits { timeout: Duration::MAX, grace: Duration::from_secs(2), keep_bytes: 0 };
    Runner::new(Some(interrupt)).run(&program, &limits, &mut ())
}

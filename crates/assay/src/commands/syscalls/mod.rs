//! `assay syscalls`: counts the system calls of programs while they run.

pub mod args;

use std::path::Path;

use anyhow::Result;
use assay_observe::Tracer;
use assay_observe::syscalls::{SyscallRequest, SyscallWatch};
use assay_report::terminal::syscalls as text;
use assay_system::Interrupt;
use assay_traces::syscalls::Dimension;

use crate::arguments::Global;
use crate::commands::targets::LiveObservation;
use crate::exit::{Exit, usage};
use crate::screen::{answer_styled, say, style};

/// Counts the system calls of a command, of processes or of the machine.
pub fn syscalls(global: &Global, asked: &args::Syscalls) -> Result<Exit> {
    let look = LiveObservation::new(&asked.of)?;
    let Some((whose, _)) = look.whose()? else {
        let text = "name whose calls to count: a command (`assay syscalls -- COMMAND`), --pid, \
             --cgroup, or --all";
        return usage(text);
    };
    let interrupt = Interrupt::install()?;
    let ask = SyscallRequest { whose, by_process: asked.by.contains(&Dimension::Process) };
    let watch = match SyscallWatch::start(Path::new("/"), &ask) {
        Ok(watch) => watch,
        Err(why) => {
            say(&format!("system calls cannot be counted here: {why}"));
            return Ok(Exit::Nothing);
        }
    };
    let exit = look.until_the_end(&interrupt)?;
    let seen = watch.stop()?;
    interrupt.clear();
    answer_styled(global.json, &seen, || text(&seen, &asked.by, asked.top, style()))?;
    Ok(if seen.calls.is_empty() && exit == Exit::Fine { Exit::Nothing } else { exit })
}

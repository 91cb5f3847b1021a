//! The programs of the built-in workloads: what `assay __work NAME JSON` does in its own, fresh
//! process.

mod channel;
pub(crate) mod life;

use std::fmt::Display;
use std::io::{self, Write};

pub use channel::Channel;
pub(crate) use channel::Curve;

use crate::builtin;

/// What assay does in such a process, given as JSON. An error is a sentence.
pub(crate) type Program = fn(&str) -> Result<(), String>;

/// Runs the program `name` as `json` says, and returns the exit code: 0 when it did its work (whether the
/// work was right is an event), 1 when it failed, 2 when there is no such program. Events go to the file
/// named by `ASSAY_METRICS`, else to file descriptor 3 if that is open for writing, else to standard output;
/// what went wrong is a sentence on standard error.
pub fn serve(name: &str, json: &str) -> i32 {
    let Some(program) = builtin::program(name) else {
        complain(&format!("there is no built-in workload `{name}` to run"));
        return 2;
    };
    match program(json) {
        Ok(()) => 0,
        Err(message) => {
            complain(&message);
            1
        }
    }
}

/// Runs a trial with a channel for its events.
pub(crate) fn reported<E: Display>(
    json: &str,
    trial: impl FnOnce(&str, &mut Channel) -> Result<(), E>,
) -> Result<(), String> {
    let unwritten = |e: io::Error| format!("events cannot be written: {e}");
    let mut channel = Channel::open().map_err(unwritten)?;
    trial(json, &mut channel).map_err(|e| e.to_string())?;
    channel.close().map_err(unwritten)
}

fn complain(message: &str) {
    // When standard error is gone too, the exit code has to do.
    let _ = writeln!(io::stderr(), "{message}");
}

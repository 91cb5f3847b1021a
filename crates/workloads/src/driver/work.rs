//! Entry point of the built-in workloads' programs: `assay __work NAME JSON`, run in a fresh
//! process.

mod channel;
pub(crate) mod life;

use std::io::{self, Write};

pub use channel::Channel;
pub(crate) use channel::Curve;

use crate::Failure;
use crate::builtin::table;

/// A trial program, called with its JSON argument.
pub(crate) type TrialProgram = fn(&str) -> Result<(), Failure>;

/// Runs the program `name` with the argument `json` and returns the exit code: 0 if it completed
/// (an event reports whether its results are correct), 1 if it failed, 2 if there is no such
/// program. Events go to the file in `ASSAY_METRICS`, else to file descriptor 3 if that is open for
/// writing, else to standard output. A failure is reported on standard error.
pub fn serve(name: &str, json: &str) -> i32 {
    let Some(program) = table::program(name) else {
        complain(&format!("there is no built-in workload `{name}` to run"));
        return 2;
    };
    match program(json) {
        Ok(()) => 0,
        Err(failure) => {
            complain(&failure.to_string());
            1
        }
    }
}

/// Runs a trial with a channel for its events.
pub(crate) fn reported(
    json: &str,
    trial: impl FnOnce(&str, &mut Channel) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unwritten = |e: io::Error| Failure::step("events cannot be written")(e);
    let mut channel = Channel::open().map_err(unwritten)?;
    trial(json, &mut channel)?;
    channel.close().map_err(unwritten)
}

fn complain(message: &str) {
    // If standard error is closed too, the exit code must suffice.
    let _ = writeln!(io::stderr(), "{message}");
}

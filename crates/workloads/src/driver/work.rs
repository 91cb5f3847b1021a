//! Programs of the built-in workloads, each run in a fresh process: `assay __work NAME JSON`.

mod channel;
pub(crate) mod life;

use std::io;

pub use channel::Channel;
pub(crate) use channel::Curve;

use crate::Failure;

/// A trial program, called with its JSON argument.
pub(crate) type TrialProgram = fn(&str) -> Result<(), Failure>;

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

//! Whether the machine is fit to measure on now: quiet, steady in frequency, with room, with a good
//! clock. What cannot be read is reported, and never taken for good.

mod frequency;
mod platform;
mod quiet;
mod room;
mod seen;

use assay_model::Observation;

pub use seen::Options;
use seen::Seen;

use crate::Root;

/// Looks at the machine: what speaks for or against measuring on it now. What it means is judged by the
/// catalogue of checks.
pub fn look(root: &Root, options: &Options) -> Vec<Observation> {
    let mut seen = Seen(Vec::new());
    let throttled = throttle_count(root);
    quiet::look(root, options, &mut seen);
    frequency::look(root, throttled, &mut seen);
    room::look(root, options, &mut seen);
    platform::look(root, &mut seen);
    seen.0
}

pub use frequency::{frequency_hz, throttle_count};

#[cfg(test)]
mod tests;

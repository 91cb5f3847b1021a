//! Checks whether the machine is fit to measure on right now: quiet, at a steady frequency, with
//! enough room and a good clock. Values that cannot be read are reported and never assumed to be
//! good.

mod frequency;
mod platform;
mod quiet;
mod room;
mod seen;

use assay_model::Observation;

use seen::FitnessObservations;
pub use seen::Options;

use crate::Root;

/// Collects observations for and against measuring on the machine right now. The check catalogue
/// judges them.
pub fn look(root: &Root, options: &Options) -> Vec<Observation> {
    let mut seen = FitnessObservations(Vec::new());
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

//! N1 to N4: several machines as one, and virtual ones. What is known of them was seen in the trials.

use crate::Evidence;
use crate::check::{Evaluation, not_applicable};

/// Nothing is to be found but what was seen in trials.
pub(crate) fn seen_only(e: &Evidence) -> Evaluation {
    if e.several_machines {
        Ok(Vec::new())
    } else {
        not_applicable("the run is on this machine itself")
    }
}

//! N1 to N4: trials on several machines or virtual ones. All evidence is observations of single
//! trials.

use crate::Evidence;
use crate::check::{Evaluation, not_applicable};

/// Passes if the run used several machines: findings come from the trials' observations only.
pub(crate) fn seen_only(e: &Evidence) -> Evaluation {
    if e.several_machines {
        Ok(Vec::new())
    } else {
        not_applicable("the run is on this machine itself")
    }
}

//! Checks N1 to N4: trials on several machines and in virtual machines.

pub(crate) mod clocks_hold;
pub(crate) mod emulated_times;
pub(crate) mod nodes_alike;
pub(crate) mod phases_coincide;

use crate::prelude::*;

/// Passes if the run used several machines: findings come from the trials' observations only.
pub(super) fn observations_only(e: &Evidence) -> Evaluation {
    if e.several_machines {
        Ok(Vec::new())
    } else {
        not_applicable("the run is on this machine itself")
    }
}

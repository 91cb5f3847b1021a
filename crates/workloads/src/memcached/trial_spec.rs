//! What the workload adds to the trial spec.

use serde::{Deserialize, Serialize};

use crate::trial_spec::TrialSpec;

/// The trial spec.
pub type Spec = TrialSpec<Rates>;

/// Rates that an earlier trial of the treatment chose for its curve, so that points of several trials meet;
/// empty: none did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rates(pub Vec<f64>);

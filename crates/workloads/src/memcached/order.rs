//! What a trial is told beside the treatment.

use serde::{Deserialize, Serialize};

use crate::trial_spec::TrialSpec;

/// What a trial is told.
pub type Spec = TrialSpec<Rates>;

/// Rates that an earlier trial of the treatment chose for its curve, so that points of several trials meet;
/// empty: none did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rates(pub Vec<f64>);

//! What the lab hands to the process of a trial.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay_model::Scalar;
use serde::{Deserialize, Serialize};

/// The order of a trial, as JSON between the two processes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The parameters of the treatment.
    pub params: BTreeMap<String, Scalar>,
    /// The trial's CPUs.
    pub cpus: Vec<usize>,
    /// The trial's folder.
    pub dir: PathBuf,
    /// The process of the lab, without which the trial does not go on; 0: nobody's.
    #[serde(default)]
    pub lab: u32,
    /// Rates that an earlier trial of the treatment chose for its curve, so that points of several
    /// trials meet; empty: none did.
    #[serde(default)]
    pub rates: Vec<f64>,
}

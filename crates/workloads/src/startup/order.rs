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
    /// The trial's folder; the inputs are here too, unless `ASSAY_STORAGE` says where.
    pub dir: PathBuf,
    /// The process of the lab, without which the trial does not go on; 0: nobody's.
    #[serde(default)]
    pub lab: u32,
}

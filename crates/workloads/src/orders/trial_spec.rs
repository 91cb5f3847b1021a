//! What the workload adds to the trial spec.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::trial_spec::TrialSpec;

/// The trial spec.
pub type Spec = TrialSpec<Classes>;

/// The program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// The class path: a folder of classes, or a jar.
    pub path: PathBuf,
    /// The hash of the classes that assay compiled; `None` for a jar that somebody gave.
    pub sha256: Option<String>,
}

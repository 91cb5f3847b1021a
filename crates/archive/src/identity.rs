//! What a run is: `run.json`, written once.

use std::path::Path;

use assay_model::{MetricValue, Plan, RunId, SCHEMA_VERSION, SystemDescription};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::layout::IDENTITY;
use crate::{Error, Result};

/// What a run is made from. The texts are kept as they are.
#[derive(Debug, Clone)]
pub struct NewRun<'a> {
    /// The experiment as a person would write it; becomes `experiment.toml`.
    pub experiment_toml: &'a str,
    /// The plan; becomes `plan.json`.
    pub plan: &'a Plan,
    /// The system under test; becomes `system.json`.
    pub system: &'a SystemDescription,
    /// The host's name.
    pub host: &'a str,
    /// The experiment's name.
    pub experiment_name: &'a str,
    /// The workload's name.
    pub workload: &'a str,
    /// Words to find the run by.
    pub tags: &'a [String],
    /// The rule by which the run stops, as a sentence; goes into the ledger.
    pub stop_rule: &'a str,
}

/// The identity of a run, as in `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// The version of the run folder's formats, the ledger's too.
    pub schema_version: u32,
    /// The run.
    pub id: RunId,
    /// The experiment's name.
    pub experiment: String,
    /// The workload's name.
    pub workload: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The host.
    pub host: String,
    /// When it was registered: ISO 8601, UTC.
    pub started_at: String,
    /// The version of assay that made it.
    pub assay: String,
}

impl RunIdentity {
    pub(crate) fn new(id: RunId, started_at: String, run: &NewRun<'_>) -> Self {
        RunIdentity {
            schema_version: SCHEMA_VERSION,
            id,
            experiment: run.experiment_name.to_owned(),
            workload: run.workload.to_owned(),
            tags: run.tags.to_vec(),
            host: run.host.to_owned(),
            started_at,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Reads `run.json` of the folder of run `id`.
    pub(crate) fn read(run: &Path, id: &RunId) -> Result<Self> {
        let path = run.join(IDENTITY);
        let identity: RunIdentity = disk::read_json(&path)?;
        if identity.id == *id {
            Ok(identity)
        } else {
            Err(Error::damaged(&path, format!("it is of run {}", identity.id)))
        }
    }
}

/// `metrics.json`: values that belong to a run as a whole.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunMetrics {
    pub schema_version: u32,
    pub metrics: Vec<MetricValue>,
}

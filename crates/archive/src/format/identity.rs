//! The identity of a run: `run.json`, written once.

use std::path::Path;

use assay_model::{MetricValue, Plan, RunId, SCHEMA_VERSION, SystemDescription};
use serde::{Deserialize, Serialize};

use crate::format::disk;
use crate::format::layout::IDENTITY;
use crate::{Error, Result};

/// Everything needed to create a run. The texts are stored unchanged.
#[derive(Debug, Clone)]
pub struct NewRun<'a> {
    /// The experiment as a person would write it; becomes `experiment.toml`.
    pub experiment_toml: &'a str,
    /// The plan; becomes `plan.json`.
    pub plan: &'a Plan,
    /// The system under test; becomes `system.json`.
    pub system: &'a SystemDescription,
    pub host: &'a str,
    pub experiment_name: &'a str,
    pub workload: &'a str,
    /// Words by which the run can be found.
    pub tags: &'a [String],
    /// The rule by which the run stops, as a sentence; stored in the ledger.
    pub stop_rule: &'a str,
}

/// The identity of a run, as stored in `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Version of the run folder's formats, including the ledger's.
    pub schema_version: u32,
    pub id: RunId,
    pub experiment: String,
    pub workload: String,
    /// Words by which the run can be found.
    pub tags: Vec<String>,
    pub host: String,
    /// Time of registration: ISO 8601, UTC.
    pub started_at: String,
    /// Version of assay that created the run.
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

    /// Reads `run.json` in the folder of run `id`.
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

/// Content of `metrics.json`: values that belong to a run as a whole.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunMetrics {
    pub schema_version: u32,
    pub metrics: Vec<MetricValue>,
}

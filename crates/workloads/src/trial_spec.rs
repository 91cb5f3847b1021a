//! The spec of a trial's process, as JSON: the treatment, its CPUs and its folder, and what one
//! workload adds.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_model::Scalar;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::work::life;
use crate::{Failure, KEEP, Launch, TrialContext, WorkloadError};

/// What a trial is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialSpec<T> {
    /// The parameters of the treatment.
    pub params: BTreeMap<String, Scalar>,
    /// The trial's CPUs.
    pub cpus: Vec<usize>,
    /// The trial's folder, on its storage.
    pub dir: PathBuf,
    /// The process of the lab, without which the trial does not go on; 0: nobody's.
    pub lab: u32,
    /// What the workload adds.
    pub more: T,
}

impl<T: Serialize + DeserializeOwned> TrialSpec<T> {
    /// That of a trial of this lab.
    pub fn of(ctx: &TrialContext<'_>, more: T) -> Self {
        TrialSpec {
            params: ctx.params.clone(),
            cpus: ctx.cpus.to_vec(),
            dir: ctx.trial_dir.to_owned(),
            lab: std::process::id(),
            more,
        }
    }

    /// The program `name` with it.
    ///
    /// # Errors
    /// The trial's folder is no text.
    pub fn launch(&self, ctx: &TrialContext<'_>, name: &str) -> Result<Launch, WorkloadError> {
        Launch::own(ctx, name, self, "the trial's folder")
    }

    /// Reads it in the process of the trial.
    ///
    /// # Errors
    /// It was not written by this build.
    pub fn read(json: &str) -> Result<Self, Failure> {
        Ok(serde_json::from_str(json)?)
    }

    /// A flag that is set when the trial is to stop, also because the lab has ended.
    ///
    /// # Errors
    /// The lab has ended already, or cannot be watched.
    pub fn stop_flag(&self) -> Result<Arc<AtomicBool>, Failure> {
        life::stop_flag(self.lab)
            .map_err(Failure::step("the watch for the lab's end"))?
            .ok_or(Failure::Stopped)
    }

    /// The folder of artifacts, which is made.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn keep(&self) -> Result<PathBuf, Failure> {
        let keep = self.dir.join(KEEP);
        std::fs::create_dir_all(&keep).map_err(WorkloadError::io("make", &keep))?;
        Ok(keep)
    }
}

//! Spec of a trial's process, as JSON: the treatment, its CPUs and its folder, and data specific to
//! the workload.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_model::Scalar;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::driver::work::life;
use crate::{Failure, KEEP, Launch, TrialContext, WorkloadError};

/// Spec of a trial, with data `more` of the workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialSpec<T> {
    pub params: BTreeMap<String, Scalar>,
    /// CPUs that the trial may use.
    pub cpus: Vec<usize>,
    /// Folder of the trial, on its storage.
    pub dir: PathBuf,
    /// Process id of the lab, whose end also stops the trial; 0: none.
    pub lab: u32,
    /// Data specific to the workload.
    pub more: T,
}

impl<T: Serialize + DeserializeOwned> TrialSpec<T> {
    /// Creates the spec of a trial that this lab process runs.
    pub fn new(ctx: &TrialContext<'_>, more: T) -> Self {
        TrialSpec {
            params: ctx.params.clone(),
            cpus: ctx.cpus.to_vec(),
            dir: ctx.trial_dir.to_owned(),
            lab: std::process::id(),
            more,
        }
    }

    /// Returns the command that runs the program `name` with this spec.
    ///
    /// # Errors
    /// Fails if the path of the trial's folder is not UTF-8.
    pub fn launch(&self, ctx: &TrialContext<'_>, name: &str) -> Result<Launch, WorkloadError> {
        Launch::own(ctx, name, self, "the trial's folder")
    }

    /// Parses the spec in the process of the trial.
    ///
    /// # Errors
    /// Fails if the spec was not written by this build.
    pub fn read(json: &str) -> Result<Self, Failure> {
        Ok(serde_json::from_str(json)?)
    }

    /// Returns a flag that becomes true when the trial must stop, which includes the end of the
    /// lab.
    ///
    /// # Errors
    /// Fails if the lab has ended already or cannot be watched.
    pub fn stop_flag(&self) -> Result<Arc<AtomicBool>, Failure> {
        life::stop_flag(self.lab)
            .map_err(Failure::step("the watch for the lab's end"))?
            .ok_or(Failure::Stopped)
    }

    /// Creates and returns the folder of artifacts.
    ///
    /// # Errors
    /// Fails if the folder cannot be created.
    pub fn keep(&self) -> Result<PathBuf, Failure> {
        let keep = self.dir.join(KEEP);
        std::fs::create_dir_all(&keep).map_err(WorkloadError::io("make", &keep))?;
        Ok(keep)
    }
}

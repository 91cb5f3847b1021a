//! One trial of a workload: its context, the command to start, and its results.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::{
    Exit, MetricValue, Observation, ResourceUse, Scalar, TrialRecord, ValidationResult,
};
use serde::Serialize;

use crate::error::WorkloadError;

/// Folder in the trial's folder whose files are kept with the trial's record.
pub const KEEP: &str = "keep";

/// Context of one trial, passed to the workload.
#[derive(Debug, Clone)]
pub struct TrialContext<'a> {
    /// Number of the trial in the plan.
    pub number: u32,
    pub block: u32,
    pub treatment: u32,
    /// All parameters, with defaults filled in and checked against the spec.
    pub params: &'a BTreeMap<String, Scalar>,
    /// CPUs that the trial may use, in ascending order.
    pub cpus: &'a [usize],
    /// Folder for this trial alone; it exists, and is removed after the trial.
    pub trial_dir: &'a Path,
    /// Folder for the whole run, for inputs that are made once; removed after the run.
    pub run_dir: &'a Path,
    /// Folder that outlives runs, for files that are fetched and built once.
    pub cache_dir: &'a Path,
    /// The assay executable, which runs built-in workloads as `assay __work NAME JSON`.
    pub exe: &'a Path,
    /// The first completed record of the same treatment in this run, and those that have curves, in
    /// order.
    pub previous: &'a [TrialRecord],
}

impl TrialContext<'_> {
    /// Returns the environment variables by which a command knows its trial and its block.
    pub fn variables(&self) -> [(OsString, OsString); 2] {
        [("ASSAY_TRIAL", self.number), ("ASSAY_BLOCK", self.block)]
            .map(|(name, value)| (name.into(), value.to_string().into()))
    }
}

/// Command that starts the workload's program: an argument list, never shell text.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Environment variables to set in addition to the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// Working directory; `None`: the trial's folder.
    pub cwd: Option<PathBuf>,
    /// File for standard input; `None`: `/dev/null`.
    pub stdin: Option<PathBuf>,
    /// True if the program speaks the metrics protocol on file descriptor 3.
    pub protocol: bool,
    /// True if the command only makes other programs start the workload, and their processes join
    /// the trial's control groups themselves.
    pub by_others: bool,
}

impl Launch {
    /// Returns the command of the built-in workload `name`: assay itself in a fresh process, with
    /// `spec` as JSON. `what` names the part of the spec that may not be UTF-8.
    ///
    /// # Errors
    /// Fails if the spec cannot be converted to JSON because a path in it is not UTF-8.
    pub(crate) fn own(
        ctx: &TrialContext<'_>,
        name: &str,
        spec: &impl Serialize,
        what: &str,
    ) -> Result<Self, WorkloadError> {
        let json = serde_json::to_string(spec)
            .map_err(|e| WorkloadError::Param(format!("cannot pass {what} on: {e}")))?;
        Ok(Launch {
            argv: vec![ctx.exe.into(), "__work".into(), name.into(), json.into()],
            protocol: true,
            ..Launch::default()
        })
    }
}

/// Results of the workload's program after its end.
#[derive(Debug, Clone)]
pub struct FinishedProgram<'a> {
    pub exit: Exit,
    pub resources: &'a ResourceUse,
    /// Recorded standard output (all of it, or its beginning and end).
    pub stdout: &'a [u8],
    /// Recorded standard error, like `stdout`.
    pub stderr: &'a [u8],
    /// True if `stdout` is complete.
    pub stdout_whole: bool,
    /// Wall time of this trial's empty launch ([`Calibratable`](crate::capability::Calibratable))
    /// in seconds; `None` if the workload has none or it could not be measured.
    pub empty_s: Option<f64>,
}

/// Results that a workload extracts from its program's output, in addition to those that the
/// program reports on file descriptor 3.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CollectedResults {
    pub metrics: Vec<MetricValue>,
    /// Verdict on the correctness of the output.
    pub validation: ValidationResult,
    /// Notes for the record.
    pub notes: Vec<String>,
    /// Observations for the checks to judge.
    pub evidence: Vec<Observation>,
}

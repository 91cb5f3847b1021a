//! The trait that every workload implements: its parameters, its preparation, the command to start,
//! and the conversion of its output to metrics and a validation.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::{
    Exit, Fact, MetricValue, Observation, ResourceUse, Scalar, TrialRecord, ValidationResult,
    WorkloadSpec,
};
use serde::Serialize;

use crate::capability::Capabilities;
use crate::problem::Problem;

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
#[derive(Debug, Clone, PartialEq)]
pub struct CollectedResults {
    pub metrics: Vec<MetricValue>,
    /// Verdict on the correctness of the output.
    pub validation: ValidationResult,
    /// Notes for the record.
    pub notes: Vec<String>,
    /// Observations for the checks to judge.
    pub evidence: Vec<Observation>,
}

/// Result of an operation of a workload.
pub type Result<T, E = WorkloadError> = std::result::Result<T, E>;

/// Error of a workload. Each message states the operation that failed, its object, and a remedy.
#[derive(Debug, thiserror::Error)]
pub enum WorkloadError {
    /// A parameter or a combination of parameters is invalid, or a workload with this name does not
    /// exist.
    #[error("{0}")]
    Param(String),
    /// Something that the workload needs is missing on this machine.
    #[error("{what} is needed and was not found; {remedy}")]
    Missing {
        /// The missing program or file.
        what: String,
        /// Remedy: `install the Debian package ...`.
        remedy: String,
    },
    /// A program exists but is not executable.
    #[error("{what} exists but is not executable; {remedy}")]
    NotExecutable {
        /// The file that is not executable.
        what: String,
        /// Remedy: `chmod +x ...`.
        remedy: String,
    },
    /// An input that is made once for all trials of a treatment could not be made.
    #[error("{0}")]
    Once(Box<WorkloadError>),
    /// A step (fetch, build, prepare) failed.
    #[error("{step} failed: {detail}")]
    Step {
        /// Name of the step.
        step: String,
        /// Description of the failure, with the last lines of its output.
        detail: String,
    },
    /// A file could not be read or written.
    #[error("{action} {path}: {source}")]
    Io {
        /// Operation: `read`, `write`, `create`.
        action: &'static str,
        /// The file that it failed on.
        path: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The file of a kit or a suite has a mistake.
    #[error(transparent)]
    Kit(#[from] Problem),
}

impl WorkloadError {
    /// Creates the error of a failed step.
    pub(crate) fn step(step: impl Into<String>, detail: impl Into<String>) -> Self {
        WorkloadError::Step { step: step.into(), detail: detail.into() }
    }

    /// Converts a system error about `path`, for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| WorkloadError::Io { action, path, source }
    }
}

/// A program that makes the system work and reports metrics. This trait is common to all workloads;
/// optional abilities are in [`Workload::offers`].
pub trait Workload: Send + Sync {
    /// Returns the workload's name, parameters and metrics.
    fn spec(&self) -> &WorkloadSpec;

    /// Returns the name of the metric that decides for these parameters; `None`: the first metric
    /// of the spec.
    fn deciding(&self, _params: &BTreeMap<String, Scalar>) -> Option<&'static str> {
        None
    }

    /// Checks a treatment's parameters beyond their types, and that the programs and files that
    /// they need exist on this machine. Called when the plan is made; changes nothing.
    ///
    /// # Errors
    /// Fails if the parameters are invalid or something is missing.
    fn check(&self, _params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Returns facts for the system description: versions and hashes of the programs that the
    /// workload runs. Their names start with `workload.`.
    fn describe(&self, _params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        BTreeMap::new()
    }

    /// Returns the shell or argument lines that the workload runs, for `assay plan` to show; empty
    /// for built-in workloads.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes inputs, fetches and builds. Runs outside every measurement window. Called before each
    /// trial, so it must be quick if there is nothing left to do.
    ///
    /// # Errors
    /// Fails if a step fails.
    fn prepare(&self, _ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Returns the command that starts the program of this trial.
    ///
    /// # Errors
    /// Fails if the parameters cannot be turned into a command.
    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError>;

    /// Extracts metrics and a validation from the results of the program. By default the program's
    /// own events carry the metrics and the validation, and only the exit status is judged here.
    ///
    /// # Errors
    /// Fails if the output cannot be read.
    fn collect(
        &self,
        _ctx: &TrialContext<'_>,
        finished: &FinishedProgram<'_>,
    ) -> Result<CollectedResults, WorkloadError> {
        let failed = |detail| ValidationResult::Failed { detail };
        let validation = match finished.exit {
            Exit::Code(0) => ValidationResult::ExitCodeOnly,
            Exit::Code(_) => failed(String::from_utf8_lossy(finished.stderr).trim().to_owned()),
            Exit::Signal(s) => failed(format!("ended by signal {s}")),
        };
        Ok(CollectedResults {
            metrics: Vec::new(),
            validation,
            notes: Vec::new(),
            evidence: Vec::new(),
        })
    }

    /// Returns the workload's optional capabilities.
    fn offers(&self) -> Capabilities<'_> {
        Capabilities::default()
    }
}

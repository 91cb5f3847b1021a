//! The trait that every workload is behind: what parameters it takes, how it is prepared, how it is
//! started, and how its output becomes metrics and a validation.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::{
    Exit, Fact, MetricValue, Observation, ResourceUse, Scalar, TrialRecord, ValidationResult,
    WorkloadSpec,
};
use serde::Serialize;

use crate::capability::Offers;
use crate::kit::Problem;

/// The folder in a trial's own whose files are kept with the trial's record.
pub const KEEP: &str = "keep";

/// What a workload is handed for one trial.
#[derive(Debug, Clone)]
pub struct TrialContext<'a> {
    /// The trial's number in the plan.
    pub number: u32,
    /// The treatment's id.
    pub treatment: u32,
    /// Every parameter, with defaults filled in and checked against the spec.
    pub params: &'a BTreeMap<String, Scalar>,
    /// The CPUs that the trial may use, in rising order.
    pub cpus: &'a [usize],
    /// A folder for this trial alone; it exists, and is removed after the trial.
    pub trial_dir: &'a Path,
    /// A folder for the whole run, for inputs that are made once; removed after the run.
    pub run_dir: &'a Path,
    /// A folder that outlives runs, for things that are fetched and built once.
    pub cache_dir: &'a Path,
    /// The assay executable, which runs built-in workloads as `assay __work NAME JSON`.
    pub exe: &'a Path,
    /// The completed records of the same treatment so far in this run, in order.
    pub previous: &'a [TrialRecord],
}

/// How to start the workload's program: an argument list, never shell text.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Environment variables to set on top of the inherited ones.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory; the trial's folder when absent.
    pub cwd: Option<PathBuf>,
    /// A file for standard input; `/dev/null` when absent.
    pub stdin: Option<PathBuf>,
    /// Whether the program speaks the metrics protocol on file descriptor 3.
    pub protocol: bool,
    /// Whether it only has others start the program, whose processes join the trial's control groups themselves.
    pub by_others: bool,
}

impl Launch {
    /// The program of the built-in workload `name`: assay itself in a fresh process, with `spec` as
    /// JSON. `what` names the part of the spec that may be no text.
    ///
    /// # Errors
    /// The spec has no JSON: a path in it is no UTF-8.
    pub(crate) fn own(
        ctx: &TrialContext<'_>,
        name: &str,
        spec: &impl Serialize,
        what: &str,
    ) -> Result<Self, WorkloadError> {
        let json = serde_json::to_string(spec)
            .map_err(|e| WorkloadError::Param(format!("{what} cannot be passed on: {e}")))?;
        Ok(Launch {
            argv: vec![ctx.exe.into(), "__work".into(), name.into(), json.into()],
            protocol: true,
            ..Launch::default()
        })
    }
}

/// What the program left behind.
#[derive(Debug, Clone)]
pub struct Finished<'a> {
    /// How it ended.
    pub exit: Exit,
    /// What it used.
    pub resources: &'a ResourceUse,
    /// What was kept of its standard output (the whole, or its beginning and end).
    pub stdout: &'a [u8],
    /// What was kept of its standard error.
    pub stderr: &'a [u8],
    /// Whether `stdout` is the whole of it.
    pub stdout_whole: bool,
    /// The wall time of this trial's empty launch ([`Calibrates`](crate::capability::Calibrates)), seconds;
    /// `None` when the workload has none or it could not be measured.
    pub empty_s: Option<f64>,
}

/// What a workload reads out of its program's output, on top of what the program reported on file
/// descriptor 3.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// Metrics.
    pub metrics: Vec<MetricValue>,
    /// What validation found.
    pub validation: ValidationResult,
    /// Sentences for the record.
    pub notes: Vec<String>,
    /// What was seen that checks judge.
    pub evidence: Vec<Observation>,
}

/// Why a workload could not do its part. Each message says what failed, on what, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkloadError {
    /// A parameter or a combination of parameters that cannot be, or the name of a workload that does not
    /// exist.
    #[error("{0}")]
    Param(String),
    /// Something that it needs is not on this machine.
    #[error("{what} is needed and was not found; {remedy}")]
    Missing {
        /// What.
        what: String,
        /// What to do: `install the Debian package ...`.
        remedy: String,
    },
    /// A file is there and may not be run.
    #[error("{what} is there but is not executable; {remedy}")]
    NotExecutable {
        /// What.
        what: String,
        /// What to do: `chmod +x ...`.
        remedy: String,
    },
    /// What is made once for all trials of a treatment could not be made.
    #[error("{0}")]
    Once(Box<WorkloadError>),
    /// A step (fetch, build, prepare) failed.
    #[error("{step} failed: {detail}")]
    Step {
        /// Which.
        step: String,
        /// What happened, with the end of its output.
        detail: String,
    },
    /// A file could not be read or written.
    #[error("{action} {path}: {source}")]
    Io {
        /// `read`, `write`, `create`.
        action: &'static str,
        /// Which file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file of a kit or a suite is wrong.
    #[error(transparent)]
    Kit(#[from] Problem),
}

impl WorkloadError {
    /// A step failed.
    pub(crate) fn step(step: impl Into<String>, detail: impl Into<String>) -> Self {
        WorkloadError::Step { step: step.into(), detail: detail.into() }
    }

    /// Turns a system error about `path` into ours, for `map_err`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| WorkloadError::Io { action, path, source }
    }
}

/// A program that makes the system work and reports metrics: the core of every workload. What only some
/// can do is in [`Workload::offers`].
pub trait Workload: Send + Sync {
    /// Its name, parameters and metrics.
    fn spec(&self) -> &WorkloadSpec;

    /// Checks a treatment's parameters beyond their types, and that what they need is on this machine.
    /// Called when the plan is made; changes nothing.
    ///
    /// # Errors
    /// The parameters cannot be, or something is missing.
    fn check(&self, _params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// Facts for the system description: versions and hashes of the programs it runs. Paths start with
    /// `workload.`.
    fn describe(&self, _params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        BTreeMap::new()
    }

    /// The shell or argument lines that it will run, for `assay plan` to show; empty for built-in
    /// workloads.
    fn lines(&self) -> Vec<String> {
        Vec::new()
    }

    /// Makes inputs, fetches, builds. Outside every measurement window; called before each trial, so
    /// it must be quick when there is nothing left to do.
    ///
    /// # Errors
    /// A step failed.
    fn prepare(&self, _ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        Ok(())
    }

    /// How to start the program of this trial.
    ///
    /// # Errors
    /// The parameters cannot be turned into a command.
    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError>;

    /// Reads metrics and a validation out of what the program left. By default its own events are its
    /// metrics and say whether its work was right, and here is only how it ended.
    ///
    /// # Errors
    /// The output could not be read.
    fn collect(
        &self,
        _ctx: &TrialContext<'_>,
        finished: &Finished<'_>,
    ) -> Result<Collected, WorkloadError> {
        let failed = |detail| ValidationResult::Failed { detail };
        let validation = match finished.exit {
            Exit::Code(0) => ValidationResult::ExitCodeOnly,
            Exit::Code(_) => failed(String::from_utf8_lossy(finished.stderr).trim().to_owned()),
            Exit::Signal(s) => failed(format!("ended by signal {s}")),
        };
        Ok(Collected { metrics: Vec::new(), validation, notes: Vec::new(), evidence: Vec::new() })
    }

    /// What it can do beyond this.
    fn offers(&self) -> Offers<'_> {
        Offers::default()
    }
}

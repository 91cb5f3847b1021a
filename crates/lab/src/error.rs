//! What can keep the lab from doing its part. A workload that fails is a record, not one of these.

use std::path::PathBuf;

use assay_model::RunId;

/// The lab could not do its part.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// A mistake in an experiment file.
    #[error(transparent)]
    File(#[from] crate::FileError),
    /// An experiment that cannot be planned (not from a file).
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A file could not be read.
    #[error("read {path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// What is known of a history could not be read or written.
    #[error("{what} {path}: {source}")]
    History {
        /// What was tried.
        what: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The experiment holds what looks like a token; everything in it is recorded and shown.
    #[error(
        "`{path}` of the experiment holds a value that {reason}; an experiment is recorded and published, \
         so give the program its secrets in an environment variable or a file that it reads itself"
    )]
    Token {
        /// Where in the experiment.
        path: String,
        /// Why it is taken for one.
        reason: &'static str,
    },
    /// The revisions of [source] cannot be had.
    #[error(transparent)]
    Revision(#[from] assay_revisions::RevisionError),
    /// A revision that everything is compared with, or every one, does not build.
    #[error("{label} does not build, and {without}: {reason}")]
    Unbuilt {
        /// The revision.
        label: String,
        /// What cannot be without it.
        without: &'static str,
        /// Why, with the end of the output.
        reason: String,
    },
    /// The workload is unknown, or its kit is wrong.
    #[error(transparent)]
    Workload(#[from] assay_workloads::WorkloadError),
    /// The archive could not be written or read.
    #[error(transparent)]
    Archive(#[from] assay_archive::Error),
    /// A control that the experiment asks for cannot be set here.
    #[error("{prefix}{source}")]
    Control {
        /// The treatment, as [`assay_model::Treatment::prefix`] gives it.
        prefix: String,
        /// Which control, and why not.
        source: assay_sut::ControlError,
    },
    /// The machine is not fit to measure on and the experiment says to refuse.
    #[error("the machine is not fit to measure on: {0}; wait, or set fitness.action to \"warn\"")]
    Unfit(String),
    /// A monitor could not be started.
    #[error(transparent)]
    Observe(#[from] assay_observe::ObserveError),
    /// No folder for temporary files could be made.
    #[error(
        "make a scratch folder in {root}: {source}; set ASSAY_SCRATCH to a folder that can be written"
    )]
    Scratch {
        /// Where.
        root: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The nodes of a cluster could not be had.
    #[error(transparent)]
    Cluster(#[from] assay_cluster::ClusterError),
    /// A run that has nothing left to do was asked to go on.
    #[error("run {0} is complete; there is nothing to resume")]
    NothingToResume(RunId),
    /// A run was made with another workload than the one found now.
    #[error("run {run} cannot be continued: {reason}; start a new run instead")]
    CannotResume {
        /// The run.
        run: RunId,
        /// Why.
        reason: String,
    },
}

/// An experiment that cannot be planned: where in the file, what is wrong, what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}{help}", if help.is_empty() { "" } else { "; " })]
pub struct PlanError {
    /// The path of the key (`["factors", "level"]`).
    pub path: Vec<String>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: String,
}

pub(crate) fn wrong(
    path: &[&str],
    message: impl Into<String>,
    help: impl Into<String>,
) -> PlanError {
    PlanError {
        path: path.iter().map(|p| (*p).to_owned()).collect(),
        message: message.into(),
        help: help.into(),
    }
}

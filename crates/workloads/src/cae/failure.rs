//! What can go wrong in the process of a trial.

use std::io;
use std::path::PathBuf;

/// Why a trial could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Order(#[source] serde_json::Error),
    /// The parameters cannot be, a program is missing, or a file could not be made or read.
    #[error(transparent)]
    Workload(#[from] crate::WorkloadError),
    /// A program could not be started.
    #[error("start {program}: {source}")]
    Start {
        /// Which.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The solver failed.
    #[error("{solver} failed ({status}): {said}")]
    Solver {
        /// Which.
        solver: &'static str,
        /// How it ended.
        status: String,
        /// Its own words.
        said: String,
    },
    /// The ranks were not one program.
    #[error(
        "{ranks} ranks were started by `srun --mpi={mpi}`, and MUMPS was one program of {}: this MPI does not \
         understand it; see `srun --mpi=list` and set `where.mpi`",
        found.map_or_else(|| "an unknown number".to_owned(), |n| format!("{n}"))
    )]
    NotOne {
        /// How many there should have been.
        ranks: usize,
        /// How many the program had.
        found: Option<f64>,
        /// What `srun` was told.
        mpi: String,
    },
    /// The solver stood still in a full folder.
    #[error(
        "no room is left in {dir}, and the solver neither went on nor ended: give the storage a larger `size=`"
    )]
    Full {
        /// The folder.
        dir: PathBuf,
    },
    /// The solver ended well and its answer is not there.
    #[error("{path} does not have {what}")]
    NoAnswer {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: String,
    },
    /// A watch of the trial's own could not be set up.
    #[error("{what}: {source}")]
    Watch {
        /// Which.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A signal ended it, or the lab is gone.
    #[error("ended by a signal to assay")]
    Stopped,
}

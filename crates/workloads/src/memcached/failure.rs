//! What can go wrong in the process of a trial.

use std::io;

/// Why a trial could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The JSON that says what to do is not what this build writes.
    #[error("the order of the trial cannot be read: {0}; was it written by this build of assay?")]
    Order(#[source] serde_json::Error),
    /// The parameters cannot be, or a file not be made or read.
    #[error(transparent)]
    Params(#[from] crate::WorkloadError),
    /// The load could not begin.
    #[error("{0}")]
    Load(#[from] assay_memload::Error),
    /// A program could not be started.
    #[error("start {program}: {source}")]
    Start {
        /// Which.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The server ended before it answered.
    #[error("{program} ended at once ({status}): {said}")]
    Refused {
        /// The program.
        program: String,
        /// Its exit.
        status: String,
        /// The end of what it printed.
        said: String,
    },
    /// Another program has the port.
    #[error(
        "port {port} is taken: {said}; leave `server.port` out for a free one, or end the program that has it \
         (`ss -ltnp 'sport = :{port}'` names it)"
    )]
    PortTaken {
        /// Which.
        port: u16,
        /// What the server printed.
        said: String,
    },
    /// The server runs and does not answer.
    #[error("memcached at {place} does not answer: {reason}")]
    Silent {
        /// Where.
        place: String,
        /// Why that is thought.
        reason: String,
    },
    /// Another server answers than the one that was started.
    #[error("at {place} another server answers (its process is {other}, the one started is {own})")]
    Stranger {
        /// Where.
        place: String,
        /// What it says its process is.
        other: String,
        /// The one that was started.
        own: u32,
    },
    /// Filling the cache failed.
    #[error("filling the cache: {0}")]
    Preload(String),
    /// The run did not come to its end.
    #[error("{0}")]
    Broken(String),
    /// The search found no rate.
    #[error("{0}")]
    NoRate(String),
    /// The network namespace could not be made.
    #[error("the network namespace: {what}: {detail}")]
    Network {
        /// What was tried.
        what: String,
        /// What went wrong.
        detail: String,
    },
    /// A step with another program (openssl, memtier_benchmark) failed.
    #[error("{program}: {said}")]
    Program {
        /// Which.
        program: String,
        /// What it printed, or what went wrong.
        said: String,
    },
    /// A signal ended it.
    #[error("ended by a signal to assay")]
    Stopped,
}

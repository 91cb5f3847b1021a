//! Errors of copies. Messages count copies from 1.

use std::io;
use std::time::Duration;

use assay_model::units;

/// Reason why the copies did not complete.
#[derive(Debug, thiserror::Error)]
pub enum CopiesError {
    /// A copy could not be started.
    #[error("instance {index}: cannot start {program}: {source}")]
    Start {
        /// Number of the copy, from 1.
        index: usize,
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// A copy's CPUs, NUMA node or scheduling class could not be set.
    #[error("cannot place instance {index}: {detail}")]
    Placement {
        /// Number of the copy, from 1.
        index: usize,
        /// Description of the failure.
        detail: String,
    },
    /// A copy ended before a barrier.
    #[error("instance {index} ended before {what} ({status}); its last stderr line: {stderr}")]
    Ended {
        /// Number of the copy, from 1.
        index: usize,
        /// Event that was expected of it: `its start`.
        what: &'static str,
        /// Exit status of the copy.
        status: String,
        /// Last lines that the copy printed.
        stderr: String,
    },
    /// Some copies did not reach a barrier in time.
    #[error(
        "{} of {of} instances ({}) did not reach {what} within {}; the last stderr line of the \
        first of them: {stderr}",
        missing.len(), numbers(missing), units::format_duration(*timeout)
    )]
    Late {
        /// Numbers of the copies, from 1.
        missing: Vec<usize>,
        /// Total number of copies.
        of: usize,
        /// Event that was expected of them.
        what: &'static str,
        /// Time limit of the barrier.
        timeout: Duration,
        /// Last lines that the first of them printed.
        stderr: String,
    },
    /// A copy sent an invalid answer.
    #[error("instance {index}: {detail}")]
    Refused {
        /// Number of the copy, from 1.
        index: usize,
        /// Description of the mistake.
        detail: String,
    },
    /// A signal ended the trial.
    #[error("ended by a signal to assay")]
    Stopped,
}

fn numbers(list: &[usize]) -> String {
    let shown: Vec<String> = list.iter().take(8).map(ToString::to_string).collect();
    let more = if list.len() > 8 { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

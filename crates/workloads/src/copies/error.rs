//! What can go wrong with copies. Copies are counted from 1 for people.

use std::io;
use std::time::Duration;

use assay_model::units;

/// Why the copies did not come to their end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopiesError {
    /// One could not be started.
    #[error("instance {index}: start {program}: {source}")]
    Start {
        /// Which, from 1.
        index: usize,
        /// The program.
        program: String,
        /// The system's error.
        source: io::Error,
    },
    /// Its CPUs or its class could not be had.
    #[error("instance {index} could not be placed: {detail}")]
    Placement {
        /// Which, from 1.
        index: usize,
        /// What went wrong.
        detail: String,
    },
    /// One ended before its time.
    #[error("instance {index} ended before {what} ({status}); its last stderr line: {stderr}")]
    Ended {
        /// Which, from 1.
        index: usize,
        /// What it was waited for: `its start`.
        what: &'static str,
        /// Its exit.
        status: String,
        /// The end of what it printed.
        stderr: String,
    },
    /// Some did not come to a barrier.
    #[error(
        "{} of {of} instances ({}) did not come to {what} within {}; the last stderr line of the first of them: {stderr}",
        missing.len(), numbers(missing), units::format_duration(*timeout)
    )]
    Late {
        /// Which, from 1.
        missing: Vec<usize>,
        /// How many there are.
        of: usize,
        /// What they were waited for.
        what: &'static str,
        /// How long.
        timeout: Duration,
        /// The end of what the first of them printed.
        stderr: String,
    },
    /// One sent an impossible answer.
    #[error("instance {index}: {detail}")]
    Refused {
        /// Which, from 1.
        index: usize,
        /// What is wrong.
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

//! Arguments of `assay syscalls`.

use assay_traces::syscalls::Dimension as CallDimension;
use clap::Args;

use crate::arguments::{Choice, Targets, choice};

/// `assay syscalls`.
#[derive(Debug, Args)]
pub struct Syscalls {
    #[command(flatten)]
    pub of: Targets,
    /// Dimensions to group the calls by in one table, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "call", value_name = "LIST",
        value_parser = choice(CALLS_BY))]
    pub by: Vec<CallDimension>,
    /// List at most this many lines.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

const MANY_PROCESSES: &str =
    "The process; needs more memory, so calls of many processes may be lost, which is reported";

const CALLS_BY: [Choice<CallDimension>; 4] = [
    ("call", "The call", CallDimension::Call),
    ("program", "The name of the program (of the thread)", CallDimension::Program),
    ("process", MANY_PROCESSES, CallDimension::Process),
    (
        "kind",
        "The kind of the file descriptor, and the operation of asynchronous I/O",
        CallDimension::Kind,
    ),
];

//! Arguments of `assay cpu`.

use std::path::PathBuf;

use clap::Subcommand;

/// `assay cpu`.
#[derive(Debug, Subcommand)]
pub enum CpuCommand {
    /// Print the times of a run (speed, base) as the reference tables of a `suite.toml`.
    Reference {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
    },
    /// Print the result of a run as JSON, for `assay rules judge cpu FILE`.
    Result {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// A file with the facts that only you know: the form that `assay cpu facts RUN` prints,
        /// filled in.
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
    },
    /// Print a form for the facts that the rules need and the run does not contain, for `result
    /// --facts`.
    Facts {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
    },
}

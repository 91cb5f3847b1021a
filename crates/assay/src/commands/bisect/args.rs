//! Arguments of `assay bisect`.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::ExperimentArgs;
use crate::commands::gate::args::Profiling;

/// `assay bisect`.
#[derive(Debug, Args)]
pub struct Bisect {
    /// The experiment. Its margin is the smallest step that the search looks for, 2 % unless given.
    #[command(flatten)]
    pub what: ExperimentArgs,
    /// A revision before the step.
    #[arg(long, value_name = "REV")]
    pub good: String,
    /// A revision after the step.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,
    /// Start no new round of trials after this much time.
    #[arg(long, value_name = "DURATION", default_value = "1 h", conflicts_with = "max_time")]
    pub budget: String,
    /// When to profile both sides of a clear difference, in trials of their own, to name the
    /// functions that differ.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Profiling::Auto)]
    pub profile: Profiling,
    /// Search for every step, for the worse or the better, until another one is unlikely.
    #[arg(long)]
    pub all: bool,
    /// Treat a merge as one commit instead of following the merged branch.
    #[arg(long)]
    pub first_parent: bool,
    /// Write the result as a Markdown page.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show no progress and no warnings.
    #[arg(short, long)]
    pub quiet: bool,
}

//! Arguments of `assay gate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::ExperimentArgs;

/// `assay gate`.
#[derive(Debug, Args)]
pub struct Gate {
    /// The experiment and its layout; the margin is 2 % unless given.
    #[command(flatten)]
    pub what: ExperimentArgs,
    /// The revision to compare with [default: the default branch]. assay measures the commit at
    /// which --head branched off it, or the first parent of a test merge.
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Compare with --base itself, even if it has commits that --head does not have.
    #[arg(long, requires = "base")]
    pub exact: bool,
    /// The revision to judge; `worktree` is the work tree as it is now.
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub head: String,
    /// Start no trial after this much time.
    #[arg(long, value_name = "DURATION", default_value = "5 min", conflicts_with = "max_time")]
    pub budget: String,
    /// When to profile both sides of a clear difference, in trials of their own, to name the
    /// functions that differ.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Profiling::Auto)]
    pub profile: Profiling,
    /// Write the result as Markdown, for a step summary or a comment (`-`: standard output, instead
    /// of the report); its first line lets a later run find and replace the comment.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    // The table of formats makes the help text.
    #[arg(long, value_name = "FORMAT=FILE", help = crate::commands::export::help())]
    pub export: Vec<String>,
    /// Show the reasons of the verdict, and each warning with its remedy.
    #[arg(short, long)]
    pub verbose: bool,
    /// Show no progress bar and no warnings.
    #[arg(short, long)]
    pub quiet: bool,
}

/// When to profile both sides of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Profiling {
    /// If programs can be profiled here and the budget has time for three blocks.
    Auto,
    /// Even if the budget has no time left for it.
    Always,
    /// Never profile the two sides.
    Never,
}

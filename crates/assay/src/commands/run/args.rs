//! Arguments of `assay run`.

use std::path::PathBuf;

use assay_system::process::Output;
use clap::Args;

use crate::arguments::{Choice, ExperimentArgs, choice};

/// `assay run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The experiment and its layout.
    #[command(flatten)]
    pub what: ExperimentArgs,
    /// Continue an interrupted run instead of starting one.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["targets", "command", "vs", "set"])]
    pub resume: Option<String>,
    /// Repeat the experiment of a run with the changes given by other options (`--blocks 40`), and
    /// judge the new run alone.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["targets", "command", "vs", "resume"])]
    pub again: Option<String>,
    // The table of formats makes the help text.
    #[arg(long, value_name = "FORMAT=FILE", help = crate::commands::export::help())]
    pub export: Vec<String>,
    /// Keep the commands' output in the archive (at most 2 MiB a stream), or not.
    #[arg(long, default_value = "keep", value_parser = choice(OUTPUTS))]
    pub output: Output,
    /// Show no progress bar and no warnings.
    #[arg(short, long)]
    pub quiet: bool,
    /// Also print the reason for each verdict, and every warning with its remedy.
    #[arg(short, long)]
    pub verbose: bool,
    /// Append the run's events to this file as they happen, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Wait until no other run measures on this machine. Without this option, assay only warns
    /// about the other run.
    #[arg(long, alias = "wait-turn")]
    pub wait_for_lock: bool,
}

const OUTPUTS: [Choice<Output>; 3] = [
    ("keep", "Through a pipe into the archive", Output::Keep),
    ("discard", "Through a pipe, and not kept", Output::Discard),
    ("null", "To `/dev/null`, for which some programs do less", Output::Null),
];

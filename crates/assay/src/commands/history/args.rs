//! Arguments of `assay history`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::arguments::{ExperimentArgs, format_names};
use crate::commands::gate::args::Profiling;

/// `assay history`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct History {
    /// Start with imported series.
    #[command(subcommand)]
    pub import: Option<HistoryImport>,
    /// The experiment; `--rev` is the range whose commits are the series, such as `v1..main` or
    /// `v1..main:10`.
    #[command(flatten)]
    pub what: ExperimentArgs,
    /// The reference revision, measured in the same blocks as every point [default: the oldest of
    /// the series].
    #[arg(long, value_name = "REV")]
    pub reference: Option<String>,
    /// Measure missing points, the most informative first.
    #[arg(long)]
    pub fill: bool,
    /// Measure at most this many revisions.
    #[arg(long, value_name = "N", requires = "fill")]
    pub points: Option<usize>,
    /// Confirm suspected changes by a fresh experiment of the revisions on both sides.
    #[arg(long)]
    pub confirm: bool,
    /// Start no new run after this much time.
    #[arg(long, value_name = "DURATION", default_value = "10 min", conflicts_with = "max_time")]
    pub budget: String,
    /// When `--confirm` profiles both sides of a confirmed change, in trials of their own, to name
    /// the functions that differ.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Profiling::Auto)]
    pub profile: Profiling,
    /// Show the values as well as the ratios.
    #[arg(long)]
    pub raw: bool,
    /// Acknowledge the change at this revision: it no longer raises an alarm.
    #[arg(long, value_name = "REV")]
    pub acknowledge: Option<String>,
    /// A note on the acknowledged change.
    #[arg(long, value_name = "TEXT", requires = "acknowledge")]
    pub note: Option<String>,
    /// A link about the acknowledged change.
    #[arg(long, value_name = "URL", requires = "acknowledge")]
    pub link: Option<String>,
    /// Start the series afresh at this revision: earlier points are not compared with later ones.
    #[arg(long, value_name = "REV")]
    pub reset: Option<String>,
    /// Show an imported series, by its name.
    #[arg(long, value_name = "NAME")]
    pub imported: Option<String>,
    /// Write the series as a page: HTML with charts if the name ends in `.html`, else Markdown.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Show no progress and no warnings.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Start with imported series.
#[derive(Debug, Subcommand)]
pub enum HistoryImport {
    /// Import series of other programs. They are quoted: assay finds their change points, but
    /// cannot confirm them.
    Import {
        /// The files or the folder; several files of one program are read in this order. A format's
        /// name may come first.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The format of the file [default: detected from the content].
        #[arg(long = "as", value_name = "FORMAT", value_parser = format_names())]
        format: Option<String>,
        /// The name of the series [default: the file's name].
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
}

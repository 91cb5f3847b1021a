//! What can be typed: one struct per verb. Nothing here does anything.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs system benchmarks, watches the machine while they run, compares them honestly, and publishes
/// pages whose every number leads back to a run.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 80, after_help = AFTER_HELP)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Where records are kept [default: the XDG data folder].
    #[arg(long, global = true, env = "ASSAY_ARCHIVE", value_name = "DIR")]
    pub archive: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Exit codes: 0 fine, 1 assay failed, 2 usage or a bad file, 3 a workload failed
or its output did not validate, 4 a rule of severity `invalid` is broken,
5 worse than the margin asked for, 6 nothing was measured, 130 interrupted.";

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Plan, run, observe, archive, and show the comparison.
    Run(Run),
    /// Show the trials of an experiment, their order, the time they will take and the detectable
    /// effect.
    Plan(Plan),
    /// Lay runs side by side, with what else differed between them.
    Compare(Compare),
    /// Write a run as one HTML page that needs no network, with Markdown, CSV, JSON and the raw data.
    Publish(Publish),
    /// CPU, disk, memory, pressure and power now, on one clock.
    Stat(Stat),
    /// What was run before.
    #[command(subcommand)]
    Archive(Archive),
    /// Is this machine fit to measure on, what can be observed here, and what was left changed.
    Doctor(Doctor),
    /// Kits: outside programs as workloads.
    #[command(subcommand)]
    Kit(Kit),
    /// The workloads and kits that can be run, with their parameters.
    Workloads {
        /// Only this one, with its parameters and metrics.
        name: Option<String>,
    },
    /// Write the JSON Schemas of every file format.
    Schema {
        /// The folder to write to.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// The program of a built-in workload; assay starts it itself.
    #[command(name = "__work", hide = true)]
    Work {
        /// Which workload.
        name: String,
        /// Its parameters.
        parameters: Option<String>,
    },
}

/// `assay run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    /// What the experiment is and how it is laid out.
    #[command(flatten)]
    pub what: What,
    /// Take up an interrupted run instead of starting one.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["target", "command", "vs", "set"])]
    pub resume: Option<String>,
    /// Also write the result: FORMAT=FILE with md, csv, json, hyperfine, junit or html. May be given
    /// several times.
    #[arg(long, value_name = "FORMAT=FILE")]
    pub export: Vec<String>,
    /// What happens to the commands' output: kept in the archive (at most 2 MiB a stream), or
    /// discarded.
    #[arg(long, value_enum, default_value_t = OutputMode::Keep)]
    pub output: OutputMode,
    /// No progress bar, no warnings.
    #[arg(short, long)]
    pub quiet: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  assay run experiments/block-size.toml
  assay run noop --blocks 30
  assay run zstd --set level=1,3,9
  assay run -- ./mybench --size 10
  assay run --vs 'zstd -3 f' -- zstd -1 f";

/// What happens to the output of the programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputMode {
    /// Through a pipe into the archive.
    Keep,
    /// To `/dev/null`.
    Discard,
}

/// An experiment, by file, by workload, or by command line.
#[derive(Debug, Clone, Default, Args)]
pub struct What {
    /// An experiment file, a workload, or a kit's folder.
    #[arg(value_name = "EXPERIMENT")]
    pub target: Option<String>,
    /// Any command is a workload: the command and its arguments, after `--`.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Another command to compare with, interleaved; the one after `--` is the baseline. May be given
    /// several times.
    #[arg(long, value_name = "COMMAND")]
    pub vs: Vec<String>,
    /// A parameter, or `controls.NAME`: one value fixes it, several (with commas) make it a factor.
    #[arg(long, value_name = "NAME=V[,V...]")]
    pub set: Vec<String>,
    /// How many blocks; each holds one trial of every treatment.
    #[arg(short, long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Blocks at the start that are run and recorded but not compared.
    #[arg(short, long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Stop as soon as the answer is clear (looks at 6, 9, 13, 19, 28 and 42 blocks).
    #[arg(long, conflicts_with = "blocks")]
    pub until_clear: bool,
    /// The seed of the order of trials.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// End a trial that runs longer, such as `30 s`.
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
    /// Start no trial after this much time.
    #[arg(long, value_name = "DURATION")]
    pub max_time: Option<String>,
    /// Differences within it do not matter, such as `2 %`.
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<String>,
    /// Exit with 5 when a treatment is worse than the baseline by more than the margin.
    #[arg(long, requires = "margin")]
    pub gate: bool,
    /// Monitors, with commas; `all` or `none`.
    #[arg(long, value_name = "NAMES")]
    pub monitors: Option<String>,
    /// The time between samples of the monitors.
    #[arg(long, value_name = "DURATION")]
    pub interval: Option<String>,
    /// A command to run before each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// A command to run after each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Option<String>,
    /// Run the commands by a shell, whose own start-up is measured and taken off.
    #[arg(long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh")]
    pub shell: Option<String>,
    /// A command that fails is measured like any other.
    #[arg(long)]
    pub ignore_failure: bool,
    /// Name the run's experiment.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A word to find the run by. May be given several times.
    #[arg(long, value_name = "WORD")]
    pub tag: Vec<String>,
}

/// `assay plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// What the experiment is and how it is laid out.
    #[command(flatten)]
    pub what: What,
}

/// `assay compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Runs: an id, a part of one that fits only one run, or `last`.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// The metric; absent: the one that decided in the first run.
    #[arg(long)]
    pub metric: Option<String>,
    /// Differences within it do not matter, such as `2 %`.
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<String>,
}

/// `assay publish`.
#[derive(Debug, Args)]
pub struct Publish {
    /// The run: an id, a part of one that fits only one run, or `last`.
    #[arg(default_value = "last")]
    pub run: String,
    /// The folder to write to.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// `assay stat`.
#[derive(Debug, Args)]
pub struct Stat {
    /// Seconds between lines, or a duration such as `500 ms`.
    #[arg(short, long, default_value = "1 s", value_name = "DURATION")]
    pub interval: String,
    /// How many lines; absent: until interrupted, or until the command ends.
    #[arg(short = 'n', long, value_name = "N")]
    pub count: Option<u64>,
    /// Every disk, with the columns of `iostat -x`.
    #[arg(long, conflicts_with = "cpu")]
    pub disk: bool,
    /// Every CPU.
    #[arg(long)]
    pub cpu: bool,
    /// Run this command and watch while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `assay archive`.
#[derive(Debug, Subcommand)]
pub enum Archive {
    /// The runs, newest first.
    List {
        /// Only runs of this workload.
        #[arg(long)]
        workload: Option<String>,
        /// Only runs of this experiment.
        #[arg(long)]
        experiment: Option<String>,
        /// Only runs with this tag.
        #[arg(long)]
        tag: Option<String>,
        /// Only runs that have this text in id, experiment, workload, tags or host.
        #[arg(long)]
        text: Option<String>,
        /// At most so many.
        #[arg(long, default_value_t = 30)]
        limit: usize,
    },
    /// One run: its trials, metrics, findings and system.
    Show {
        /// The run.
        #[arg(default_value = "last")]
        run: String,
    },
    /// Check hashes, ledger and files of one run or all.
    Verify {
        /// The run; absent: all.
        run: Option<String>,
    },
    /// Write a run as one file, or all results as a Parquet data set.
    Export {
        /// The run; absent with --dataset.
        run: Option<String>,
        /// The file (`.tar.zst`) or folder to write.
        #[arg(short, long)]
        output: PathBuf,
        /// All results as Parquet files that pandas, Polars and DuckDB open.
        #[arg(long)]
        dataset: bool,
    },
    /// Read a run that was exported; its hashes are checked.
    Import {
        /// The file.
        file: PathBuf,
    },
    /// Make the index anew from the files.
    Reindex,
    /// Remove a run.
    Remove {
        /// The run.
        run: String,
    },
}

/// `assay doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Measure by how much identical treatments differ here (the A/A floor). Takes about a minute.
    #[arg(long)]
    pub aa: bool,
    /// How many comparisons of identical treatments `--aa` makes.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub comparisons: u32,
    /// Put back what a crash left changed.
    #[arg(long)]
    pub restore: bool,
}

/// `assay kit`.
#[derive(Debug, Subcommand)]
pub enum Kit {
    /// The kits that are found, and where.
    List,
    /// Check a kit's `kit.toml`.
    Check {
        /// The kit's folder.
        dir: PathBuf,
    },
}

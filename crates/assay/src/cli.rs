//! Definition of the command line: one struct per verb, without any behaviour.

use std::ffi::OsString;
use std::path::PathBuf;

use assay_model::Profile as Purpose;
use assay_observe::profile::Unwind;
use assay_observe::stat::{Naming, Shape};
use assay_system::process::Output;
use assay_traces::block_io::{Dimension, Measure, TimeUnit};
use assay_traces::syscalls::Dimension as CallDimension;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Runs system benchmarks, watches the machine while they run, compares them honestly, and
/// publishes pages whose every number leads back to a run.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 80, after_help = EXIT_CODES)]
pub struct Cli {
    /// The verb to run.
    #[command(subcommand)]
    pub verb: Verb,
    /// Folder of the archive, where runs are kept [default: the XDG data folder].
    #[arg(long, global = true, env = "ASSAY_ARCHIVE", value_name = "DIR")]
    pub archive: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

/// Meaning of the exit codes, shown below the help.
pub const EXIT_CODES: &str = "\
Exit codes: 0 fine, 1 assay failed, 2 usage or a bad file, 3 a workload failed
or its output did not validate, 4 a rule of severity `invalid` is broken,
5 worse than the margin asked for, 6 nothing was measured, 130 interrupted.";

/// Verbs of the command line.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Plan, run, observe, archive, and show the comparison.
    Run(Run),
    /// Decide a pull request: compare a revision with its base, and fail if it is worse than the
    /// margin.
    Gate(Gate),
    /// Find the commit that made a program slower, with interleaved trials.
    Bisect(Bisect),
    /// Show a metric over revisions as ratios to a reference, with its change points; measure
    /// missing points and confirm suspected changes.
    History(History),
    /// Show the trials of an experiment, their order, the time they will take and the detectable
    /// effect.
    Plan(Plan),
    /// Compare runs side by side, with everything else that differed between them.
    Compare(Compare),
    /// Rank the observations that differ with the metric between two treatments of a run.
    Explain(Explain),
    /// Recompute the bound claims of a text: which hold, are wrong, or lack data.
    Audit(Audit),
    /// Publish a run as one self-contained HTML page, with Markdown, CSV, JSON and the raw data.
    Publish(Publish),
    /// Repeat a post: run its experiments that can run here, publish it with this machine's
    /// numbers, and report which of its claims hold.
    Reproduce(Reproduce),
    /// Write an archive and posts as a static site: pages, lists, feeds and a search that needs no
    /// server.
    Site(Site),
    /// Print a table of quoted results as of a day, ranked in total or under a denominator; without
    /// a name, list the tables.
    Landscape(Landscape),
    /// Show CPU, disk, memory, pressure and power now, on one clock.
    Stat(Stat),
    /// Analyse block I/O, live or from a recorded trace: number, size, latency and address of the
    /// I/Os, and the programs that made them.
    Io(Io),
    /// Show where programs spend their time: stacks on and off CPU, by function; live, or from a
    /// recorded profile.
    Profile(Profile),
    /// Count the system calls of programs: their number, time, errors and bytes.
    Syscalls(Syscalls),
    /// Measure the cost of address translation with hardware counters, or simulate it from an
    /// address stream.
    Tlb(Tlb),
    /// List, show, verify, export and import recorded runs.
    #[command(subcommand)]
    Archive(Archive),
    /// Check whether this machine is fit to measure on, which observers work here, and which
    /// settings a crash left changed.
    Doctor(Doctor),
    /// Export the reference times or the result of a CPU suite, for the rule pack `cpu`.
    #[command(subcommand)]
    Cpu(Cpu),
    /// List and check kits: outside programs as workloads.
    #[command(subcommand)]
    Kit(Kit),
    /// List and build the virtual machines of experiments with `engine = "vm"`.
    #[command(subcommand)]
    Vm(Vm),
    /// List and run the checks of the catalogue and the rule packs.
    #[command(subcommand)]
    Rules(Rules),
    /// List the workloads and kits, with their parameters.
    Workloads {
        /// Show only this workload, with its parameters and metrics.
        name: Option<String>,
    },
    /// Write the JSON Schemas of every file format.
    Schema {
        /// The folder to write to.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Print a shell's completion script for assay.
    Completions {
        /// The shell to write the script for.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one for each verb.
    Man {
        /// The folder to write to.
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Serve the queue, live runs, the archive and comparisons to browsers.
    Serve(Serve),
    /// Submit an experiment to the queue of a server.
    Submit(Submit),
    /// List the queue of a server: running, waiting and finished jobs.
    Pending(Server),
    /// Wait until a job of the queue has finished, and exit with the code of its run.
    Wait(OfJob),
    /// Cancel a job of the queue; a running job ends its trial and restores settings.
    Cancel(OfJob),
    /// Put an interrupted job back into the queue, to continue where it stopped.
    Resume(OfJob),
    /// Write the reference pages of the documentation.
    #[command(name = "__reference", hide = true)]
    Reference {
        /// The folder to write to.
        output: PathBuf,
    },
    /// The process that ends the programs of a killed assay; a run starts it itself.
    #[command(name = "__guard", hide = true)]
    Guard,
    /// The agent on a node of a cluster; a run starts it itself.
    #[command(name = "__agent", hide = true)]
    Agent,
    /// The program of a built-in workload; assay starts it itself.
    #[command(name = "__work", hide = true)]
    Work {
        /// The name of the workload.
        name: String,
        /// The parameters of the workload.
        parameters: Option<String>,
    },
}

/// `assay serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// The folders of experiments that may be submitted [default: ./experiments, else those that
    /// come with assay].
    #[arg(value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The address to listen on. Other machines can reach anything but a loopback address; the
    /// traffic is not encrypted.
    #[arg(long, default_value = "127.0.0.1:7654", value_name = "ADDRESS:PORT")]
    pub listen: std::net::SocketAddr,
    /// A name that browsers may use for the server, in addition to addresses and `localhost`. May
    /// be given several times.
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Allow any experiment and any parameter: whoever has the token may run any command.
    #[arg(long)]
    pub allow_any: bool,
    /// Maximum number of connections at once. Above that, connections that have shown no token are
    /// closed first.
    #[arg(long, default_value_t = 512, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub connections: u32,
    /// Maximum number of connections from one address [default: half of all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65536))]
    pub connections_per_address: Option<u32>,
    /// Sustained requests per second from one address; bursts of four times as many are served.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: u32,
}

/// The server to talk to.
#[derive(Debug, Args)]
pub struct Server {
    /// The server [default: the one that runs on this machine].
    #[arg(long, env = "ASSAY_SERVER", value_name = "HOST:PORT")]
    pub server: Option<String>,
}

/// A job of a server's queue.
#[derive(Debug, Args)]
pub struct OfJob {
    /// The number of the job.
    pub job: u64,
    /// The server that has the job.
    #[command(flatten)]
    pub server: Server,
}

/// `assay submit`.
#[derive(Debug, Args)]
pub struct Submit {
    /// The experiment: its name in the server's folders, or its file.
    pub experiment: String,
    /// A parameter: one value fixes it, several (with commas) make it a factor.
    #[arg(long, value_name = "NAME=V[,V...]")]
    pub set: Vec<String>,
    /// The number of blocks; each holds one trial of every treatment.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// A word to find the run by. May be given several times.
    #[arg(long, value_name = "WORD")]
    pub tag: Vec<String>,
    /// Measure this revision (a commit, a tag, a branch) as a point of the experiment's history;
    /// the experiment has a [source].
    #[arg(long, value_name = "REV")]
    pub rev: Option<String>,
    /// The reference revision [default: the reference of the history, else the one that the file
    /// names].
    #[arg(long, value_name = "REV", requires = "rev")]
    pub reference: Option<String>,
    /// Do not start before this time.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Put the job in front of all waiting jobs.
    #[arg(long)]
    pub first: bool,
    /// Wait until the job has finished, and exit with the code of its run.
    #[arg(long)]
    pub wait: bool,
    /// The server to submit to.
    #[command(flatten)]
    pub server: Server,
}

/// `assay run`.
#[derive(Debug, Args)]
pub struct Run {
    /// The experiment and its layout.
    #[command(flatten)]
    pub what: What,
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
    /// Keep the commands' output in the archive (at most 2 MiB a stream), or discard it.
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

/// `assay gate`.
#[derive(Debug, Args)]
pub struct Gate {
    /// The experiment and its layout; the margin is 2 % unless given.
    #[command(flatten)]
    pub what: What,
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
    /// Write the result as Markdown, for a step summary or a comment; its first line lets a later
    /// run find and replace the comment.
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

/// `assay bisect`.
#[derive(Debug, Args)]
pub struct Bisect {
    /// The experiment. Its margin is the smallest step that the search looks for, 2 % unless given.
    #[command(flatten)]
    pub what: What,
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
    pub what: What,
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

/// An experiment, given as a file, a workload or command lines.
#[derive(Debug, Clone, Default, Args)]
pub struct What {
    /// An experiment file, a workload or a kit's folder; or command lines in quotes, to compare
    /// with each other.
    #[arg(value_name = "EXPERIMENT|'COMMAND'")]
    pub targets: Vec<String>,
    /// A command to measure, with its arguments, after `--`; any command is a workload.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
    /// Another command to compare with, in interleaved trials; the one after `--` is the baseline.
    /// May be given several times.
    #[arg(long, value_name = "COMMAND")]
    pub vs: Vec<String>,
    /// Compare one treatment with itself 20 times, to find the A/A floor: the difference between
    /// identical treatments here. Later runs of the same experiment quote it. Takes 200 blocks, or
    /// `--blocks` from 60 on.
    #[arg(long, conflicts_with_all = ["vs", "until_clear"])]
    pub aa: bool,
    /// A parameter, or `controls.NAME`: one value fixes it, several (with commas) make it a factor.
    /// Write a value that contains a comma as a list: `NAME=["V,V"]`.
    #[arg(long, value_name = "NAME=V[,V...]")]
    pub set: Vec<String>,
    /// Revisions of a git repository as a factor: commits, tags, branches, `worktree`, ranges such
    /// as `v1..main` or `v1..main:10` for every tenth commit. The first is the baseline.
    #[arg(long, value_name = "REV[,REV...]", value_delimiter = ',')]
    pub rev: Vec<String>,
    /// The shell command that builds a revision in its folder; the measured commands run there.
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// Build each revision this many times, and compare the builds: the code layout that a compiler
    /// or linker happens to choose changes a program's speed by a few percent. The command finds
    /// the number of the build in `ASSAY_BUILD`.
    #[arg(long, value_name = "N", conflicts_with = "until_clear")]
    pub builds: Option<u32>,
    /// A folder of the repository [default: the current folder].
    #[arg(long, value_name = "FOLDER")]
    pub repo: Option<String>,
    /// The number of blocks; each holds one trial of every treatment.
    #[arg(short, long, value_name = "N")]
    pub blocks: Option<u32>,
    /// Blocks at the start that are run and recorded but not compared.
    #[arg(short, long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Run all blocks of this factor's first level before those of the next, such as `tuning`.
    #[arg(long, value_name = "FACTOR", conflicts_with = "until_clear")]
    pub group_by: Option<String>,
    /// Stop as soon as the answer is clear (looks at 6, 9, 13, 19, 28 and 42 blocks).
    #[arg(long, conflicts_with = "blocks")]
    pub until_clear: bool,
    /// The seed of the order of trials.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// End a trial that runs longer than this, such as `30 s`.
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<String>,
    /// Start no trial after this much time.
    #[arg(long, value_name = "DURATION")]
    pub max_time: Option<String>,
    /// Treat differences up to this size as equal, such as `2 %`.
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<String>,
    /// Exit with 5 when a treatment is worse than the baseline by more than the margin.
    #[arg(long, requires = "margin")]
    pub gate: bool,
    /// The metric that decides, such as `user` of a command [default: the workload's first, or the
    /// file's].
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Confidence level of intervals, if the verb sets one.
    #[arg(skip)]
    pub confidence: Option<f64>,
    /// Monitors, separated by commas; `all` or `none`, and `tasks` (threads), which `all` does not
    /// include.
    #[arg(long, value_name = "NAMES")]
    pub monitors: Option<String>,
    /// Tracers, separated by commas, in place of the experiment's: `io`, `io-events`, `profile`,
    /// `profile@999`, `syscalls`, `instructions`; or `none`.
    #[arg(long, value_name = "NAMES")]
    pub tracers: Option<String>,
    /// The time between samples of the monitors.
    #[arg(long, value_name = "DURATION")]
    pub interval: Option<String>,
    /// A command to run once, before the first trial, outside the measurement.
    #[arg(long, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// A command to run before each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// A command to run after each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND")]
    pub conclude: Option<String>,
    /// A file that each trial reads from its start as standard input [default: nothing].
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<String>,
    /// Run the commands through a shell. The shell's start-up is part of the measured time, and is
    /// also reported separately.
    #[arg(long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh")]
    pub shell: Option<String>,
    /// Accept commands that fail, all or only with these exit codes (`--ignore-failure=1`), and
    /// measure them like any other.
    #[arg(long, value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub ignore_failure: Option<String>,
    /// The place where the trials run, as under [where] of an experiment.
    #[command(flatten)]
    pub place: Location,
    /// The name of the run's experiment.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A word to find the run by. May be given several times.
    #[arg(long, value_name = "WORD")]
    pub tag: Vec<String>,
}

/// Place where the trials run.
#[derive(Debug, Clone, Default, Args)]
pub struct Location {
    /// Where to run the trials.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub on: Option<On>,
    /// The number of nodes.
    #[arg(long, value_name = "N")]
    pub nodes: Option<u32>,
    /// The number of copies of the program on each node.
    #[arg(long, value_name = "N")]
    pub tasks_per_node: Option<u32>,
    /// The name of the Slurm partition.
    #[arg(long, value_name = "NAME")]
    pub partition: Option<String>,
}

impl Location {
    /// Returns true if an option is given that applies only to the nodes of a cluster.
    pub fn of_nodes(&self) -> bool {
        self.nodes.is_some() || self.tasks_per_node.is_some() || self.partition.is_some()
    }
}

/// Engine that runs the trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// Directly on this machine.
    #[value(alias = "here")]
    Local,
    /// On the nodes of a Slurm job.
    Slurm,
    /// In virtual machines on this machine; `--set 'vm.kernel=["6.1"]'` and the like configure
    /// them.
    Vm,
}

/// `assay plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The experiment and its layout.
    #[command(flatten)]
    pub what: What,
}

/// `assay compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Runs: an id, a part of an id that fits only one run, or `last`. Join runs that repeat each
    /// other with commas, to make them one side; with three or more on each side, the means of the
    /// runs are compared.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// The metric to compare [default: the one that decided in the first run].
    #[arg(long)]
    pub metric: Option<String>,
    /// Treat differences up to this size as equal, such as `2 %`.
    #[arg(long, value_name = "PERCENT")]
    pub margin: Option<String>,
    /// A system fact or parameter that is meant to differ between the runs, such as
    /// `kernel.release` or `cpu.model`. May be given several times.
    #[arg(long, value_name = "PATH")]
    pub factor: Vec<String>,
    /// Accept the soft differences at a path and below it, with a reason, which is printed. May be
    /// given several times.
    #[arg(long, value_name = "PATH=REASON")]
    pub accept: Vec<String>,
    /// A treatment that all runs have and that did not change: compare relative to it, which
    /// cancels the drift between the runs.
    #[arg(long, value_name = "LABEL")]
    pub reference: Option<String>,
    /// Also write a page: one self-contained HTML file, with the runs over time and their block I/O
    /// side by side.
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
}

/// `assay explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The run: an id, a part of an id that fits only one run, or `last`.
    #[arg(default_value = "last", value_name = "RUN")]
    pub run: String,
    /// The treatment to compare with the baseline: a part of its label [default: the only one].
    #[arg(long, value_name = "LABEL")]
    pub treatment: Option<String>,
}

/// `assay audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// The text: Markdown (`.md`), HTML (`.html`), CSV, or plain text; `-` is standard input.
    pub text: PathBuf,
    /// The claims file: judge each claim that it binds. Without this option, list the tables and
    /// comparisons of the text, and judge nothing.
    #[arg(long, value_name = "FILE.toml")]
    pub claims: Option<PathBuf>,
    /// Write a claims file with every comparison of the text, for you to fill in; `-` prints it.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["claims", "json"])]
    pub draft: Option<PathBuf>,
    /// Replace the file of `--draft` if it exists.
    #[arg(long, requires = "draft")]
    pub force: bool,
    /// A file of quoted results (CSV) that expressions may name, in addition to the built-in ones.
    /// May be given several times.
    #[arg(long, requires = "claims", value_name = "CSV")]
    pub results: Vec<PathBuf>,
    /// A folder of results, as for `assay landscape`. May be given several times.
    #[arg(long, requires = "claims", value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Also list the comparisons that are not checked, and the rows of columns that hold.
    #[arg(short, long)]
    pub verbose: bool,
}

/// `assay publish`.
#[derive(Debug, Args)]
pub struct Publish {
    /// The run (an id, a part of an id that fits only one run, or `last`), or a post's template: a
    /// file that ends in `.md`.
    #[arg(default_value = "last", value_name = "RUN|POST.md")]
    pub what: String,
    /// Publish histories instead: all histories of the archive, or those of the named experiment.
    #[arg(long)]
    pub history: bool,
    /// The folder to write to [default: a folder with the name of the run].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Show which files would be published and which values replaced; write nothing.
    #[arg(long, conflicts_with_all = ["output", "no_redact"])]
    pub preview: bool,
    /// Replace secrets, names of machines and people, home folders and network shares. This is the
    /// default.
    #[arg(long, conflicts_with = "no_redact")]
    pub redact: bool,
    /// Publish the run as it was recorded, with names of machines and people.
    #[arg(long)]
    pub no_redact: bool,
    /// Replace an earlier publication in that folder.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// For a post: a folder of quoted results, in addition to the built-in ones; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// For a post: publish it without the numbers that a check calls invalid, instead of refusing
    /// it.
    #[arg(long)]
    pub withhold: bool,
}

impl Publish {
    /// Returns the folder to write to.
    ///
    /// # Errors
    /// The `-o` option is missing.
    pub fn folder(&self) -> anyhow::Result<&PathBuf> {
        let missing = || crate::exit::Usage("give the folder to write to with -o DIR".to_owned());
        Ok(self.output.as_ref().ok_or_else(missing)?)
    }
}

/// `assay reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// A post's template, or a folder of them.
    #[arg(value_name = "POST.md|DIR")]
    pub what: PathBuf,
    /// Stop after this much time, such as `2h`; the same command continues with the rest.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Publish each post into a folder of its own below this one, with the table of claims.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Show what would run, in which order and for how long; run nothing.
    #[arg(long)]
    pub plan: bool,
    /// A folder of quoted results, in addition to the built-in ones; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Wait until no other run measures on this machine.
    #[arg(long, alias = "wait-turn")]
    pub wait_for_lock: bool,
}

/// `assay site`.
#[derive(Debug, Args)]
pub struct Site {
    /// The folder to write to: a new or empty folder, or an existing site to update.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The folder of posts, one `.md` file each [default: no posts].
    #[arg(long, value_name = "DIR")]
    pub posts: Option<PathBuf>,
    /// The title of the site.
    #[arg(long, default_value = "Performance notes", value_name = "TEXT")]
    pub title: String,
    /// The address that the site will be served from; without it the site has no sitemap and no
    /// JSON feed.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Another folder of results for landscapes and posts, as for `assay landscape`. May be given
    /// several times.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Publish runs as they were recorded, with the names of machines and people.
    #[arg(long)]
    pub no_redact: bool,
    /// Write into a folder that also holds other files; they are kept unless a page has the same
    /// name.
    #[arg(long)]
    pub force: bool,
}

/// `assay landscape`.
#[derive(Debug, Args)]
pub struct Landscape {
    /// The landscape to show [default: list them].
    pub name: Option<String>,
    /// Show only results that were current on this day, such as 2009-08-27.
    #[arg(long, value_name = "DATE", requires = "name")]
    pub as_of: Option<String>,
    /// Add a column of the values per chip, core, thread, instance, core-ghz, watt, rack-unit or
    /// price; the first one orders the table. May be given several times.
    #[arg(long, value_name = "DENOMINATOR", requires = "name")]
    pub per: Vec<assay_quoted::denominator::Denominator>,
    /// Show every system under every recorded denominator, with ranks, and where the order
    /// reverses.
    #[arg(long, requires = "name")]
    pub matrix: bool,
    /// Add a measured run to the quoted results. May be given several times.
    #[arg(long = "with", value_name = "RUN", requires = "name")]
    pub with_runs: Vec<String>,
    /// Another folder of results: `*.csv`, and optionally `landscapes.toml` and `sources.csv`. May
    /// be given several times.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Show only this metric.
    #[arg(long, requires = "name")]
    pub metric: Option<String>,
    /// Show at most N lines, 0 for all [default: 40 in a terminal's table, else all].
    #[arg(long, value_name = "N", requires = "name")]
    pub top: Option<usize>,
    /// Print CSV; with --matrix, print the matrix.
    #[arg(long, requires = "name", conflicts_with_all = ["json", "markdown"])]
    pub csv: bool,
    /// Print the table as Markdown.
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub markdown: bool,
    /// Write a page: one self-contained HTML file, with the matrix.
    #[arg(short, long, value_name = "FILE.html", requires = "name")]
    pub output: Option<PathBuf>,
}

/// `assay stat`.
#[derive(Debug, Args)]
pub struct Stat {
    /// Seconds between lines, or a duration such as `500 ms`.
    #[arg(short, long, default_value = "1 s", value_name = "DURATION")]
    pub interval: String,
    /// Stop after this many lines [default: when interrupted, or when the command ends].
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Stop after this many seconds, instead of after a number of lines.
    #[arg(short, long, value_name = "N", conflicts_with = "count")]
    pub seconds: Option<f64>,
    /// Show every disk, with the columns of iostat.
    #[arg(short = 'x', long)]
    pub disk: bool,
    /// Show every CPU; with --disk, print a line about all CPUs before the disks.
    #[arg(short, long)]
    pub cpu: bool,
    /// Show the time of each process: user, kernel, or waiting for CPU, disk or memory; with its
    /// context switches, faults, memory and I/O, the busiest first.
    #[arg(long, conflicts_with_all = ["disk", "cpu"])]
    pub tasks: bool,
    /// Show threads instead of processes.
    #[arg(long, requires = "tasks")]
    pub threads: bool,
    /// List at most this many tasks.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "tasks")]
    pub busiest: usize,
    /// Show only these processes and their descendants.
    #[arg(long, value_name = "PID", requires = "tasks", conflicts_with_all = ["cgroup", "command"])]
    pub pid: Vec<u32>,
    /// Show only the processes of this control group and of the groups below it.
    #[arg(long, value_name = "PATH", requires = "tasks", conflicts_with = "command")]
    pub cgroup: Option<PathBuf>,
    /// Omit the idle disks.
    #[arg(short = 'z', long, requires = "disk")]
    pub skip_idle: bool,
    /// The iostat columns to print [default: all columns of Linux's iostat if the terminal is wide
    /// enough, else the short form].
    #[arg(long, requires = "disk", value_name = "SHAPE", value_parser = choice(SHAPES))]
    pub shape: Option<Shape>,
    /// The kind of names to show for disks.
    #[arg(long, default_value = "mapped", value_name = "HOW", value_parser = choice(NAMES))]
    pub names: Naming,
    /// Run this command and print samples while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// Programs to observe, and for how long.
#[derive(Debug, Args)]
pub struct Targets {
    /// Observe these processes, their children, and the processes that they start.
    #[arg(long, value_name = "PID", conflicts_with_all = ["cgroup", "all", "command"])]
    pub pid: Vec<u32>,
    /// Observe the processes that are in this control group now, and the processes that they start.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["all", "command"])]
    pub cgroup: Option<PathBuf>,
    /// Observe all processes of the machine.
    #[arg(long, conflicts_with = "command")]
    pub all: bool,
    /// Stop after this many seconds [default: when the program ends, or when interrupted]. A
    /// command that still runs is then ended.
    #[arg(short, long, value_name = "N")]
    pub seconds: Option<f64>,
    /// Run this command and observe it while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `assay profile`.
#[derive(Debug, Args)]
pub struct Profile {
    #[command(flatten)]
    pub of: Targets,
    /// Show a recorded profile (`-`: standard input): perf script's text, folded stacks,
    /// async-profiler's collapsed form, pprof, callgrind's files, or assay's own JSON. The format
    /// is detected from the content.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "cgroup", "all", "seconds", "command"])]
    pub from: Option<PathBuf>,
    /// Samples per second and CPU.
    #[arg(long, value_name = "HZ", default_value_t = 99.0, conflicts_with = "from")]
    pub rate: f64,
    /// Sample time on CPU only, not waiting: cheaper if threads switch very often.
    #[arg(long, conflicts_with = "from")]
    pub on_cpu: bool,
    /// Method to unwind stacks. `auto` copies a stack, to be unwound by DWARF, if its frame
    /// pointers do not lead to its beginning; `fp` never does, and `dwarf` always. Stacks of waits
    /// have frame pointers only.
    #[arg(long, default_value = "auto", value_name = "HOW", conflicts_with = "from", value_parser = choice(UNWIND))]
    pub unwind: Unwind,
    /// Maximum number of different stacks to keep; the rest are only counted.
    #[arg(long, value_name = "N", default_value_t = assay_observe::profile::ROOM, conflicts_with = "from",
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub room: u32,
    /// List at most this many functions.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// List the functions of each thread separately.
    #[arg(long)]
    pub threads: bool,
    /// Also write a file: .html (a page with flame graphs), .folded and .offcpu.folded, .pb.gz
    /// (pprof), .speedscope.json, .firefox.json, or .json (assay's own). May be given several
    /// times.
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// `assay syscalls`.
#[derive(Debug, Args)]
pub struct Syscalls {
    #[command(flatten)]
    pub of: Targets,
    /// Dimensions to group the calls by in one table, separated by commas.
    #[arg(long, value_delimiter = ',', default_value = "call", value_name = "LIST", value_parser = choice(CALLS_BY))]
    pub by: Vec<CallDimension>,
    /// List at most this many lines.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// `assay tlb`.
#[derive(Debug, Args)]
pub struct Tlb {
    /// Simulate instead of counting: run these address streams (`-`: standard input) through the
    /// TLBs and TSBs of a machine. Several streams are processes that share the CPU in time slices.
    #[arg(long, value_name = "TRACE", num_args = 1.., conflicts_with = "command")]
    pub simulate: Vec<PathBuf>,
    /// The machine to simulate: a built-in one (solaris-9, solaris-10, two-level-tsb, x86-64), or a
    /// TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "x86-64", requires = "simulate")]
    pub machine: String,
    /// Back data with pages of this size; --instruction-page sets the size for instructions.
    #[arg(long, value_name = "SIZE", requires = "simulate")]
    pub page: Option<String>,
    /// Back instructions with pages of this size.
    #[arg(long, value_name = "SIZE", requires = "simulate")]
    pub instruction_page: Option<String>,
    /// Print a line every N accesses.
    #[arg(long, value_name = "N", requires = "simulate")]
    pub every: Option<u64>,
    /// The length of a time slice, in accesses.
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "simulate")]
    pub slice: u64,
    /// Also write the stream to a file in assay's own format, which is read fastest.
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub record: Option<PathBuf>,
    /// Seconds between lines, or a duration such as `500 ms`.
    #[arg(short, long, default_value = "1 s", value_name = "DURATION")]
    pub interval: String,
    /// Run this command and count while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `assay io`.
#[derive(Debug, Args)]
pub struct Io {
    /// The trace: a file, `-` for standard input, or NAME for the files NAME.blktrace.0,
    /// NAME.blktrace.1 and so on. The format is detected from the content. Without this option the
    /// live system is traced.
    #[arg(long, value_name = "TRACE")]
    pub from: Option<PathBuf>,
    /// Trace every I/O instead of counting in the kernel: exact order, seeks, linear histograms.
    #[arg(long, conflicts_with = "from")]
    pub events: bool,
    /// Stop after this many ticks [default: when interrupted, or when the command ends].
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "from")]
    pub count: Option<u64>,
    /// List the block devices, the paths that lead to them, and where they are mounted.
    #[arg(long, conflicts_with = "from")]
    pub devices: bool,
    /// Dimensions to group the I/Os by, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "WHAT",
          value_parser = choice(Dimension::ALL.map(|d| (d.name(), "", d))))]
    pub by: Vec<Dimension>,
    /// Histograms to print, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "WHAT", value_parser = choice(MEASURES))]
    pub hist: Vec<Measure>,
    /// Show the time of I/Os from stage to stage (queued, made or joined, inserted, issued,
    /// completed), merges and plugs, by device: of a trace by blktrace, or live.
    #[arg(long, conflicts_with_all = ["by", "hist", "tick", "format", "save", "events", "program", "pid", "file",
        "cgroup", "read", "write", "from_time", "to_time", "blocks"])]
    pub stages: bool,
    /// Group addresses by powers of two instead of regions.
    #[arg(long, requires = "hist", conflicts_with = "linear")]
    pub quantize: bool,
    /// Print linear histograms with this range and step.
    #[arg(long, value_name = "FROM,TO,STEP", requires = "hist", allow_hyphen_values = true)]
    pub linear: Option<String>,
    /// The unit of times in histograms.
    #[arg(long, default_value = "us", value_parser = choice(UNITS))]
    pub unit: TimeUnit,
    /// Print a line per interval of this length (live: as it passes).
    #[arg(short = 'i', long, visible_alias = "interval", value_name = "DURATION")]
    pub tick: Option<String>,
    /// List at most this many groups, devices and regions, the busiest first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Include only I/Os of this program. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub program: Vec<String>,
    /// Include only I/Os of this device, by its name in the trace; live, also by a path to it or a
    /// file on it. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Include only I/Os of this process. May be given several times.
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Include only I/Os of this file. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub file: Vec<String>,
    /// Include only I/Os of this control group. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub cgroup: Vec<String>,
    /// Include only the reads.
    #[arg(long, conflicts_with = "write")]
    pub read: bool,
    /// Include only the writes.
    #[arg(long)]
    pub write: bool,
    /// Include only I/Os that started at least this long after the first one of the trace.
    #[arg(long, value_name = "DURATION")]
    pub from_time: Option<String>,
    /// Include only I/Os that started less than this long after the first one of the trace.
    #[arg(long, value_name = "DURATION")]
    pub to_time: Option<String>,
    /// Include only I/Os that begin in these blocks of 512 bytes; regions then divide that range.
    #[arg(long, value_name = "FIRST-LAST")]
    pub blocks: Option<String>,
    /// Save the I/Os as Parquet, one row per I/O.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write the I/Os themselves in time order, for other tools, instead of a summary.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "tick"])]
    pub format: Option<IoFormat>,
    /// Reader threads, where the format allows more than one [default: all CPUs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Run this command and trace all I/O of the system while it runs.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "from")]
    pub command: Vec<OsString>,
}

/// Text format for single I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IoFormat {
    /// The events as `blkparse` prints them: queued (Q) or made (G) if that is known, issued (D),
    /// completed (C).
    Blkparse,
    /// The latency log of fio with offsets: ms, latency in ns, direction, bytes, offset, priority.
    FioLog,
    /// One row per I/O, with every known field.
    Csv,
}

/// `assay archive`.
#[derive(Debug, Subcommand)]
pub enum Archive {
    /// List the runs, newest first.
    List {
        /// List only runs of this workload.
        #[arg(long)]
        workload: Option<String>,
        /// List only runs of this experiment.
        #[arg(long)]
        experiment: Option<String>,
        /// List only runs with this tag.
        #[arg(long)]
        tag: Option<String>,
        /// List only runs with this text in id, experiment, workload, tags, note or host.
        #[arg(long)]
        text: Option<String>,
        /// List at most this many runs.
        #[arg(long, default_value_t = 30)]
        limit: usize,
        /// List the deleted runs that can be restored, instead of the others.
        #[arg(long, conflicts_with_all = ["workload", "experiment", "tag", "text"])]
        deleted: bool,
    },
    /// Show one run: its trials, metrics, findings and system.
    Show {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        #[arg(default_value = "last")]
        run: String,
    },
    /// Check the hashes, ledger and files of one run or of all.
    Verify {
        /// The run to check [default: all].
        run: Option<String>,
    },
    /// Write a run as one file, or all results as a Parquet data set.
    Export {
        /// The run to export; not with --dataset.
        run: Option<String>,
        /// The file (`.tar.zst`) or folder to write.
        #[arg(short, long)]
        output: PathBuf,
        /// Write all results as Parquet files that pandas, Polars and DuckDB open.
        #[arg(long)]
        dataset: bool,
        /// Write the same copy that `publish` would write, without names of machines and people.
        /// Without this option, the run is written byte for byte.
        #[arg(long, conflicts_with = "dataset")]
        redact: bool,
    },
    /// Import an exported run, or results of another program (hyperfine, fio, JMH, profiles, ...:
    /// `--as` lists the formats).
    Import {
        /// The files; several results of one program become one run.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The format of the file [default: detected from the content].
        #[arg(long = "as", value_name = "FORMAT", value_parser = format_names())]
        format: Option<String>,
        /// The name of the run's experiment.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// A word to find the run by, such as `host=lab1`. May be given several times.
        #[arg(long, value_name = "WORD")]
        tag: Vec<String>,
        /// Import results again that were imported before.
        #[arg(long)]
        again: bool,
        /// Refuse an exported run that unpacks to more than this size.
        #[arg(long, default_value = "4 GiB", value_name = "SIZE", value_parser = size)]
        max_size: u64,
        /// Refuse an exported run that has more files than this.
        #[arg(long, default_value_t = 100_000, value_name = "N")]
        max_files: usize,
        /// Refuse an exported run that unpacks to more than 64 MiB and to this many times its own
        /// size.
        #[arg(long, default_value_t = 200, value_name = "N")]
        max_ratio: u64,
    },
    /// Rebuild the index from the files.
    Reindex,
    /// Add tags to a run, or remove added ones; without either, print them. The record stays as it
    /// is.
    Tag {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// The tags to add.
        #[arg(value_name = "TAG")]
        tags: Vec<String>,
        /// Remove this tag. May be given several times.
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
    },
    /// Write a note about a run; without a text, print it. The record stays as it is.
    Note {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// The text of the note; it replaces the existing one, and "" removes it.
        text: Option<String>,
    },
    /// Delete a run. It can be restored until the day (UTC) ends.
    #[command(alias = "remove")]
    Delete {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        run: String,
        /// Delete it immediately and permanently.
        #[arg(long)]
        now: bool,
    },
    /// Restore a deleted run.
    Restore {
        /// The run, or `last` for the one that was deleted last.
        #[arg(default_value = "last")]
        run: String,
    },
}

fn size(text: &str) -> Result<u64, String> {
    assay_model::units::parse_bytes(text).map_err(|e| e.to_string())
}

/// Returns the names of the foreign formats that assay reads, with the programs that write them.
fn format_names() -> PossibleValuesParser {
    let formats = assay_archive::import::foreign::FORMATS.iter();
    PossibleValuesParser::new(formats.map(|f| PossibleValue::new(f.name).help(f.help)))
}

/// A word of an option, its help (may be empty), and its value.
type Choice<T> = (&'static str, &'static str, T);

/// Returns a parser that accepts the words of `rows`.
fn choice<T: Clone + Send + Sync + 'static>(
    rows: impl IntoIterator<Item = Choice<T>>,
) -> impl TypedValueParser<Value = T> {
    let rows: Vec<Choice<T>> = rows.into_iter().collect();
    let words = rows.iter().map(|(word, help, _)| match *help {
        "" => PossibleValue::new(*word),
        help => PossibleValue::new(*word).help(help),
    });
    PossibleValuesParser::new(words).try_map(move |typed| {
        let row = rows.iter().find(|(word, ..)| *word == typed);
        row.map(|(.., value)| value.clone()).ok_or("not one of the possible values")
    })
}

const OUTPUTS: [Choice<Output>; 2] = [
    ("keep", "Through a pipe into the archive", Output::Keep),
    ("discard", "To `/dev/null`", Output::Discard),
];

const SHAPES: [Choice<Shape>; 3] = [
    ("linux", "All of `iostat -x` of Linux", Shape::Linux),
    ("short", "Those of `iostat -xs` of Linux, 80 characters", Shape::Short),
    ("solaris", "Those of `iostat -xn` of Solaris", Shape::Solaris),
];

const NAMES: [Choice<Naming>; 3] = [
    ("kernel", "As the kernel: `dm-0`", Naming::Kernel),
    ("mapped", "As LVM or another mapper, where there is one: `vg0-data`", Naming::Mapped),
    ("mount", "By mount point, where there is one: `/srv`", Naming::Mount),
];

const UNWIND: [Choice<Unwind>; 3] = [
    ("auto", "By frame pointers, else by DWARF", Unwind::Auto),
    ("fp", "By frame pointers", Unwind::FramePointers),
    ("dwarf", "By DWARF", Unwind::Dwarf),
];

const MANY_PROCESSES: &str =
    "The process; needs more room, so calls of many processes may be lost (which is reported)";
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

const MEASURES: [Choice<Measure>; 5] = [
    ("size", "Bytes", Measure::Size),
    ("latency", "From the first traced event to the completion", Measure::Latency),
    ("queue", "The part of it in the queue", Measure::Queue),
    ("device", "The part of it in the device", Measure::Device),
    ("address", "The first block", Measure::Address),
];

const UNITS: [Choice<TimeUnit>; 3] = [
    ("ns", "Nanoseconds", TimeUnit::Ns),
    ("us", "Microseconds", TimeUnit::Us),
    ("ms", "Milliseconds", TimeUnit::Ms),
];

const PROFILES: [Choice<Purpose>; 2] = [
    ("lab", "Work at the bench: checks that cannot be evaluated are counted", Purpose::Lab),
    ("publish", "For publication: a check that cannot be evaluated is a finding", Purpose::Publish),
];

/// `assay doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Measure the difference between identical treatments here (the A/A floor). Takes about a
    /// minute.
    #[arg(long)]
    pub aa: bool,
    /// Number of comparisons of identical treatments that `--aa` makes.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub comparisons: u32,
    /// Restore the settings that a crash left changed.
    #[arg(long)]
    pub restore: bool,
    /// Also list every finding, monitor, tracer and control, with the reason if one does not work.
    #[arg(short, long)]
    pub verbose: bool,
    /// Examine a cluster instead (`--on slurm`), with a job of a few seconds.
    #[command(flatten)]
    pub place: Location,
}

/// `assay kit`.
#[derive(Debug, Subcommand)]
pub enum Kit {
    /// List the kits and their folders.
    List,
    /// Check a kit's `kit.toml`.
    Check {
        /// The folder of the kit.
        dir: PathBuf,
    },
}

/// `assay vm`.
#[derive(Debug, Subcommand)]
pub enum Vm {
    /// List the built kernels, and the hypervisor and acceleration available here.
    List,
    /// Build a Debian root file system and kernels from Debian's packages; needs root, mmdebstrap
    /// and a mirror.
    Build {
        /// A kernel: 5.10, 6.1, 6.12 or a newer series of Debian's backports; or the path to a
        /// vmlinuz, whose modules are in $MODULES.
        #[arg(required = true, value_name = "KERNEL")]
        kernels: Vec<String>,
    },
}

/// `assay cpu`.
#[derive(Debug, Subcommand)]
pub enum Cpu {
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

/// `assay rules`.
#[derive(Debug, Subcommand)]
pub enum Rules {
    /// List the packs, and the checks with one line each.
    List {
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
    /// Print every check in full.
    Catalogue {
        /// Print the Markdown of the documentation page.
        #[arg(long)]
        markdown: bool,
    },
    /// Print the class of each system fact in comparisons, and which facts follow from which
    /// factor.
    Classes {
        /// Print the Markdown of the documentation page.
        #[arg(long)]
        markdown: bool,
    },
    /// Show one check or one pack.
    Show {
        /// A check (`F31` or `interleaved`) or a pack (`cpu`).
        id: String,
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
    /// Run every check on a run, and list those that cannot be evaluated.
    Check {
        /// The run: an id, a part of an id that fits only one run, or `last`.
        #[arg(default_value = "last")]
        run: String,
        /// The purpose of the numbers.
        #[arg(long, default_value = "lab", value_parser = choice(PROFILES))]
        profile: Purpose,
    },
    /// Judge a result (JSON) by a pack.
    Judge {
        /// The name of the pack.
        pack: String,
        /// The file with the result.
        file: PathBuf,
        /// A folder of packs, instead of the built-in ones.
        #[arg(long, value_name = "DIR")]
        packs: Option<PathBuf>,
    },
}

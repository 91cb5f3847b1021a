//! Arguments that several verbs share.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::{HostUse, Scalar, units};
use clap::builder::{PossibleValue, PossibleValuesParser, Resettable, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches, ValueEnum};

use crate::exit::Usage;
use crate::help;

/// Arguments that are defined when their verb is given: to define those of all verbs takes longer
/// than most verbs do.
#[derive(Debug)]
pub struct Deferred<T>(T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| {
            // The verb's own description stays.
            let about = Resettable::from(command.get_about().cloned());
            let long = Resettable::from(command.get_long_about().cloned());
            help::with_negative_numbers(T::augment_args(command).about(about).long_about(long))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_args_for_update(command)
    }
}

/// Options of every verb.
#[derive(Debug, Args)]
pub struct Global {
    /// Folder of the archive, where runs are kept [default: the XDG data folder].
    #[arg(long, global = true, env = "ASSAY_ARCHIVE", value_name = "DIR", display_order = 900)]
    pub archive: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long, global = true, display_order = 900)]
    pub json: bool,
}

/// An experiment, given as a file, a workload or command lines.
#[derive(Debug, Clone, Default, Args)]
pub struct ExperimentArgs {
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
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub timeout: Option<String>,
    /// Start no trial after this much time.
    #[arg(long, value_name = "DURATION", value_parser = some_time)]
    pub max_time: Option<String>,
    /// Treat differences up to this size as equal, such as `2 %`.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub margin: Option<String>,
    /// Exit with 5 when a treatment is worse than the baseline by more than the margin.
    #[arg(long, requires = "margin")]
    pub gate: bool,
    /// The metric that decides, such as `user` of a command [default: the workload's own, or the
    /// file's].
    #[arg(long, value_name = "NAME")]
    pub metric: Option<String>,
    /// Labels of the revisions, if the verb sets them.
    #[arg(skip)]
    pub rev_labels: Vec<String>,
    /// Benchmarks of a suite to compare, if the verb sets them.
    #[arg(skip)]
    pub only: Vec<String>,
    /// Confidence level of intervals, if the verb sets one.
    #[arg(skip)]
    pub confidence: Option<f64>,
    /// Monitors, separated by commas; `all` or `none`, and `tasks` (threads), which `all` does not
    /// include.
    #[arg(long, value_name = "NAMES")]
    pub monitors: Option<String>,
    /// Tracers, separated by commas, in place of the experiment's: `io`, `io-events`, `profile`,
    /// `profile@999`, `syscalls`, `runqueue`, `counters`, `instructions`; or `none`.
    #[arg(long, value_name = "NAMES")]
    pub tracers: Option<String>,
    /// The time between samples of the monitors.
    #[arg(long, value_name = "DURATION")]
    pub interval: Option<String>,
    /// A command to run once, before the first trial, outside the measurement.
    #[arg(long, value_name = "COMMAND", value_parser = given)]
    pub setup: Option<String>,
    /// A command to run before each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND", value_parser = given)]
    pub prepare: Option<String>,
    /// A command to run after each trial, outside the measurement.
    #[arg(long, value_name = "COMMAND", value_parser = given)]
    pub conclude: Option<String>,
    /// A file that each trial reads from its start as standard input [default: nothing].
    #[arg(long, value_name = "FILE", value_parser = given)]
    pub stdin: Option<String>,
    /// Run the commands through a shell. The shell's start-up is part of the measured time, and is
    /// also reported separately.
    #[arg(long, value_name = "SHELL", num_args = 0..=1, default_missing_value = "sh")]
    pub shell: Option<String>,
    /// Accept commands that fail, all or only with these exit codes (`--ignore-failure=1`), and
    /// measure them like any other.
    #[arg(long, value_name = "CODES", num_args = 0..=1, require_equals = true,
        default_missing_value = "all")]
    pub ignore_failure: Option<String>,
    /// Read each trial's output as that of a benchmark tool, such as `go-bench`, and compare every
    /// benchmark; `auto` recognizes the output.
    #[arg(long, value_name = "TOOL", value_parser = reader_names(), hide_possible_values = true)]
    pub reader: Option<String>,
    /// The file that the benchmark tool writes in each trial [default: its standard output].
    #[arg(long, value_name = "FILE", requires = "reader")]
    pub result_file: Option<String>,
    /// Decide by a number that the command prints: text with `{value}`, such as `took {value} ms`,
    /// or a regular expression with one group.
    #[arg(long, value_name = "PATTERN", value_parser = printed_pattern)]
    pub metric_from: Option<String>,
    /// The better direction of that number [default: by its unit].
    #[arg(long, value_name = "DIRECTION", requires = "metric_from",
        value_parser = ["lower", "higher"])]
    pub better: Option<String>,
    /// A command that reads each trial's output and fails if it is wrong.
    #[arg(long, value_name = "COMMAND", value_parser = given)]
    pub check: Option<String>,
    /// A file with the only correct output.
    #[arg(long, value_name = "FILE", value_parser = given)]
    pub expect: Option<String>,
    /// The place where the trials run, as under [where] of an experiment.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// The name of the run's experiment.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// A word to find the run by. May be given several times.
    #[arg(long, value_name = "WORD")]
    pub tag: Vec<String>,
}

/// Place where the trials run.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// Where to run the trials.
    #[arg(long, value_enum, value_name = "ENGINE")]
    pub on: Option<EngineArg>,
    /// A host to measure on, as `ssh` takes it, or several, separated by commas. Implies
    /// `--on ssh`.
    #[arg(long, value_name = "HOST", value_delimiter = ',')]
    pub host: Vec<String>,
    /// The meaning of several hosts.
    #[arg(long, value_name = "MEANING", value_parser = choice(HOST_USES))]
    pub hosts_as: Option<HostUse>,
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

impl PlaceArgs {
    /// Returns true if an option is given that applies only to the nodes of a cluster.
    pub fn of_nodes(&self) -> bool {
        self.nodes.is_some() || self.tasks_per_node.is_some() || self.partition.is_some()
    }
}

/// Engine that runs the trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// Directly on this machine.
    #[value(alias = "here")]
    Local,
    /// On the nodes of a Slurm job.
    Slurm,
    /// In virtual machines on this machine; `--set 'vm.kernel=["6.1"]'` and the like configure
    /// them.
    Vm,
    /// On other hosts by `ssh`, which must not ask for a password.
    Ssh,
}

const HOST_USES: [Choice<HostUse>; 3] = [
    ("together", "Every trial runs on all hosts at the same time", HostUse::Together),
    ("factor", "The hosts are compared", HostUse::Factor),
    (
        "replicates",
        "The blocks run on the hosts in turn; intervals cover the differences between hosts",
        HostUse::Replicates,
    ),
];

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

/// Returns the names of the foreign formats that assay reads, with the programs that write them.
pub fn format_names() -> PossibleValuesParser {
    let formats = assay_workloads::readers::FORMATS.iter();
    PossibleValuesParser::new(formats.map(|f| PossibleValue::new(f.name).help(f.help)))
}

/// Returns the names of the readers for `--reader`.
fn reader_names() -> PossibleValuesParser {
    let live = assay_workloads::readers::FORMATS.iter().filter(|f| f.live).map(|f| f.name);
    PossibleValuesParser::new([assay_workloads::readers::AUTO].into_iter().chain(live))
}

/// Refuses an empty value, such as that of a variable of a script that is not set.
fn given(text: &str) -> Result<String, &'static str> {
    Some(text.to_owned()).filter(|text| !text.trim().is_empty()).ok_or("it is empty")
}

/// Refuses a time in which no trial can end.
fn some_time(text: &str) -> Result<String, &'static str> {
    let none = units::duration_of(&Scalar::parse(text)).is_ok_and(|time| time.is_zero());
    if none { Err("no trial ends in 0 s") } else { Ok(text.to_owned()) }
}

/// Checks the pattern of `--metric-from`.
fn printed_pattern(text: &str) -> Result<String, String> {
    assay_workloads::Pattern::parse_any(text).map_err(|e| e.to_string())?;
    Ok(text.to_owned())
}

/// Parses the value of `--budget`.
pub fn budget(text: &str) -> Result<Duration, Usage> {
    units::parse_duration(text).map_err(|e| Usage(format!("--budget {text}: {e}")))
}

/// A word of an option, its help (may be empty), and its value.
pub type Choice<T> = (&'static str, &'static str, T);

/// Returns a parser that accepts the words of `rows`.
pub fn choice<T: Clone + Send + Sync + 'static>(
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

//! Definition of the command line: one variant per verb, without any behaviour. The arguments of a
//! verb are in its folder.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use crate::commands::archive::args::Archive;
pub use crate::commands::audit::args::Audit;
pub use crate::commands::bisect::args::Bisect;
pub use crate::commands::compare::args::Compare;
pub use crate::commands::cpu::args::CpuCommand;
pub use crate::commands::doctor::args::Doctor;
pub use crate::commands::explain::args::Explain;
pub use crate::commands::gate::args::{Gate, Profiling};
pub use crate::commands::history::args::{History, HistoryImport};
pub use crate::commands::hosts::args::Hosts;
pub use crate::commands::io::args::{Io, IoFormat};
pub use crate::commands::kit::args::Kit;
pub use crate::commands::landscape::args::Landscape;
pub use crate::commands::new::args::{New, NewKind};
pub use crate::commands::plan::args::Plan;
pub use crate::commands::profile::args::Profile;
pub use crate::commands::publish::args::Publish;
pub use crate::commands::reproduce::args::Reproduce;
pub use crate::commands::rules::args::Rules;
pub use crate::commands::run::args::Run;
pub use crate::commands::site::args::Site;
pub use crate::commands::stat::args::Stat;
pub use crate::commands::syscalls::args::Syscalls;
pub use crate::commands::tlb::args::Tlb;
pub use crate::commands::vm::args::Vm;

pub use crate::arguments::{EngineArg, ExperimentArgs, HostUseArg, PlaceArgs, Targets};

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
5 worse by more than the margin, 6 nothing was measured, 130 interrupted.";

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
    /// Write a commented experiment or kit that runs as it is, with the schema for editors.
    New(New),
    /// Show the trials of an experiment, their order, the time they will take and the detectable
    /// effect.
    Plan(Plan),
    /// Compare runs side by side, with everything else that differed between them.
    Compare(Compare),
    /// Rank the observations that differ with the metric between two treatments of a run.
    Explain(Explain),
    /// Compare each host of a run with the others, and name those that are out of line.
    Hosts(Hosts),
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
    Cpu(CpuCommand),
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
    Pending(ServerArgs),
    /// Wait until a job of the queue has finished, and exit with the code of its run.
    Wait(JobArgs),
    /// Cancel a job of the queue; a running job ends its trial and restores settings.
    Cancel(JobArgs),
    /// Put an interrupted job back into the queue, to continue where it stopped.
    Resume(JobArgs),
    /// Write the reference pages of the documentation.
    #[command(name = "__reference", hide = true)]
    Reference {
        /// The folder to write to.
        output: PathBuf,
    },
    /// The process that ends the programs of a killed assay; a run starts it itself.
    #[command(name = "__guard", hide = true)]
    Guard,
    /// The process that starts programs in a container; a run starts it itself.
    #[command(name = "__contained", hide = true)]
    Contained {
        /// The socket of the run.
        socket: PathBuf,
    },
    /// The agent on a node of a cluster; a run starts it itself.
    #[command(name = "__agent", hide = true)]
    Agent {
        /// The name of this host in the run, if `ssh` connects standard input and output to it.
        node: Option<String>,
        /// The secret of the session.
        token: Option<String>,
    },
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
    #[arg(long, default_value_t = 512, value_name = "N",
        value_parser = clap::value_parser!(u32).range(4..=65536))]
    pub connections: u32,
    /// Maximum number of connections from one address [default: half of all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65536))]
    pub connections_per_address: Option<u32>,
    /// Sustained requests per second from one address; bursts of four times as many are served.
    #[arg(long, default_value_t = 100, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub rate: u32,
}

/// The server to talk to.
#[derive(Debug, Args)]
pub struct ServerArgs {
    /// The server [default: the one that runs on this machine].
    #[arg(long, env = "ASSAY_SERVER", value_name = "HOST:PORT")]
    pub server: Option<String>,
}

/// A job of a server's queue.
#[derive(Debug, Args)]
pub struct JobArgs {
    /// The number of the job.
    pub job: u64,
    /// The server that has the job.
    #[command(flatten)]
    pub server: ServerArgs,
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
    pub server: ServerArgs,
}

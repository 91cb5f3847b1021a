//! Definition of the command line: one variant per verb, without any behaviour. The arguments of a
//! verb are in its folder.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::arguments::{Deferred, Global};
use crate::commands::server_args::{JobArgs, Serve, ServerArgs, Submit};
use crate::commands::{
    archive::args::Archive, audit::args::Audit, bisect::args::Bisect, compare::args::Compare,
    cpu::args::CpuCommand, doctor::args::Doctor, explain::args::Explain, gate::args::Gate,
    history::args::History, hosts::args::Hosts, io::args::Io, kit::args::Kit,
    landscape::args::Landscape, new::args::New, plan::args::Plan, profile::args::Profile,
    publish::args::Publish, reproduce::args::Reproduce, rules::args::Rules, run::args::Run,
    site::args::Site, stat::args::Stat, syscalls::args::Syscalls, tlb::args::Tlb, vm::args::Vm,
};
use crate::exit::EXIT_CODES;

/// Runs system benchmarks, watches the machine while they run, compares them honestly, and
/// publishes pages whose every number leads back to a run.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 80, after_help = EXIT_CODES)]
pub struct Cli {
    /// The verb to run.
    #[command(subcommand)]
    pub verb: Verb,
    /// The options of every verb.
    #[command(flatten)]
    pub global: Global,
}

/// Verbs of the command line.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Plan, run, observe, archive, and show the comparison.
    Run(Deferred<Run>),
    /// Decide a pull request: compare a revision with its base, and fail if it is worse than the
    /// margin.
    Gate(Deferred<Gate>),
    /// Find the commit that made a program slower, with interleaved trials.
    Bisect(Deferred<Bisect>),
    /// Show a metric over revisions as ratios to a reference, with its change points; measure
    /// missing points and confirm suspected changes.
    History(Deferred<History>),
    /// Write a commented experiment or kit that runs as it is, with the schema for editors.
    New(Deferred<New>),
    /// Show the trials of an experiment, their order, the time they will take and the detectable
    /// effect.
    Plan(Deferred<Plan>),
    /// Compare runs side by side, with everything else that differed between them.
    Compare(Deferred<Compare>),
    /// Rank the observations that differ with the metric between two treatments of a run.
    Explain(Deferred<Explain>),
    /// Compare each host of a run with the others, and name those that are out of line.
    Hosts(Deferred<Hosts>),
    /// Recompute the bound claims of a text: which hold, are wrong, or lack data.
    Audit(Deferred<Audit>),
    /// Publish a run as one self-contained HTML page, with Markdown, CSV, JSON and the raw data.
    Publish(Deferred<Publish>),
    /// Repeat a post: run its experiments that can run here, publish it with this machine's
    /// numbers, and report which of its claims hold.
    Reproduce(Deferred<Reproduce>),
    /// Write an archive and posts as a static site: pages, lists, feeds and a search that needs no
    /// server.
    Site(Deferred<Site>),
    /// Print a table of quoted results as of a day, ranked in total or under a denominator; without
    /// a name, list the tables.
    Landscape(Deferred<Landscape>),
    /// Show CPU, disk, memory, pressure and power now, on one clock.
    Stat(Deferred<Stat>),
    /// Analyse block I/O, live or from a recorded trace: number, size, latency and address of the
    /// I/Os, and the programs that made them.
    Io(Deferred<Io>),
    /// Show where programs spend their time: stacks on and off CPU, by function; live, or from a
    /// recorded profile.
    Profile(Deferred<Profile>),
    /// Count the system calls of programs: their number, time, errors and bytes.
    Syscalls(Deferred<Syscalls>),
    /// Measure the cost of address translation with hardware counters, or simulate it from an
    /// address stream.
    Tlb(Deferred<Tlb>),
    /// List, show, verify, export and import recorded runs.
    #[command(subcommand)]
    Archive(Archive),
    /// Check whether this machine is fit to measure on, which observers work here, and which
    /// settings a crash left changed.
    Doctor(Deferred<Doctor>),
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
    Serve(Deferred<Serve>),
    /// Submit an experiment to the queue of a server.
    Submit(Deferred<Submit>),
    /// List the queue of a server: running, waiting and finished jobs.
    Pending(Deferred<ServerArgs>),
    /// Wait until a job of the queue has finished, and exit with the code of its run.
    Wait(Deferred<JobArgs>),
    /// Cancel a job of the queue; a running job ends its trial and restores settings.
    Cancel(Deferred<JobArgs>),
    /// Put an interrupted job back into the queue, to continue where it stopped.
    Resume(Deferred<JobArgs>),
}

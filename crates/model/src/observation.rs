//! What somebody saw that speaks for or against a number, as typed facts: evidence for the checks. It is
//! recorded as it was seen; what it means is judged by the catalogue of checks and nowhere else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Load, Program};

/// A part of the machine that was to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// CPUs: cores, threads that share one.
    Cpus,
    /// Other work on the machine.
    OtherWork,
    /// Clock rate, heat, saving of power.
    ClockRate,
    /// What must not change or run out while a run lasts.
    Stability,
    /// The clock that times are read from.
    Timer,
}

/// What limited a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The load generator.
    Generator,
    /// The server under test.
    Server,
    /// The rate that was asked for.
    Load,
    /// It is not known.
    Unknown,
}

/// How a series inside a trial went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesShape {
    /// Steady from the start.
    Flat,
    /// It rose, then it was steady.
    Warmup,
    /// It fell, then it was steady.
    Slowdown,
    /// It never was steady.
    NoSteadyState,
    /// Too short to tell.
    TooShort,
}

/// A fact of a node that is not that of the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDifference {
    /// The fact's path.
    pub path: String,
    /// The first node and its value.
    pub first: [String; 2],
    /// The nodes that differ.
    pub others: Vec<String>,
    /// The value of the first of them.
    pub other: String,
    /// Whether the difference explains results.
    pub hard: bool,
}

/// Memory on a NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OnNode {
    /// The node.
    pub node: u32,
    /// Bytes.
    pub bytes: u64,
}

/// One thing that was seen. All times are in seconds, all sizes in bytes, all shares from 0 to 1 unless
/// the name says percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "saw", rename_all = "kebab-case")]
pub enum Observation {
    /// Runnable tasks of others, per CPU, over some looks, with the load average of the last minute.
    RunQueue {
        /// Tasks per CPU.
        per_cpu: f64,
        /// How often it was looked at.
        looks: u32,
        /// The load average as the kernel prints it.
        load_average: String,
    },
    /// The share of time that the hypervisor gave to others.
    Steal {
        /// Percent.
        percent: f64,
    },
    /// The share of the last 10 s in which some task waited for a resource.
    Pressure {
        /// `cpu`, `io` or `memory`.
        resource: String,
        /// Percent.
        percent: f64,
    },
    /// Whether this is a virtual machine.
    VirtualMachine {
        /// Whether it is.
        yes: bool,
        /// How its hypervisor signs; empty: only the flag is there.
        hypervisor: String,
    },
    /// Memory that is available.
    Memory {
        /// Available.
        available: u64,
        /// In all.
        total: u64,
    },
    /// Swap in use.
    Swap {
        /// Used.
        used: u64,
    },
    /// Room on the file system that is worked on.
    DiskRoom {
        /// The folder.
        folder: String,
        /// Free.
        free: u64,
        /// In all.
        total: u64,
    },
    /// The frequency governors in use.
    Governor {
        /// Their names.
        governors: Vec<String>,
    },
    /// Whether turbo is on.
    Turbo {
        /// Whether it is.
        on: bool,
    },
    /// How often CPUs were slowed down for heat since boot, at two looks.
    Throttling {
        /// At the first look.
        before: u64,
        /// At the second.
        now: u64,
    },
    /// Files that the first trial of a treatment wrote into its working folder, where later trials find them.
    FolderWritten {
        /// Their paths below that folder, the first few.
        files: Vec<String>,
    },
    /// Limits of control groups that took effect during the trial.
    Limited {
        /// Periods of the CPU quota in which the group had something to run.
        periods: u64,
        /// Those of them in which it was stopped.
        stopped: u64,
        /// How long it was stopped, seconds.
        stopped_s: f64,
        /// How often a memory limit was reached.
        memory: u64,
    },
    /// I/O on devices whose rate a control group limits, since the last look.
    LimitedIo {
        /// The limits, as `io.max` has them.
        limits: String,
        /// Bytes read and written there.
        bytes: u64,
    },
    /// A preference of the firmware or the processor between power and speed.
    PowerPreference {
        /// What has it (`the processor's energy preference`).
        what: String,
        /// The value.
        value: String,
    },
    /// The machine runs on a battery.
    Battery {
        /// Which.
        supply: String,
    },
    /// The kernel's clock source.
    ClockSource {
        /// Its name.
        source: String,
    },
    /// Whether two threads may share a core.
    SharedCores {
        /// Whether they may.
        on: bool,
    },
    /// Something could not be looked at.
    Unseen {
        /// What it belongs to.
        of: Subject,
        /// What it is.
        what: String,
        /// Why not.
        why: String,
    },
    /// Processes that the program left running.
    Leftovers {
        /// How many.
        processes: u32,
    },
    /// What is made once for all trials of the treatment (an input, a set-up) could not be made.
    NotPrepared,
    /// A setting could not be restored after the trial.
    NotPutBack {
        /// What stood in the way.
        error: String,
    },
    /// Facts of the system that are not as described at the start.
    Changed {
        /// Their paths.
        paths: Vec<String>,
    },
    /// Memory of the program that large pages backed under the control `pages`.
    LargePages {
        /// The level that was set.
        level: String,
        /// Memory that large pages can back.
        memory: u64,
        /// Of it, in large pages.
        large: u64,
    },
    /// On which NUMA nodes memory lay, at the look at which there was most of it.
    NodeMemory {
        /// Whose; empty: of the program and all that it started, else of a part of it (`instance 2`).
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
        /// The nodes that the workload set that part to; empty: what the treatment's controls say holds.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked: Vec<u32>,
        /// By node; empty: not seen.
        nodes: Vec<OnNode>,
        /// The kernel's file that was read (`numa_maps`, `memory.numa_stat`); empty: none.
        source: String,
        /// Why it was not seen; empty: it was.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        unseen: String,
    },
    /// Huge pages that a program asked for by itself.
    HugePagesAsked {
        /// The parameter, as set.
        asked: String,
        /// The share of its memory that is in them.
        share: f64,
    },
    /// More processes than CPUs.
    Crowding {
        /// What they are (`instances`, `processes`).
        what: String,
        /// How many.
        count: u32,
        /// The CPUs that they share.
        cpus: u32,
    },
    /// What limited a load, and what the load generator did.
    Limit {
        /// What it was.
        by: LimitedBy,
        /// Why, in words.
        reasons: Vec<String>,
        /// The share of a CPU that the busiest thread of the generator used; `null`: not known.
        generator_busy: Option<f64>,
        /// The same of the server's busiest thread; `null`: not known.
        server_busy: Option<f64>,
        /// The share of the machine's CPU time that others than generator and server used; `null`: not known.
        #[serde(default)]
        others_busy: Option<f64>,
    },
    /// How the series of the throughput went.
    Settling {
        /// Its shape.
        shape: SeriesShape,
        /// From when on it was steady, seconds into the window; `null`: never, or not known.
        steady_from: Option<f64>,
        /// The window.
        window: f64,
        /// The length of a bin of the series.
        bin: f64,
    },
    /// A cache threw objects out, so that less was asked of it than was to be.
    Evictions {
        /// Objects thrown out in the window.
        evicted: u64,
        /// Gets that asked for one of them.
        gone: u64,
        /// The share of hits; `null`: not known.
        #[serde(alias = "hit_share")]
        hit_ratio: Option<f64>,
        /// The share of hits that was asked for.
        asked: f64,
    },
    /// Operations that failed, by what another program counted.
    Errors {
        /// The program.
        program: String,
        /// How many.
        count: f64,
    },
    /// What became of the operations of a load, ramps included.
    Operations {
        /// Right answers.
        answered: u64,
        /// Answers that came and were wrong.
        wrong: u64,
        /// Answers that did not come: too late, or the connection was lost.
        missing: u64,
        /// The share of missing answers that the user allows.
        allowed: f64,
        /// How long an answer may take.
        within: f64,
    },
    /// A value that a file prints, and what its own values give.
    Disagreement {
        /// What it is.
        what: String,
        /// As printed.
        printed: f64,
        /// As computed.
        computed: f64,
    },
    /// A benchmark's own tools call the result an estimate, or invalid.
    Estimate {
        /// Whether they call it invalid.
        invalid: bool,
    },
    /// Facts in which nodes of one job differ.
    UnlikeNodes {
        /// Each.
        differences: Vec<NodeDifference>,
    },
    /// How far the steady phases of several nodes coincide.
    Phases {
        /// From the first beginning to the last.
        begin_spread: f64,
        /// From the first end to the last.
        end_spread: f64,
        /// How well both are known.
        error: f64,
        /// The node that began last.
        last_to_begin: String,
        /// The node that ended first.
        first_to_end: String,
        /// The part of the longest phase that is common to all.
        common: f64,
        /// Whether the programs reported their phases.
        declared: bool,
        /// The bound.
        bound: f64,
    },
    /// A node's clock moved against the collector's during a trial.
    ClockDrift {
        /// The node.
        node: String,
        /// By how much.
        drift: f64,
        /// The bound.
        bound: f64,
    },
    /// The trial ran in a virtual machine that assay started.
    GuestMachine {
        /// What ran its instructions: `kvm`, or `tcg`, an emulation.
        accelerator: String,
        /// The metric that decides.
        metric: String,
        /// Its unit.
        unit: String,
        /// Whether it is declared as a count; absent in records from before that could be declared, where the
        /// unit tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counted: Option<bool>,
    },
    /// The program that the trials of a treatment run; stands in the first record of each treatment.
    Program {
        /// What it is.
        program: Program,
    },
    /// The clock that trials are timed with.
    Clock {
        /// Its resolution.
        resolution: f64,
        /// What reading it costs.
        overhead: f64,
    },
    /// assay itself was stopped and went on while it timed a trial (SIGCONT came).
    Stopped,
    /// The machine slept during a trial: the clock since boot went further than the monotonic one.
    Suspended {
        /// For how long.
        seconds: f64,
    },
    /// The time of day was set during a trial.
    ClockStepped {
        /// By how much, forward.
        seconds: f64,
    },
    /// A figure of a storage, measured before the trial.
    Probed {
        /// The metric.
        metric: String,
        /// Its value.
        measured: f64,
        /// Its unit.
        unit: String,
        /// What the storage is held to; `null`: to nothing.
        held: Option<f64>,
        /// How long it was measured.
        seconds: f64,
        /// Whether a cache may have answered.
        cached: bool,
    },
    /// Frequency and throttling while trials ran.
    ClockRate {
        /// The mean frequency of the CPUs, Hz; `null`: the kernel does not tell.
        hz: Option<f64>,
        /// How often CPUs were slowed down for heat; `null`: not counted.
        throttled: Option<u64>,
    },
    /// Trials that share a process with others are not independent of them.
    Repetition {
        /// Which repetition of its process the trial is; 0: it began the process.
        index: u32,
    },
    /// How the requests behind the percentiles that a program computed itself were sent.
    Sending {
        /// On a schedule, or each when the last was answered.
        load: Load,
        /// Whether the time that a request waited to be sent counts in its latency.
        slips_charged: bool,
        /// Requests behind the percentile that rests on the fewest; `null`: the program does not tell.
        samples: Option<u64>,
    },
    /// What a built-in workload did in its measurement.
    Work {
        /// Operations that came to their end.
        operations: u64,
        /// Of them, those that failed or gave a wrong answer.
        errors: u64,
        /// What an operation is (`rows`, `calls`).
        what: String,
        /// The seed that the work was made from; `null`: nothing is drawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
        /// Which operations, where there are several kinds; empty: one kind.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        mix: String,
    },
    /// How a kit built its program.
    Build {
        /// What each tool that the kit needs says of its version.
        tools: Vec<String>,
        /// The commands, with placeholders for folders.
        commands: Vec<String>,
    },
    /// Other processes computed on the CPUs whose use a metric is made of.
    OthersComputed {
        /// The metric.
        metric: String,
        /// Their share of the CPU time in user mode.
        share: f64,
    },
    /// Caches of a simulation were still filling in the second half of what a metric is made of.
    ColdStart {
        /// The metric.
        metric: String,
        /// Its value.
        whole: f64,
        /// The same, of the second half alone.
        later: f64,
        /// How many turns each process had.
        turns: f64,
    },
    /// The program lies in a version-controlled tree.
    SourceTree {
        /// The commit that is checked out; `null`: there is none yet.
        commit: Option<String>,
        /// Files under version control that are not as that commit has them.
        changed: u32,
    },
    /// What an outside program reports of itself by the id of a check.
    Reported {
        /// The check (`F22` or its name).
        check: String,
        /// What it saw.
        message: String,
        /// What to do about it; empty: what the check says.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
}

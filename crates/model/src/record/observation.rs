//! Observations that support or weaken a number, as typed facts: the evidence for the checks. An
//! observation is recorded as it was made; only the catalogue of checks judges it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Load, Program};

/// Part of the machine that an observation should have covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// CPUs: cores, and the hardware threads that share one.
    Cpus,
    /// Other work on the machine.
    OtherWork,
    /// Clock rate, thermal throttling and power saving.
    ClockRate,
    /// Resources and settings that must not change or run out during a run.
    Stability,
    /// Clock from which times are read.
    Timer,
}

/// Bottleneck of a load test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// The load generator is the bottleneck.
    Generator,
    /// The server under test is the bottleneck.
    Server,
    /// The requested rate is the limit.
    Load,
    /// The bottleneck is not known.
    Unknown,
}

/// Course of a time series within a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesShape {
    /// The series was steady from the start.
    Flat,
    /// The series rose, then it was steady.
    Warmup,
    /// The series fell, then it was steady.
    Slowdown,
    /// The series never became steady.
    NoSteadyState,
    /// The series is too short to tell.
    TooShort,
}

/// A fact in which nodes differ from the first node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeDifference {
    /// Path of the fact, such as `kernel.release`.
    pub path: String,
    /// Name of the first node, and its value.
    pub first: [String; 2],
    /// Names of the nodes that differ.
    pub others: Vec<String>,
    /// Value of the first node in `others`.
    pub other: String,
    /// True if the difference explains results.
    pub hard: bool,
}

/// Amount of memory on a NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeBytes {
    /// Number of the NUMA node.
    pub node: u32,
    /// Amount of memory in bytes.
    pub bytes: u64,
}

/// One observation. All times are in seconds, all sizes in bytes, all shares from 0 to 1 unless the
/// name says percent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "saw", rename_all = "kebab-case")]
pub enum Observation {
    /// Runnable tasks of other processes per CPU, as a mean over several readings, with the load
    /// average of the last minute.
    RunQueue {
        /// Runnable tasks per CPU.
        per_cpu: f64,
        /// Number of readings of the run queue.
        looks: u32,
        /// Load average as the kernel prints it.
        load_average: String,
    },
    /// Steal time: the share of CPU time that the hypervisor gave to other guests.
    Steal {
        /// Steal time in percent.
        percent: f64,
    },
    /// Pressure: the share of the last 10 s in which at least one task waited for a resource.
    Pressure {
        /// Name of the resource: `cpu`, `io` or `memory`.
        resource: String,
        /// Share of the time, in percent.
        percent: f64,
    },
    /// Detection of a virtual machine.
    VirtualMachine {
        /// True if this is a virtual machine.
        yes: bool,
        /// Signature of the hypervisor; empty if only the CPU flag reveals it.
        hypervisor: String,
    },
    /// Available memory of the machine.
    Memory {
        /// Available memory in bytes.
        available: u64,
        /// Total memory in bytes.
        total: u64,
    },
    /// Swap space in use.
    Swap {
        /// Used swap space in bytes.
        used: u64,
    },
    /// Free space on the file system of the working folder.
    DiskRoom {
        /// Path of the folder.
        folder: String,
        /// Free space in bytes.
        free: u64,
        /// Size of the file system in bytes.
        total: u64,
    },
    /// Frequency governors in use.
    Governor {
        /// Names of the governors.
        governors: Vec<String>,
    },
    /// State of turbo boost.
    Turbo {
        /// True if turbo is on.
        on: bool,
    },
    /// Number of thermal throttling events of the CPUs since boot, in two readings.
    Throttling {
        /// Number at the first reading.
        before: u64,
        /// Number at the second reading.
        now: u64,
    },
    /// Files that the first trial of a treatment wrote into its working folder, where later trials
    /// find them.
    FolderWritten {
        /// Paths of the first few files, relative to that folder.
        files: Vec<String>,
    },
    /// Container in which the program ran.
    Container {
        /// Program that ran it: `podman`, `docker` or `apptainer`.
        engine: String,
        /// Name of the image.
        image: String,
        /// Digest of the image.
        digest: String,
        /// Time from the start of the engine until the container was ready, before the program;
        /// seconds.
        startup_s: f64,
    },
    /// Limits of control groups that took effect during the trial.
    Limited {
        /// Periods of the CPU quota in which the group was runnable.
        periods: u64,
        /// Number of these periods in which the group was throttled.
        stopped: u64,
        /// Time for which the group was throttled, seconds.
        stopped_s: f64,
        /// Number of times that a memory limit was reached.
        memory: u64,
    },
    /// I/O since the last reading on devices whose rate a control group limits.
    LimitedIo {
        /// The limits, in the format of `io.max`.
        limits: String,
        /// Bytes read and written on these devices.
        bytes: u64,
    },
    /// A preference of the firmware or the processor between power and speed.
    PowerPreference {
        /// Name of the setting (`the processor's energy preference`).
        what: String,
        /// Value of the setting.
        value: String,
    },
    /// The machine runs on battery power.
    Battery {
        /// Name of the battery.
        supply: String,
    },
    /// Clock source of the kernel.
    ClockSource {
        /// Name of the clock source.
        source: String,
    },
    /// Simultaneous multithreading: two hardware threads may share a core.
    SharedCores {
        /// True if it is on.
        on: bool,
    },
    /// Something that could not be observed.
    Unseen {
        /// Part of the machine that it belongs to.
        of: Subject,
        /// Name of the missing observation.
        what: String,
        /// Reason why it is missing.
        why: String,
    },
    /// Processes that the program left running.
    Leftovers {
        /// Number of these processes.
        processes: u32,
    },
    /// Preparation that is made once for all trials of the treatment (an input, a set-up) failed.
    NotPrepared,
    /// A setting could not be restored after the trial.
    NotPutBack {
        /// Error message of the attempt.
        error: String,
    },
    /// Facts of the system that have changed since the start of the run.
    Changed {
        /// Paths of these facts.
        paths: Vec<String>,
    },
    /// Large-page coverage of the program's memory under the control `pages`.
    LargePages {
        /// Level of the control `pages` that was set.
        level: String,
        /// Memory that large pages can back, bytes.
        memory: u64,
        /// Part of `memory` that is in large pages, bytes.
        large: u64,
    },
    /// NUMA nodes of the program's memory, read when its total was largest.
    NodeMemory {
        /// Part of the program that the memory belongs to (`instance 2`); empty for the program and
        /// all processes that it started.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        of: String,
        /// Nodes that the workload assigned to that part; empty if the treatment's controls decide.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        asked: Vec<u32>,
        /// Memory by node; empty if it was not observed.
        nodes: Vec<NodeBytes>,
        /// Kernel file that was read (`numa_maps`, `memory.numa_stat`); empty if none was.
        source: String,
        /// Reason why it was not observed; empty if it was.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        unseen: String,
    },
    /// Huge pages that a program requested itself.
    HugePagesAsked {
        /// Parameter that requests them, as set.
        asked: String,
        /// Share of the program's memory that is in huge pages.
        share: f64,
    },
    /// Number of processes compared with the number of CPUs.
    Crowding {
        /// Noun for the processes (`instances`, `processes`).
        what: String,
        /// Number of the processes.
        count: u32,
        /// Number of CPUs that they share.
        cpus: u32,
    },
    /// CPUs of a Slurm job on this node.
    JobCpus {
        /// Number that Slurm allocated to the job.
        allocated: u32,
        /// Number that this process may use.
        usable: u32,
    },
    /// Bottleneck of a load test, with the CPU use of generator, server and others.
    Limit {
        /// The component that was the bottleneck.
        by: LimitedBy,
        /// Reasons for this conclusion, as sentences.
        reasons: Vec<String>,
        /// Share of a CPU that the busiest thread of the generator used; `null` if unknown.
        generator_busy: Option<f64>,
        /// Share of a CPU that the busiest thread of the server used; `null` if unknown.
        server_busy: Option<f64>,
        /// Share of the machine's CPU time that processes other than generator and server used;
        /// `null` if unknown.
        #[serde(default)]
        others_busy: Option<f64>,
    },
    /// Course of the throughput during the measurement window.
    Settling {
        /// Shape of the series.
        shape: SeriesShape,
        /// Start of the steady part, seconds into the window; `null` if the series never became
        /// steady, or this is unknown.
        steady_from: Option<f64>,
        /// Length of the measurement window in seconds.
        window: f64,
        /// Length of a bin of the series in seconds.
        bin: f64,
    },
    /// A cache evicted objects, so that the workload had fewer hits than intended.
    Evictions {
        /// Objects evicted in the window.
        evicted: u64,
        /// Gets that requested one of these objects.
        gone: u64,
        /// Measured hit ratio; `null` if unknown.
        #[serde(alias = "hit_share")]
        hit_ratio: Option<f64>,
        /// Hit ratio that the workload requested.
        asked: f64,
    },
    /// Failed operations, as counted by another program.
    Errors {
        /// Name of that program.
        program: String,
        /// Number of failed operations.
        count: f64,
    },
    /// Outcomes of the operations of a load, ramps included.
    Operations {
        /// Operations with a right answer.
        answered: u64,
        /// Operations with a wrong answer.
        wrong: u64,
        /// Operations without an answer: the time limit expired, or the connection was lost.
        missing: u64,
        /// Share of missing answers that the user allows.
        allowed: f64,
        /// Time limit for an answer, seconds.
        within: f64,
    },
    /// A value that a file prints, and the value computed from its other contents.
    Disagreement {
        /// Name of the value.
        what: String,
        /// Value printed in the file.
        printed: f64,
        /// Value computed from the file's other contents.
        computed: f64,
    },
    /// A benchmark's own tools call the result an estimate, or invalid.
    Estimate {
        /// True if they call it invalid.
        invalid: bool,
    },
    /// Facts in which the nodes of one job differ.
    UnlikeNodes {
        /// One entry for each fact.
        differences: Vec<NodeDifference>,
    },
    /// Coincidence of the steady phases of several nodes.
    Phases {
        /// Time between the first beginning and the last, seconds.
        begin_spread: f64,
        /// Time between the first end and the last, seconds.
        end_spread: f64,
        /// Uncertainty of both, seconds.
        error: f64,
        /// Node that began last.
        last_to_begin: String,
        /// Node that ended first.
        first_to_end: String,
        /// Share of the longest phase during which all nodes were in the phase.
        common: f64,
        /// True if the programs reported their phases.
        declared: bool,
        /// Upper bound for the spreads, seconds.
        bound: f64,
    },
    /// Drift of a node's clock against the collector's during a trial.
    ClockDrift {
        /// Name of the node.
        node: String,
        /// Change of the offset, seconds.
        drift: f64,
        /// Upper bound for the drift, seconds.
        bound: f64,
    },
    /// The trial ran in a virtual machine that assay started.
    GuestMachine {
        /// Accelerator of the virtual machine: `kvm`, or `tcg`, an emulation.
        accelerator: String,
        /// Name of the deciding metric.
        metric: String,
        /// Unit of the deciding metric.
        unit: String,
        /// True if the metric is declared as a count; absent in records of versions in which that
        /// could not be declared, where the unit decides.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counted: Option<bool>,
    },
    /// Program that the trials of a treatment run; in the first record of each treatment.
    Program {
        /// Description of the program's file.
        program: Program,
    },
    /// Clock that times the trials.
    Clock {
        /// Resolution of the clock, seconds.
        resolution: f64,
        /// Cost of one reading, seconds.
        overhead: f64,
    },
    /// assay itself was stopped and continued (SIGCONT) while it timed a trial.
    Stopped,
    /// The machine was suspended during a trial: the clock since boot advanced further than the
    /// monotonic one.
    Suspended {
        /// Duration of the suspension, seconds.
        seconds: f64,
    },
    /// The time of day was set during a trial.
    ClockStepped {
        /// Step of the clock in seconds, positive if forward.
        seconds: f64,
    },
    /// A performance figure of a storage, measured before the trial.
    Probed {
        /// Name of the metric.
        metric: String,
        /// Measured value in `unit`.
        measured: f64,
        /// Unit of the values.
        unit: String,
        /// Value to which a control limits the storage; `null` if it is not limited.
        held: Option<f64>,
        /// Duration of the measurement, seconds.
        seconds: f64,
        /// True if a cache may have answered.
        cached: bool,
    },
    /// Clock rate and throttling while trials ran.
    ClockRate {
        /// Mean frequency of the CPUs, Hz; `null` if the kernel does not report it.
        hz: Option<f64>,
        /// Number of thermal throttling events of the CPUs; `null` if not counted.
        throttled: Option<u64>,
    },
    /// Position of the trial in its process. Trials that share a process are not independent of
    /// each other.
    Repetition {
        /// Index of the repetition within the process; 0 for the one that began the process.
        index: u32,
    },
    /// Output of a benchmark tool that no reader read, so that the command's own time decides.
    SuiteOutput {
        /// Name of the reader that recognizes the output.
        reader: String,
    },
    /// Load model of the requests behind percentiles that a program computed itself.
    Sending {
        /// Load model: on a schedule, or each request after the last answer.
        load: Load,
        /// True if the time that a request waited to be sent counts in its latency.
        slips_charged: bool,
        /// Number of requests behind the percentile with the fewest; `null` if the program does not
        /// report it.
        samples: Option<u64>,
    },
    /// Work that a built-in workload did during its measurement.
    Work {
        /// Number of completed operations.
        operations: u64,
        /// Number of these operations that failed or gave a wrong answer.
        errors: u64,
        /// Noun for the operations (`rows`, `calls`).
        what: String,
        /// Seed from which the work was generated; `null` if nothing is random.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
        /// Mix of the operations, where there are several kinds; empty for one kind.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        mix: String,
    },
    /// Build of a kit's program.
    Build {
        /// Version output of each tool that the kit needs.
        tools: Vec<String>,
        /// Commands of the build, with placeholders for folders.
        commands: Vec<String>,
    },
    /// CPU time of other processes on the CPUs whose use a metric is computed from.
    OthersComputed {
        /// Name of the metric.
        metric: String,
        /// Share of the others in the CPU time in user mode.
        share: f64,
    },
    /// Warm-up of simulated caches: a metric over the whole simulation and over its second half.
    ColdStart {
        /// Name of the metric.
        metric: String,
        /// Value over the whole simulation.
        whole: f64,
        /// Value over the second half only.
        later: f64,
        /// Number of turns that each process had.
        turns: f64,
    },
    /// The program's file lies in a version-controlled tree.
    SourceTree {
        /// Commit that is checked out; `null` before the first commit.
        commit: Option<String>,
        /// Number of files under version control that differ from that commit.
        changed: u32,
    },
    /// A finding that an outside program reports about itself by the id of a check.
    Reported {
        /// Id or name of the check (`F22`).
        check: String,
        /// Description of the observation.
        message: String,
        /// Remedy; if empty, the check's own.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
}

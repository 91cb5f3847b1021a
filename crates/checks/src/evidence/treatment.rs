//! Evidence about one treatment: its trials, and the system and programs they ran on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_model::{SeriesShape, SystemDescription};

use super::{Generator, Limiter, OutputEvidence, Statistic, WarmupRule, Work};

/// Evidence about the trials of one treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreatmentEvidence {
    /// Name of the treatment in messages.
    pub label: String,
    /// Treatment id in the run; `None` if this is not one treatment of one run.
    pub id: Option<u32>,
    /// Levels of the declared factors, by factor.
    pub levels: BTreeMap<String, String>,
    /// Number of independent trials that count.
    pub n: Option<u32>,
    /// Number of processes behind those trials; `None` if no record says that trials share one.
    pub processes: Option<u32>,
    /// Values of the deciding metric, one per trial, in the order of measuring.
    pub values: Option<Vec<f64>>,
    /// Samples inside each trial, in order of time.
    pub samples: Option<Vec<Vec<f64>>>,
    /// Shape of the series inside each trial. Absent: a trial gives one number.
    pub series: super::RecordedValue<Vec<SeriesShape>>,
    /// Statistic that summarises the treatment.
    pub statistic: Option<Statistic>,
    /// Rule by which warm-up was cut off.
    pub warmup: Option<WarmupRule>,
    /// Descriptions of the system; the treatments of one run share theirs.
    pub snapshots: Option<Arc<Snapshots>>,
    pub binary: Option<Binary>,
    /// Build of the program; `None` for a source release or a script, which nobody built.
    pub build: Option<Build>,
    /// CPU resources that the program could use.
    pub cpus: Option<CpuResources>,
    /// NUMA nodes that its memory was on.
    pub placement: Option<Placement>,
    /// Page sizes of its memory.
    pub pages: Option<MemoryPages>,
    /// Settings of the operating system, by fact path.
    pub os: Option<Arc<BTreeMap<String, String>>>,
    /// Load of the host from other work.
    pub host: Option<HostLoad>,
    /// Clock frequency and throttling during its trials.
    pub clock: Option<ClockHeat>,
    /// First trial of the treatment, warm-ups included.
    pub first: Option<FirstTrial>,
    /// Number of memory layouts (address-space randomisation, environment size, link order, builds)
    /// that its trials sampled.
    pub layouts: Option<u32>,
    /// Durations that were timed, and the clock.
    pub timing: Option<Timing>,
    pub work: Option<Work>,
    /// Verification of its output.
    pub output: Option<OutputEvidence>,
    /// Hashes of the inputs that the program was tuned or trained on. Absent: it was not tuned.
    pub tuned_on: super::RecordedValue<Vec<String>>,
    /// Resource that limited the treatment.
    pub limiter: Option<Limiter>,
    /// The load generator. Absent: the program makes its own load.
    pub generator: super::RecordedValue<Generator>,
}

/// NUMA placement of a treatment's memory: the intended nodes and the observed ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Placement {
    /// Number of NUMA nodes of the machine; `None` if not recorded.
    pub nodes: Option<u32>,
    /// Memory that is set to fewer nodes than the machine has.
    pub set: Vec<BoundMemory>,
}

/// Memory that is bound to some NUMA nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundMemory {
    /// Owner of the memory and the setting that binds it.
    pub what: String,
    /// Nodes that the memory is bound to.
    pub nodes: Vec<u32>,
    /// Bytes per node, for each trial. `Err`: the reason why they were not observed.
    pub lay: Vec<Result<BTreeMap<u32, u64>, String>>,
}

/// Descriptions of a treatment's system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshots {
    /// Description before its trials; `None` if none was taken.
    pub before: Option<SystemDescription>,
    /// State after its trials.
    pub after: FactsAfterTrials,
    /// Boot ids that its trials saw.
    pub boots: BTreeSet<String>,
}

/// State of the watched facts after the trials.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FactsAfterTrials {
    /// The facts were not read again.
    #[default]
    NotTaken,
    /// All watched facts are unchanged.
    Same,
    /// Changed facts: path → new value.
    Changed(BTreeMap<String, String>),
}

/// Identity of the program that ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Binary {
    /// SHA-256 by part: `executable`, a library's name, `image`. Empty if not hashed.
    pub hashes: BTreeMap<String, String>,
    /// CPU features that the program was built to use; `None` if unknown.
    pub built_features: Option<BTreeSet<String>>,
    /// CPU features of its host that a build could use; `None` if unknown.
    pub host_features: Option<BTreeSet<String>>,
}

/// Tuning effort of a build (SPEC's base and peak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tuning {
    /// The same modest options for all programs.
    Base,
    /// Options chosen for each program.
    Peak,
}

/// Compiler and options of a build.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Build {
    /// Compiler with its version.
    pub compiler: Option<String>,
    /// Compiler flags in order.
    pub flags: Option<Vec<String>>,
    /// True if link-time optimisation was on.
    pub lto: Option<bool>,
    /// True if feedback-directed optimisation was on.
    pub pgo: Option<bool>,
    pub tuning: Option<Tuning>,
}

/// CPU resources that a treatment could use. `None` is not recorded; the text `none` is a value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuResources {
    /// Number of logical CPUs that it could use.
    pub usable: Option<u32>,
    /// Number of processor chips.
    pub chips: Option<u32>,
    /// Number of physical cores.
    pub cores: Option<u32>,
    /// Threads per core that were on.
    pub threads_per_core: Option<u32>,
    /// CPU quota, or `none`.
    pub quota: Option<String>,
    /// NUMA memory policy, or `default`.
    pub numa_policy: Option<String>,
    /// Populated memory channels; often unknown on virtual machines.
    pub memory_channels: Option<u32>,
    /// Instances of the program that ran at once.
    pub instances: Option<u32>,
    /// Share of CPU-quota periods in which a trial was throttled, median over trials; 1 for a trial
    /// that reached a memory limit. `None`: no control group limits the trials.
    pub limited: Option<f64>,
}

/// Page sizes of a treatment's memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MemoryPages {
    /// Mode of transparent huge pages.
    pub mode: Option<String>,
    /// Reserved pools of huge pages.
    pub pool: Option<String>,
    /// Huge-page coverage: share of memory that huge pages backed, 0 to 1.
    pub huge_share: Option<f64>,
}

/// Other work on the host before the treatment's trials started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostLoad {
    /// Runnable tasks of other programs per CPU.
    pub queue_per_cpu: Option<f64>,
    /// Steal: time that the hypervisor gave to other guests, in percent.
    pub steal_percent: Option<f64>,
    /// Largest share of time in which some task waited for a resource (PSI), in percent.
    pub pressure_percent: Option<f64>,
}

/// Clock frequency and throttling during a treatment's trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClockHeat {
    /// Mean effective frequency in GHz.
    pub ghz: Option<f64>,
    /// Number of times that a CPU was throttled.
    pub throttles: Option<u64>,
}

/// Timed durations and the clock that timed them, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Timing {
    /// Shortest timing behind a number.
    pub sample_s: Option<f64>,
    /// Resolution of the clock.
    pub resolution_s: Option<f64>,
    /// Cost of reading the clock within one timing.
    pub overhead_s: Option<f64>,
    /// Shortest measurement window that the benchmark's rules allow; `None` without such a rule.
    pub min_window_s: Option<f64>,
    /// Window that was measured.
    pub window_s: Option<f64>,
}

/// The first trial of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FirstTrial {
    /// Value of the deciding metric.
    pub value: Option<f64>,
    /// True if it was a warm-up.
    pub warmup: bool,
    /// Files that the trial wrote into its working folder.
    pub wrote: Vec<String>,
}

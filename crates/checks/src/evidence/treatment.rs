//! One treatment of a comparison: the trials of one configuration, and what they ran on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_model::{SeriesShape, SystemDescription};

use super::{Generator, Limiter, OutputEvidence, Statistic, WarmupRule, Work};

/// The trials of one configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreatmentEvidence {
    /// Its name in messages.
    pub label: String,
    /// The treatment of a run that it is, by id; `None`: it is not one treatment of one run.
    pub id: Option<u32>,
    /// Its levels of the declared factors, by factor.
    pub levels: BTreeMap<String, String>,
    /// How many independent trials count.
    pub n: Option<u32>,
    /// Processes that those trials ran in; `None`: nothing says that trials share one.
    pub processes: Option<u32>,
    /// The trials' values in the deciding metric, in the order of measuring.
    pub values: Option<Vec<f64>>,
    /// The samples inside each trial, in order of time.
    pub samples: Option<Vec<Vec<f64>>>,
    /// How the series inside each trial went; absent: a trial gives one number.
    pub series: super::Known<Vec<SeriesShape>>,
    /// By which statistic the treatment is summed up.
    pub statistic: Option<Statistic>,
    /// How warm-up was cut off.
    pub warmup: Option<WarmupRule>,
    /// Descriptions of the system; the treatments of one run share theirs.
    pub snapshots: Option<Arc<Snapshots>>,
    /// The program that ran.
    pub binary: Option<Binary>,
    /// How the program was built. A source release or a script that nobody built: `None`.
    pub build: Option<Build>,
    /// What it could run on.
    pub cpus: Option<CpuResources>,
    /// On which NUMA nodes its memory lay.
    pub placement: Option<Placement>,
    /// Its page sizes.
    pub pages: Option<Pages>,
    /// Settings of the operating system, by path of facts.
    pub os: Option<Arc<BTreeMap<String, String>>>,
    /// What else ran on the host.
    pub host: Option<HostLoad>,
    /// Frequency and throttling while it ran.
    pub clock: Option<ClockHeat>,
    /// Its first trial, warm-ups included.
    pub first: Option<FirstTrial>,
    /// How many memory layouts (address-space randomisation, environment size, link order, builds)
    /// its trials sampled.
    pub layouts: Option<u32>,
    /// What was timed with which clock.
    pub timing: Option<Timing>,
    /// The work it did.
    pub work: Option<Work>,
    /// Whether its output was right.
    pub output: Option<OutputEvidence>,
    /// Hashes of the inputs that the program was tuned or trained on; absent: on none.
    pub tuned_on: super::Known<Vec<String>>,
    /// What limited it.
    pub limiter: Option<Limiter>,
    /// The load generator; absent: the program makes its own load.
    pub generator: super::Known<Generator>,
}

/// On which NUMA nodes a treatment's memory was to lie, and where it lay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Placement {
    /// How many nodes the machine has; `None`: not recorded.
    pub nodes: Option<u32>,
    /// What is set to fewer nodes than there are.
    pub set: Vec<Placed>,
}

/// Memory that is set to some nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Placed {
    /// Whose, and by what it is set.
    pub what: String,
    /// The nodes.
    pub nodes: Vec<u32>,
    /// By trial: bytes by node. `Err`: why it was not seen.
    pub lay: Vec<Result<BTreeMap<u32, u64>, String>>,
}

/// Descriptions of a treatment's system.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Snapshots {
    /// Before its trials; `None`: none was taken.
    pub before: Option<SystemDescription>,
    /// After them.
    pub after: After,
    /// The boot ids that its trials saw.
    pub boots: BTreeSet<String>,
}

/// A look at the system after the trials.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum After {
    /// None was taken.
    #[default]
    NotTaken,
    /// What was watched is as before.
    Same,
    /// These paths are not: path → what they are now.
    Changed(BTreeMap<String, String>),
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Binary {
    /// SHA-256 by part: `executable`, a library's name, `image`. Empty: not hashed.
    pub hashes: BTreeMap<String, String>,
    /// The CPU features that it was built to use; `None`: not known.
    pub built_features: Option<BTreeSet<String>>,
    /// The CPU features of its host that a build could use; `None`: not known.
    pub host_features: Option<BTreeSet<String>>,
}

/// How hard the build was tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tuning {
    /// The same modest options for everything.
    Base,
    /// Options chosen for each program.
    Peak,
}

/// How a program was built.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Build {
    /// The compiler with its version.
    pub compiler: Option<String>,
    /// Its flags in order.
    pub flags: Option<Vec<String>>,
    /// Whether link-time optimisation was on.
    pub lto: Option<bool>,
    /// Whether feedback-directed optimisation was on.
    pub pgo: Option<bool>,
    /// Base or peak.
    pub tuning: Option<Tuning>,
}

/// What a treatment could run on. A `None` is not recorded; `none` is a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CpuResources {
    /// Logical CPUs it could use.
    pub usable: Option<u32>,
    /// Processor chips.
    pub chips: Option<u32>,
    /// Cores.
    pub cores: Option<u32>,
    /// Threads per core that were on.
    pub threads_per_core: Option<u32>,
    /// The CPU quota, or `none`.
    pub quota: Option<String>,
    /// The memory policy over NUMA nodes, or `default`.
    pub numa_policy: Option<String>,
    /// Populated memory channels; often unknown on virtual machines.
    pub memory_channels: Option<u32>,
    /// How many instances of the program ran at once.
    pub instances: Option<u32>,
    /// Share of the periods of a CPU quota in which a trial was stopped, the median over trials; 1 for a trial that
    /// reached a memory limit. `None`: no control group limits the trials.
    pub limited: Option<f64>,
}

/// Page sizes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pages {
    /// The mode of transparent huge pages.
    pub mode: Option<String>,
    /// The pools of huge pages.
    pub pool: Option<String>,
    /// The share of memory that huge pages really backed, 0 to 1.
    pub huge_share: Option<f64>,
}

/// What else ran on the host before the treatment's trials started.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HostLoad {
    /// Runnable tasks of others per CPU.
    pub queue_per_cpu: Option<f64>,
    /// Share of time that the hypervisor gave to others, percent.
    pub steal_percent: Option<f64>,
    /// The largest share of time in which some task waited for a resource, percent.
    pub pressure_percent: Option<f64>,
}

/// Frequency and throttling while a treatment ran.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClockHeat {
    /// Median effective frequency, GHz.
    pub ghz: Option<f64>,
    /// How often a CPU was throttled.
    pub throttles: Option<u64>,
}

/// What was timed with which clock, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Timing {
    /// The shortest timing that a number rests on.
    pub sample_s: Option<f64>,
    /// The clock's resolution.
    pub resolution_s: Option<f64>,
    /// What reading the clock costs within a timing.
    pub overhead_s: Option<f64>,
    /// The measurement window that the benchmark's rule asks for at least; `None`: no such rule.
    pub min_window_s: Option<f64>,
    /// The window that was measured.
    pub window_s: Option<f64>,
}

/// The first trial of a treatment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FirstTrial {
    /// Its value in the deciding metric.
    pub value: Option<f64>,
    /// True if it was a warm-up.
    pub warmup: bool,
    /// Files that it wrote into its working folder.
    pub wrote: Vec<String>,
}

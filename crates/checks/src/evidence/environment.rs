//! Evidence about the system that a treatment ran on.

use std::collections::BTreeMap;

/// Clock frequency and throttling during a treatment's trials.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClockHeat {
    /// Mean effective frequency in GHz.
    pub ghz: Option<f64>,
    /// Number of times that a CPU was throttled.
    pub throttles: Option<u64>,
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

/// Tuning effort of a build (SPEC's base and peak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tuning {
    /// The same modest options for all programs.
    Base,
    /// Options chosen for each program.
    Peak,
}

/// Memory that is bound to some NUMA nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BoundMemory {
    /// Owner of the memory and the setting that binds it.
    pub what: String,
    /// Nodes that the memory is bound to.
    pub nodes: Vec<u32>,
    /// Bytes per node, for each trial. `Err`: the reason why they were not observed.
    pub bytes_by_node: Vec<Result<BTreeMap<u32, u64>, String>>,
}

/// NUMA placement of a treatment's memory: the intended nodes and the observed ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Placement {
    /// Number of NUMA nodes of the machine; `None` if not recorded.
    pub nodes: Option<u32>,
    /// Memory that is set to fewer nodes than the machine has.
    pub set: Vec<BoundMemory>,
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

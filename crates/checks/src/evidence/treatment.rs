//! Evidence about one treatment: its trials, their work, and the system and programs they ran on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use assay_model::{SeriesShape, SystemDescription};

use super::{
    Build, ClockHeat, CpuResources, FirstTrial, Generator, HostLoad, Limiter, MemoryPages,
    OutputEvidence, Placement, RecordedValue, Timing, Unevaluated, need,
};

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
    pub series: RecordedValue<Vec<SeriesShape>>,
    /// Statistic that summarises the treatment.
    pub statistic: Option<Statistic>,
    /// Rule by which warm-up was cut off.
    pub warmup: Option<u32>,
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
    pub tuned_on: RecordedValue<Vec<String>>,
    /// Resource that limited the treatment.
    pub limiter: Option<Limiter>,
    /// The load generator. Absent: the program makes its own load.
    pub generator: RecordedValue<Generator>,
}

impl TreatmentEvidence {
    /// Returns a value of this treatment, or the reason why a check that needs it ends.
    pub(crate) fn need<'v, T>(
        &self,
        value: Option<&'v T>,
        what: &str,
    ) -> Result<&'v T, Unevaluated> {
        need(value, format!("{what} of {}", self.label))
    }
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

/// The work that a treatment did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Work {
    /// Identity of the input: a hash, or the workload's name if it makes its own input.
    pub input: Option<String>,
    /// Fixed parameters of the workload; empty if it takes none or `input` includes them.
    pub parameters: BTreeMap<String, String>,
    /// Seed of the input; `none` if nothing is drawn at random.
    pub seed: Option<String>,
    /// Mix of requests; `none` if there is one kind.
    pub mix: Option<String>,
    /// Mean number of operations per trial.
    pub operations: Option<f64>,
    /// Exit codes of the trials that count: `1, 2`; `None` if no trial counts.
    pub exits: Option<String>,
    /// State of the caches at the start.
    pub cache: Option<CacheStart>,
    /// Quantity that is equal in all treatments: work or time.
    pub timing: Option<WorkTiming>,
}

/// State of the caches at the start of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheStart {
    /// Emptied before the trial.
    Cold,
    /// As the previous trial left them, in random order.
    AsLeft,
}

/// Quantity that is equal in all treatments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkTiming {
    /// Equal operations; their time is measured.
    EqualWork,
    /// Equal time; the operations are counted.
    EqualTime,
}

/// Statistic that summarises a treatment's trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Mean,
    Geomean,
    Median,
    /// The smallest value of all trials.
    Minimum,
    /// The best of this number of trials.
    BestOf(u32),
}

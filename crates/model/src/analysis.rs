//! What the records of a run say when they are laid together: the one set of numbers that terminal,
//! page and exports print.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Checks, Comparison, Finding, HistogramSummary, Interval, MetricValue, Percentile,
    SuiteResults, Summary,
};

/// The summary of one treatment in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentSummary {
    /// The treatment's id.
    pub treatment: u32,
    /// Its label.
    pub label: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The summary of its trials.
    pub summary: Summary,
    /// The values, in the order in which they were measured; `null` where a trial had none.
    pub values: Vec<Option<f64>>,
    /// What the metric is of all trials together where it is a percentile: read from their merged
    /// histograms. The summary above is of the trials' own percentiles, of which no mean is a
    /// percentile of anything; it serves comparisons alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<Percentile>,
    /// Where every trial was ended at its time limit: what the value is longer than, in the unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_than: Option<f64>,
    /// What makes values of its trials doubtful, each reason once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Whether its trials ran in virtual machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_machine: bool,
}

impl TreatmentSummary {
    /// What stands for the treatment: the percentile of the merged histograms where the metric is one
    /// (`None` when it is withheld), else the geometric mean, else the arithmetic one.
    pub fn centre(&self) -> Option<f64> {
        match &self.percentile {
            Some(p) => p.value,
            None => self.summary.geomean.or(self.summary.mean),
        }
    }

    /// The interval of [`centre`](Self::centre); `None` for a percentile of merged histograms.
    pub fn interval(&self) -> Option<Interval> {
        self.summary.interval.filter(|_| self.percentile.is_none())
    }
}

/// One point of a curve over several trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Where on the x axis.
    pub x: f64,
    /// The geometric mean of the trials' values there; where the curve is of a `quantile`,
    /// that of their merged histograms.
    pub value: f64,
    /// The interval of the trials' values (Student on their logs); `null` below three trials.
    pub interval: Option<Interval>,
    /// How many trials measured it.
    pub n: u32,
}

/// A curve of one treatment over several trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveSummary {
    /// The treatment's id.
    pub treatment: u32,
    /// Its label.
    pub label: String,
    /// The curve's name.
    pub name: String,
    /// What x is (`rate`); empty: a size where its unit is bytes, else not stated.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_name: String,
    /// The quantile that the values are of, where they were read from the merged histograms of the
    /// trials; `null`: they are means over the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// Unit of x.
    pub x_unit: String,
    /// Unit of the values.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Where the values come from.
    pub kind: crate::Kind,
    /// The points by rising x.
    pub points: Vec<CurvePoint>,
    /// Where the curve is best; `null` for one of a `quantile`.
    pub best: Option<CurvePoint>,
    /// The smallest x whose value is within 2 % of the best: the one to choose.
    pub efficient: Option<CurvePoint>,
    /// How a value is judged for `best` and `efficient`, as the middle of a sentence: `judged together
    /// with its near neighbours`.
    pub judged: String,
    /// The smoothness of the curve, a number from 0 (rough) to 1 (smooth); see `docs/statistics.md`.
    pub smoothness: Option<f64>,
    /// The virtual machines that its points come from; absent: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
}

impl CurveSummary {
    /// What x is, as a noun.
    pub fn x_noun(&self) -> &str {
        match (self.x_name.as_str(), self.x_unit.as_str()) {
            ("", "B") => "size",
            ("", _) => "x",
            (name, _) => name,
        }
    }

    /// What its points are counted as: `data of a process` has no number.
    pub fn x_counted(&self) -> &str {
        match self.x_noun() {
            "x" => "point",
            x if x.contains(" of ") => "point",
            x => x,
        }
    }

    /// One of them: `the smallest warehouse`, of a curve over warehouses.
    pub fn x_one(&self) -> String {
        crate::nouns::singular(self.x_noun())
    }
}

/// One size of a scaling analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPoint {
    /// How many (processes, threads, copies).
    pub count: f64,
    /// The metric's geometric mean there.
    pub value: f64,
    /// value / value at the smallest count, as a ratio of geometric means.
    pub speedup: f64,
    /// Its interval, where the design carries one.
    pub interval: Option<Interval>,
    /// speedup / (count / smallest count).
    pub efficiency: f64,
}

/// A fitted model of scaling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingModel {
    /// `amdahl` or `usl` (the Universal Scalability Law).
    pub model: String,
    /// The throughput of one, fitted.
    pub gamma: f64,
    /// The share that does not scale (contention).
    pub sigma: f64,
    /// The cost of agreeing (coherency); 0 for Amdahl.
    pub kappa: f64,
}

/// How a metric grows with a count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// The factor whose levels are the counts.
    pub factor: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// The measured sizes.
    pub points: Vec<ScalingPoint>,
    /// The fits; empty below six sizes, with the reason in `note`.
    pub models: Vec<ScalingModel>,
    /// What should be known about it.
    pub note: String,
}

/// The kind of virtual machine that the trials of a run ran in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Guest {
    /// The processor ran its instructions.
    Virtual,
    /// An emulator ran them: its times are the emulator's, and only counts may be compared.
    Emulated,
}

impl Guest {
    /// As a word.
    pub fn name(self) -> &'static str {
        match self {
            Guest::Virtual => "virtual",
            Guest::Emulated => "emulated",
        }
    }

    /// With its article: `a virtual machine`, `an emulated machine`.
    pub fn machine(self) -> &'static str {
        match self {
            Guest::Virtual => "a virtual machine",
            Guest::Emulated => "an emulated machine",
        }
    }
}

/// Everything computed from the records of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// The metric that decides.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// The confidence level of the intervals.
    pub confidence: f64,
    /// The virtual machines that every number here comes from; absent: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// Every treatment in every metric; those of the deciding metric first.
    pub summaries: Vec<TreatmentSummary>,
    /// Every other treatment against the baseline, in the deciding metric.
    pub comparisons: Vec<Comparison>,
    /// Every other treatment against the best one, in the order of their values; empty where none is better than another
    /// (a suite, imported trials, a metric without a direction).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Comparison>,
    /// The histograms of each treatment's trials, merged, with their percentiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<HistogramSummary>,
    /// The curves, where the workload reports any.
    pub curves: Vec<CurveSummary>,
    /// How the metric grows with a count, where the experiment asks for it.
    pub scaling: Option<Scaling>,
    /// The scores of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteResults>,
    /// Values that belong to the run as a whole (`detectable_effect`, `aa_floor`).
    pub run_metrics: Vec<MetricValue>,
    /// The A/A floor that was known when the run began; `null`: none of this workload on this machine.
    #[serde(default)]
    pub floor: Option<crate::KnownFloor>,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// What became of the checks that found nothing.
    #[serde(default)]
    pub checks: Checks,
}

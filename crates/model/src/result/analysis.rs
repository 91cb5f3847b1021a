//! Analysis of a run: the one set of numbers that terminal, page and exports print.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Better, Checks, Comparison, Finding, HistogramSummary, Interval, MetricValue, Percentile,
    SuiteResults, Summary,
};

/// The summary of one treatment in one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TreatmentSummary {
    /// Id of the treatment.
    pub treatment: u32,
    /// Label of the treatment.
    pub label: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Summary of the treatment's trials.
    pub summary: Summary,
    /// Values in the order of measurement; `null` for a trial without a value.
    pub values: Vec<Option<f64>>,
    /// For a metric that is a percentile: its value over all trials, read from their merged
    /// histograms. `summary` describes the percentiles of the single trials, whose mean is not a
    /// percentile of anything; it is used for comparisons only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<Percentile>,
    /// Lower bound of the value, in `unit`, when every trial was ended at its time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer_than: Option<f64>,
    /// Reasons why values of the trials are doubtful, each listed once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// True if the trials ran in virtual machines.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_machine: bool,
}

impl TreatmentSummary {
    /// Returns the value that represents the treatment: the percentile of the merged histograms for
    /// a percentile metric (`None` when it is withheld), otherwise the geometric mean, or the
    /// arithmetic mean if there is no geometric one.
    pub fn centre(&self) -> Option<f64> {
        match &self.percentile {
            Some(p) => p.value,
            None => self.summary.geomean.or(self.summary.mean),
        }
    }

    /// Returns the interval of [`centre`](Self::centre); `None` for a percentile of merged
    /// histograms.
    pub fn interval(&self) -> Option<Interval> {
        self.summary.interval.filter(|_| self.percentile.is_none())
    }
}

/// One point of a curve over several trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Position on the x axis.
    pub x: f64,
    /// Geometric mean of the trials' values at `x`; for a curve of a `quantile`, the quantile of
    /// their merged histograms.
    pub value: f64,
    /// Interval of the trials' values (Student's t on their logs); `null` below three trials.
    pub interval: Option<Interval>,
    /// Number of trials that measured this point.
    pub n: u32,
}

/// A curve of one treatment over several trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveSummary {
    /// Id of the treatment.
    pub treatment: u32,
    /// Label of the treatment.
    pub label: String,
    /// Name of the curve.
    pub name: String,
    /// Name of the x axis (`rate`); if empty, x is a size when its unit is bytes and unnamed
    /// otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub x_name: String,
    /// Quantile that the values are, when they were read from the merged histograms of the trials;
    /// `null` for means over the trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<f64>,
    /// Unit of the x axis.
    pub x_unit: String,
    /// Unit of the values.
    pub unit: String,
    /// Direction in which the values improve.
    pub better: Better,
    /// Origin of the values: measured, derived, estimated or quoted.
    pub kind: crate::MetricKind,
    /// Points of the curve, by rising x.
    pub points: Vec<CurvePoint>,
    /// Point where the curve is best; `null` for a curve of a `quantile`.
    pub best: Option<CurvePoint>,
    /// Point with the smallest x whose value is within 2 % of the best: the one to choose.
    pub efficient: Option<CurvePoint>,
    /// Description of how values are judged for `best` and `efficient`, as the middle of a
    /// sentence: `judged together with its near neighbours`.
    pub judged: String,
    /// Smoothness of the curve, from 0 (rough) to 1 (smooth); defined in
    /// `docs/internals/statistics.md`.
    pub smoothness: Option<f64>,
    /// Kind of virtual machine that the points come from; absent without virtual machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
}

impl CurveSummary {
    /// Returns the quantity and the row if the curve is a row of a matrix: `latency` and `3` for
    /// `latency from CPU 3` over `CPU`.
    pub fn matrix_row(&self) -> Option<(&str, &str)> {
        let (quantity, from) = self.name.split_once(" from ")?;
        Some((quantity, from.strip_prefix(&self.x_name)?.strip_prefix(' ')?))
    }

    /// Returns a noun for x: its name, `size` for bytes, or `x`.
    pub fn x_noun(&self) -> &str {
        match (self.x_name.as_str(), self.x_unit.as_str()) {
            ("", "B") => "size",
            ("", _) => "x",
            (name, _) => name,
        }
    }

    /// Returns the noun by which the points are counted; `point` for names such as `data of a
    /// process`, which have no plural.
    pub fn x_counted(&self) -> &str {
        match self.x_noun() {
            "x" => "point",
            x if x.contains(" of ") => "point",
            x => x,
        }
    }

    /// Returns the noun for a single x in the singular: `warehouse` for a curve over warehouses.
    pub fn x_one(&self) -> String {
        crate::nouns::singular(self.x_noun())
    }
}

/// One size of a scaling analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingPoint {
    /// Number of processes, threads or copies.
    pub count: f64,
    /// Geometric mean of the metric at this count.
    pub value: f64,
    /// Ratio of geometric means: value / value at the smallest count.
    pub speedup: f64,
    /// Interval of the speedup, where the design supports one.
    pub interval: Option<Interval>,
    /// Efficiency: speedup / (count / smallest count).
    pub efficiency: f64,
}

/// A fitted model of scaling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScalingModel {
    /// Name of the model: `amdahl` or `usl` (the Universal Scalability Law).
    pub model: String,
    /// Fitted throughput of one process, thread or copy.
    pub gamma: f64,
    /// Fraction of the work that does not scale (contention).
    pub sigma: f64,
    /// Cost of coherency, that is, of keeping the processes consistent; 0 for Amdahl.
    pub kappa: f64,
}

/// Scaling analysis: a metric as a function of a count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scaling {
    /// The factor whose levels are the counts.
    pub factor: String,
    /// Name of the metric.
    pub metric: String,
    /// Unit of the metric.
    #[serde(default)]
    pub unit: String,
    /// Measured sizes, one point each.
    pub points: Vec<ScalingPoint>,
    /// Fitted models; empty below six sizes, with the reason in `note`.
    pub models: Vec<ScalingModel>,
    /// Remark for the reader.
    pub note: String,
}

/// The kind of virtual machine that the trials of a run ran in.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Guest {
    /// A virtual machine whose instructions the processor executed.
    Virtual,
    /// A virtual machine whose instructions an emulator executed: its times are the emulator's, and
    /// only counts may be compared.
    Emulated,
}

crate::names! {
    pub Guest::name: Virtual = "virtual", Emulated = "emulated"
}

impl Guest {
    /// Returns the noun with its article: `a virtual machine`, `an emulated machine`.
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
    /// Name of the deciding metric.
    pub metric: String,
    /// Unit of the deciding metric.
    pub unit: String,
    /// Direction in which the deciding metric improves.
    pub better: Better,
    /// Confidence level of the intervals.
    pub confidence: f64,
    /// Kind of virtual machine that all numbers come from; absent without virtual machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Guest>,
    /// Summaries of every treatment in every metric; those of the deciding metric first.
    pub summaries: Vec<TreatmentSummary>,
    /// Comparisons of every other treatment with the baseline, in the deciding metric.
    pub comparisons: Vec<Comparison>,
    /// Comparisons of every other treatment with the best one, ordered by value; empty where no
    /// treatment is better than another (a suite, imported trials, a metric without a direction).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Comparison>,
    /// Names of the benchmarks of a suite that a reader read, in the order of its output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub benchmarks: Vec<String>,
    /// Comparisons of every benchmark of a suite with the baseline's, corrected as one family;
    /// empty without a reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub family: Vec<Comparison>,
    /// Merged histograms of each treatment's trials, with their percentiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<HistogramSummary>,
    /// Curves, if the workload reports any.
    pub curves: Vec<CurveSummary>,
    /// Scaling analysis, if the experiment requests one.
    pub scaling: Option<Scaling>,
    /// Scores of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteResults>,
    /// Values that belong to the run as a whole (`detectable_effect`, `aa_floor`).
    pub run_metrics: Vec<MetricValue>,
    /// A/A floor that was known when the run began; `null` if this machine had none for this
    /// workload.
    #[serde(default)]
    pub floor: Option<crate::KnownFloor>,
    /// Findings of the checks.
    pub findings: Vec<Finding>,
    /// Results of the checks without a finding: passed, not applicable, or impossible to make.
    #[serde(default)]
    pub checks: Checks,
}

//! What the records of a run say when they are laid together: the one set of numbers that terminal,
//! page and exports print.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Checks, Comparison, Finding, Interval, MetricValue, SuiteResults, Summary};

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
}

/// One point of a curve over several trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Where on the x axis.
    pub x: f64,
    /// The geometric mean of the trials' values there.
    pub value: f64,
    /// Its interval (Student on the logs of the trials' values); `null` below three trials.
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
    /// Where the curve is best.
    pub best: Option<CurvePoint>,
    /// The smallest x whose value is within 2 % of the best: the one to choose.
    pub efficient: Option<CurvePoint>,
    /// How a value is judged for `best` and `efficient`, as the middle of a sentence: `judged together
    /// with its near neighbours`.
    pub judged: String,
    /// The smoothness of the curve, a number from 0 (rough) to 1 (smooth); see `docs/statistics.md`.
    pub smoothness: Option<f64>,
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
    /// The measured sizes.
    pub points: Vec<ScalingPoint>,
    /// The fits; empty below six sizes, with the reason in `note`.
    pub models: Vec<ScalingModel>,
    /// What should be known about it.
    pub note: String,
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
    /// Every treatment in every metric; those of the deciding metric first.
    pub summaries: Vec<TreatmentSummary>,
    /// Every other treatment against the baseline, in the deciding metric.
    pub comparisons: Vec<Comparison>,
    /// The curves, where the workload reports any.
    pub curves: Vec<CurveSummary>,
    /// How the metric grows with a count, where the experiment asks for it.
    pub scaling: Option<Scaling>,
    /// The scores of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteResults>,
    /// Values that belong to the run as a whole (`shell_startup`, the A/A floor).
    pub run_metrics: Vec<MetricValue>,
    /// What the checks found.
    pub findings: Vec<Finding>,
    /// What became of the checks that found nothing.
    #[serde(default)]
    pub checks: Checks,
}

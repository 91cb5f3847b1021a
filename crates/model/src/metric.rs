//! Metrics: named quantities with a unit, a direction and a kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Direction in which a metric improves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher values are better (`B/s`, `ops/s`).
    Higher,
    /// Lower values are better (`s`, `J`).
    Lower,
    /// Neither direction is better: the metric describes and does not score.
    Neither,
}

crate::names! {
    /// Returns `higher is better`, `lower is better`, or an empty text.
    pub Better::words: Higher = "higher is better", Lower = "lower is better", Neither = ""
}

impl Better {
    /// Returns the direction that a unit implies: rates (`.../s`) are better higher; times,
    /// energies, power and sizes are better lower; any other unit has no direction.
    pub fn from_unit(unit: &str) -> Self {
        match unit {
            "s" | "ms" | "us" | "ns" | "J" | "B" | "W" => Better::Lower,
            _ if unit.ends_with("/s") => Better::Higher,
            _ => Better::Neither,
        }
    }
}

/// Origin of a number. Numbers of different kinds are never mixed without a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// Measured in this trial, by assay or, in an imported run, by the tool that the ledger names.
    #[default]
    Measured,
    /// Derived: computed from measured values.
    Derived,
    /// Estimated: a model lies between the measurement and the number.
    Estimated,
    /// Quoted from somebody else's publication, under their name for it.
    Quoted,
}

crate::names! {
    pub Better::name: Higher = "higher", Lower = "lower", Neither = "neither"
}

crate::names! {
    pub MetricKind::name: Measured = "measured", Derived = "derived", Estimated = "estimated",
        Quoted = "quoted"
}

/// One metric of one trial. A missing value is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// Name of the metric, as the workload calls it (`throughput`, `elapsed`).
    pub name: String,
    /// Value in `unit`; `null` if it could not be measured (see the record's notes).
    pub value: Option<f64>,
    /// Symbol of the unit (`s`, `B/s`, `ops/s`, `1`).
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Origin of the value: measured, derived, estimated or quoted.
    #[serde(default)]
    pub kind: MetricKind,
    /// True if the value is a count or computed from counts only: no clock is involved, so it stays
    /// valid where time passes at another rate, as in an emulated machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// True if the value is the deciding figure of a benchmark of a suite that a reader read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub benchmark: bool,
    /// Reason why the value is doubtful, as a sentence; `None` if nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl MetricValue {
    /// Creates a value that is neither a count nor doubtful.
    pub fn new(
        name: impl Into<String>,
        value: Option<f64>,
        unit: impl Into<String>,
        better: Better,
        kind: MetricKind,
    ) -> Self {
        let (name, unit) = (name.into(), unit.into());
        MetricValue {
            name,
            value,
            unit,
            better,
            kind,
            counted: false,
            benchmark: false,
            doubt: None,
        }
    }

    /// Marks the value as a count, or as computed from counts only.
    #[must_use]
    pub fn counted(self) -> Self {
        MetricValue { counted: true, ..self }
    }
}

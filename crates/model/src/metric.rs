//! Metrics: named quantities with a unit, a direction and a kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better (`B/s`, `ops/s`).
    Higher,
    /// Less is better (`s`, `J`).
    Lower,
    /// Neither: a description, not a score.
    Neither,
}

impl Better {
    /// The direction that a unit implies by default: rates and counts per second are
    /// better higher; times, energies and sizes are better lower; anything else is neither.
    pub fn from_unit(unit: &str) -> Self {
        match unit {
            "s" | "ms" | "us" | "ns" | "J" | "B" | "W" => Better::Lower,
            _ if unit.ends_with("/s") => Better::Higher,
            _ => Better::Neither,
        }
    }

    /// `higher is better`, `lower is better`, or nothing.
    pub fn words(self) -> &'static str {
        match self {
            Better::Higher => "higher is better",
            Better::Lower => "lower is better",
            Better::Neither => "",
        }
    }
}

/// Where a number comes from. Kinds are never mixed without a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Measured in this trial: by assay or, in an imported run, by the tool that the ledger names.
    #[default]
    Measured,
    /// Computed from measured values.
    Derived,
    /// Estimated: a model stands between the measurement and the number.
    Estimated,
    /// Printed by somebody else, under their name for it.
    Quoted,
}

/// One metric of one trial. A missing value is `None`, never 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// Its name, in the workload's words (`throughput`, `elapsed`).
    pub name: String,
    /// The value in `unit`; `null` if it could not be had (see the record's notes).
    pub value: Option<f64>,
    /// The unit's symbol (`s`, `B/s`, `ops/s`, `1`).
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Where it comes from.
    #[serde(default)]
    pub kind: Kind,
    /// Whether it is a count or made of counts alone: no clock is in it, so it is the same where time goes by
    /// at another pace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// What makes the value doubtful, in a sentence; `None`: nothing that was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

impl MetricValue {
    /// A value that nothing makes doubtful.
    pub fn new(
        name: impl Into<String>,
        value: Option<f64>,
        unit: impl Into<String>,
        better: Better,
        kind: Kind,
    ) -> Self {
        let (name, unit) = (name.into(), unit.into());
        MetricValue { name, value, unit, better, kind, counted: false, doubt: None }
    }

    /// The same, as a count or made of counts alone.
    #[must_use]
    pub fn counted(self) -> Self {
        MetricValue { counted: true, ..self }
    }
}

//! Description of a workload as data: its parameters and its metrics. Help, schema, forms and
//! report legends are generated from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, MetricKind, Scalar, units};

/// Type of a parameter's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ParamType {
    /// A boolean: `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Int {
        /// The smallest value allowed.
        min: i64,
        /// The largest value allowed.
        max: i64,
    },
    /// A number within bounds.
    Float {
        /// The smallest value allowed.
        min: f64,
        /// The largest value allowed.
        max: f64,
    },
    /// A size such as `100 MiB`; a bare number is bytes.
    Bytes,
    /// A duration such as `500 ms`; a bare number is seconds.
    Duration,
    /// One of several words.
    Choice {
        /// Words that are allowed.
        of: Vec<String>,
    },
    /// A text without restrictions.
    Text,
}

/// One parameter of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParamSpec {
    /// Name in the experiment file.
    pub name: String,
    /// Type of the value.
    #[serde(flatten)]
    pub ty: ParamType,
    /// Default value; without one, the parameter is required.
    pub default: Option<Scalar>,
    /// Description for a person, one sentence.
    pub help: String,
}

/// A value that a parameter does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// The value has another type, or is not one of the words.
    #[error("`{name}` is `{value}`; it takes {takes}")]
    Kind { name: String, value: String, takes: String },
    /// The number is out of bounds.
    #[error("`{name}` is {value}; it takes {bounds}")]
    Bounds { name: String, value: String, bounds: String },
    /// The value is not a size or a duration.
    #[error("`{name}`: {source}")]
    Unit { name: String, source: units::UnitError },
}

impl From<ParamError> for String {
    fn from(error: ParamError) -> Self {
        error.to_string()
    }
}

impl ParamSpec {
    /// Checks a value against the type.
    pub fn check(&self, value: &Scalar) -> Result<(), ParamError> {
        let name = || self.name.clone();
        let wrong = |takes| Err(ParamError::Kind { name: name(), value: value.to_string(), takes });
        let outside = |value, bounds| Err(ParamError::Bounds { name: name(), value, bounds });
        let unit = |source| ParamError::Unit { name: name(), source };
        match &self.ty {
            ParamType::Bool if value.as_bool().is_none() => wrong("true or false".to_owned()),
            ParamType::Int { min, max } => match value.as_i64() {
                Some(v) if (*min..=*max).contains(&v) => Ok(()),
                Some(v) => outside(v.to_string(), format!("{min} to {max}")),
                None => wrong(format!("a whole number from {min} to {max}")),
            },
            ParamType::Float { min, max } => match value.as_f64() {
                Some(v) if (*min..=*max).contains(&v) => Ok(()),
                Some(v) => outside(v.to_string(), format!("{min} to {max}")),
                None => wrong(format!("a number from {min} to {max}")),
            },
            ParamType::Bytes => units::bytes_of(value).map(|_| ()).map_err(unit),
            ParamType::Duration => units::duration_of(value).map(|_| ()).map_err(unit),
            ParamType::Choice { of } if !of.contains(&value.to_text()) => {
                wrong(format!("one of {}", of.join(", ")))
            }
            ParamType::Bool | ParamType::Choice { .. } | ParamType::Text => Ok(()),
        }
    }
}

/// One metric that a workload may report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSpec {
    /// Name of the metric.
    pub name: String,
    /// Symbol of the unit.
    pub unit: String,
    /// Direction in which the metric improves.
    pub better: Better,
    /// Origin of the value: measured, derived, estimated or quoted.
    pub kind: MetricKind,
    /// Definition of the metric, one sentence.
    pub help: String,
    /// Merge rule for the value of a trial over several nodes; if absent, the unit decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Merge>,
    /// True if the metric is a count or computed from counts only
    /// ([`MetricValue::counted`](crate::MetricValue)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

impl MetricSpec {
    /// Marks the metric as a count, or as computed from counts only.
    #[must_use]
    pub fn counted(self) -> Self {
        MetricSpec { counted: true, ..self }
    }

    /// Sets the merge rule.
    #[must_use]
    pub fn merged(self, merge: Merge) -> Self {
        MetricSpec { merge: Some(merge), ..self }
    }
}

/// Rule that merges the values of several nodes into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// The sum: an amount of which each node has its own part.
    Sum,
    /// The largest: the time of the slowest node.
    Max,
    /// The smallest of the values.
    Min,
    /// The common value; dropped if the nodes differ.
    Same,
}

/// Description of a workload, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSpec {
    /// Name of the workload.
    pub name: String,
    /// Summary of the load on the system, one sentence.
    pub help: String,
    /// Parameters of the workload.
    pub params: Vec<ParamSpec>,
    /// Metrics of the workload; the first is the primary one.
    pub metrics: Vec<MetricSpec>,
    /// Definition of a suite: many programs whose results have one mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteSpec>,
}

/// Rule that combines the results of a suite's members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSpec {
    /// Parameter that selects the member. Treatments that differ in it do different work: they are
    /// never compared with each other, but their geometric means are.
    pub member: String,
    /// Metric that is averaged: a ratio to a reference.
    pub metric: String,
    /// Metric that is added up for the ratio of totals: a time.
    pub time: String,
}

impl WorkloadSpec {
    pub fn param(&self, name: &str) -> Option<&ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }

    pub fn metric(&self, name: &str) -> Option<&MetricSpec> {
        self.metrics.iter().find(|m| m.name == name)
    }
}

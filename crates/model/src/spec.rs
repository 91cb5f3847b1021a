//! Rows of data that describe a workload: its parameters and its metrics. Help, schema, forms and
//! report legends are made from these rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Kind, Scalar, units};

/// What a parameter's value must be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ParamType {
    /// `true` or `false`.
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
    /// One of these words.
    Choice {
        /// The words.
        of: Vec<String>,
    },
    /// Any text.
    Text,
}

/// One parameter of a workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParamSpec {
    /// Its name in the experiment file.
    pub name: String,
    /// What its value must be.
    #[serde(flatten)]
    pub ty: ParamType,
    /// Its default value; `None` makes it required.
    pub default: Option<Scalar>,
    /// One sentence for a person.
    pub help: String,
}

impl ParamSpec {
    /// Checks a value against the type.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what would be right.
    pub fn check(&self, value: &Scalar) -> Result<(), String> {
        let name = &self.name;
        match &self.ty {
            ParamType::Bool => match value.as_bool() {
                Some(_) => Ok(()),
                None => Err(format!("`{name}` is `{value}`; it takes true or false")),
            },
            ParamType::Int { min, max } => match value.as_i64() {
                Some(v) if (*min..=*max).contains(&v) => Ok(()),
                Some(v) => Err(format!("`{name}` is {v}; it takes {min} to {max}")),
                None => Err(format!(
                    "`{name}` is `{value}`; it takes a whole number from {min} to {max}"
                )),
            },
            ParamType::Float { min, max } => match value.as_f64() {
                Some(v) if (*min..=*max).contains(&v) => Ok(()),
                Some(v) => Err(format!("`{name}` is {v}; it takes {min} to {max}")),
                None => {
                    Err(format!("`{name}` is `{value}`; it takes a number from {min} to {max}"))
                }
            },
            ParamType::Bytes => {
                units::bytes_of(value).map(|_| ()).map_err(|e| format!("`{name}`: {e}"))
            }
            ParamType::Duration => {
                units::duration_of(value).map(|_| ()).map_err(|e| format!("`{name}`: {e}"))
            }
            ParamType::Choice { of } => {
                if of.contains(&value.to_text()) {
                    Ok(())
                } else {
                    Err(format!("`{name}` is `{value}`; it takes one of {}", of.join(", ")))
                }
            }
            ParamType::Text => Ok(()),
        }
    }
}

/// One metric that a workload may report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSpec {
    /// Its name.
    pub name: String,
    /// Its unit's symbol.
    pub unit: String,
    /// Which way is better.
    pub better: Better,
    /// Where it comes from.
    pub kind: Kind,
    /// One sentence: the definition.
    pub help: String,
    /// How the value of a trial over several nodes is made of theirs; absent: as its unit says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge: Option<Merge>,
    /// Whether it is a count or made of counts alone ([`MetricValue::counted`](crate::MetricValue)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

impl MetricSpec {
    /// The same, as a count or made of counts alone.
    #[must_use]
    pub fn counted(self) -> Self {
        MetricSpec { counted: true, ..self }
    }

    /// The same, merged in this way.
    #[must_use]
    pub fn merged(self, merge: Merge) -> Self {
        MetricSpec { merge: Some(merge), ..self }
    }
}

/// How the values of several nodes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// Added up: an amount that each node has its own part of.
    Sum,
    /// The largest: what the slowest node took.
    Max,
    /// The smallest.
    Min,
    /// Kept only where every node has the same value.
    Same,
}

/// What a workload is, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadSpec {
    /// Its name.
    pub name: String,
    /// One sentence: what it makes the system do.
    pub help: String,
    /// Its parameters.
    pub params: Vec<ParamSpec>,
    /// Its metrics; the first is the primary one.
    pub metrics: Vec<MetricSpec>,
    /// What makes it a suite: many programs whose results have one mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteSpec>,
}

/// How the results of a suite's members become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteSpec {
    /// The parameter that chooses the member. Treatments that differ in it do different work: they
    /// are never compared with each other, but their geometric means are.
    pub member: String,
    /// The metric that is averaged: a ratio to a reference.
    pub metric: String,
    /// The metric that is added up for the ratio of totals: a time.
    pub time: String,
}

impl WorkloadSpec {
    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }

    /// The metric of that name.
    pub fn metric(&self, name: &str) -> Option<&MetricSpec> {
        self.metrics.iter().find(|m| m.name == name)
    }
}

//! A single value in an experiment file: a level of a factor, or a parameter.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A level or a parameter value: a boolean, an integer, a float or a text. Sizes and durations are
/// texts with a unit (`"100 MiB"`, `"5 s"`), read by [`crate::units`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a boolean, a number or a text")]
pub enum Scalar {
    /// A boolean: `true` or `false`.
    Bool(bool),
    /// A whole number, such as `4`.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text of any other form.
    Text(String),
}

impl Scalar {
    /// Formats the value as it is shown to a person and passed to a program.
    pub fn to_text(&self) -> String {
        self.to_string()
    }

    /// Returns the value as a number; a text counts if it is a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Scalar::Int(i) => Some(*i as f64),
            Scalar::Float(f) => Some(*f),
            Scalar::Text(t) => t.trim().parse().ok(),
            Scalar::Bool(_) => None,
        }
    }

    /// Returns the value as an integer; a text or float counts if it is a whole number.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Scalar::Int(i) => Some(*i),
            Scalar::Text(t) => t.trim().parse().ok(),
            Scalar::Float(f) if f.fract() == 0.0 => Some(*f as i64),
            Scalar::Bool(_) | Scalar::Float(_) => None,
        }
    }

    /// Returns the value as a boolean; `"true"`, `"on"`, `"yes"`, `1` and their opposites count.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Scalar::Bool(b) => Some(*b),
            Scalar::Int(0) => Some(false),
            Scalar::Int(1) => Some(true),
            Scalar::Text(t) => match t.as_str() {
                "true" | "on" | "yes" => Some(true),
                "false" | "off" | "no" => Some(false),
                _ => None,
            },
            Scalar::Int(_) | Scalar::Float(_) => None,
        }
    }

    /// Parses a value typed on a command line as the narrowest of boolean, integer, float, text.
    pub fn parse(text: &str) -> Self {
        if let Ok(b) = text.parse::<bool>() {
            Scalar::Bool(b)
        } else if let Ok(i) = text.parse::<i64>() {
            Scalar::Int(i)
        } else {
            match text.parse::<f64>() {
                Ok(f) if f.is_finite() => Scalar::Float(f),
                _ => Scalar::Text(text.to_owned()),
            }
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => b.fmt(f),
            Scalar::Int(i) => i.fmt(f),
            Scalar::Float(x) => x.fmt(f),
            Scalar::Text(t) => f.write_str(t),
        }
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Scalar::Text(text.to_owned())
    }
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Self {
        Scalar::Int(value)
    }
}

//! Histograms of trials, and the percentiles of a treatment that merging them gives.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the requests were sent whose times a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// On a schedule that does not wait for answers; times count from when each was due.
    Open,
    /// The next when the last was answered; times count from the sending.
    Closed,
}

/// A histogram of one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written")]
pub struct TrialHistogram {
    /// The unit of its values.
    pub unit: String,
    /// The histogram, HdrHistogram V2, base64.
    pub hdr: String,
    /// How many values are known to be longer than any in it: operations that came to no answer.
    #[serde(default, skip_serializing_if = "is_zero", alias = "unanswered")]
    pub timed_out: u64,
    /// The metrics (or curves, with `at`) that are percentiles of it: name → quantile as a fraction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles: BTreeMap<String, f64>,
    /// The x of the curves' point that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// How the requests were sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What a record may hold: the histogram with everything known of it, or, as records once had it, its
/// unit and itself.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    /// Unit and histogram, as records once had it.
    Pair(String, String),
    /// The histogram with everything known of it.
    Whole {
        /// The unit of its values.
        unit: String,
        /// The histogram, HdrHistogram V2, base64.
        hdr: String,
        /// How many values are known to be longer than any in it: operations that came to no answer.
        #[serde(default, alias = "unanswered")]
        timed_out: u64,
        /// The metrics (or curves, with `at`) that are percentiles of it: name to quantile.
        #[serde(default)]
        percentiles: BTreeMap<String, f64>,
        /// The x of the curves' point that it is of.
        #[serde(default)]
        at: Option<f64>,
        /// How the requests were sent.
        #[serde(default)]
        load: Option<Load>,
    },
}

impl From<Written> for TrialHistogram {
    fn from(written: Written) -> Self {
        match written {
            Written::Pair(unit, hdr) => TrialHistogram { unit, hdr, ..TrialHistogram::default() },
            Written::Whole { unit, hdr, timed_out, percentiles, at, load } => {
                TrialHistogram { unit, hdr, timed_out, percentiles, at, load }
            }
        }
    }
}

/// A percentile of a treatment, from the histograms of its trials added together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// The quantile as a fraction (0.99).
    pub quantile: f64,
    /// The metric that it is; `null` when the workload names none.
    pub metric: Option<String>,
    /// Its value; `null` when it is withheld.
    pub value: Option<f64>,
    /// How many values were recorded in all the trials together, those without an answer included.
    pub samples: u64,
    /// How many of them lie beyond it.
    pub beyond: u64,
    /// How many trials it is of.
    pub trials: u32,
    /// How the requests were sent; `null` when the trials do not tell, or not the same.
    pub load: Option<Load>,
    /// Why it is withheld; empty when it has a value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub withheld: String,
}

/// The histograms of one name of a treatment's trials, added together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramSummary {
    /// The treatment's id.
    pub treatment: u32,
    /// Its label.
    pub label: String,
    /// The histogram's name.
    pub name: String,
    /// The unit of the percentiles.
    pub unit: String,
    /// The x of the curves' point that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// The smallest value; `null` without any.
    #[serde(alias = "least")]
    pub minimum: Option<f64>,
    /// The largest value that was recorded; `null` without any.
    #[serde(alias = "greatest")]
    pub maximum: Option<f64>,
    /// Values known to be longer than any that was recorded.
    #[serde(alias = "unanswered")]
    pub timed_out: u64,
    /// Its percentiles, rising.
    pub percentiles: Vec<Percentile>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_before_are_read() {
        let old: TrialHistogram = serde_json::from_str(r#"["ns","HISTAA"]"#).unwrap();
        assert_eq!((old.unit.as_str(), old.hdr.as_str(), old.timed_out), ("ns", "HISTAA", 0));
        let named = r#"{"unit":"ns","hdr":"A","unanswered":2}"#;
        assert_eq!(serde_json::from_str::<TrialHistogram>(named).unwrap().timed_out, 2);
        let new = TrialHistogram {
            timed_out: 3,
            percentiles: BTreeMap::from([("p99".to_owned(), 0.99)]),
            load: Some(Load::Open),
            ..old.clone()
        };
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<TrialHistogram>(&text).unwrap(), new, "{text}");
        let summary = r#"{"treatment":0,"label":"a","name":"t","unit":"s","least":1.0,"greatest":9.0,
            "timed_out":0,"percentiles":[]}"#;
        let read: HistogramSummary = serde_json::from_str(summary).unwrap();
        assert_eq!((read.minimum, read.maximum), (Some(1.0), Some(9.0)));
        assert!(serde_json::to_string(&read).unwrap().contains(r#""minimum":1.0,"maximum":9.0"#));
        let plain = serde_json::to_string(&old).unwrap();
        assert_eq!(plain, r#"{"unit":"ns","hdr":"HISTAA"}"#);
    }
}

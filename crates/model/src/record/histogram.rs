//! Histograms of trials, and the percentiles of a treatment, which are read from the merged
//! histograms.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Load model: when the requests were sent whose times a histogram holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Load {
    /// Open loop: requests are sent on a schedule that does not wait for answers; each time starts
    /// when the request was due.
    Open,
    /// Closed loop: each request is sent when the last one was answered; each time starts when the
    /// request was sent.
    Closed,
}

/// A histogram of one trial.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "StoredHistogram")]
pub struct TrialHistogram {
    /// Unit of its values.
    pub unit: String,
    /// The histogram in HdrHistogram V2 encoding, base64.
    pub hdr: String,
    /// Number of operations without an answer: values known to exceed every value in the histogram.
    #[serde(default, skip_serializing_if = "is_zero", alias = "unanswered")]
    pub timed_out: u64,
    /// Metrics (or curves, with `at`) that are percentiles of this histogram: name → quantile as a
    /// fraction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub percentiles: BTreeMap<String, f64>,
    /// Position x of the curve point that this histogram belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Load model of the requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Formats of a histogram in a record: the current one with all fields, or the former pair of unit
/// and histogram.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum StoredHistogram {
    /// Unit and histogram: the format of former records.
    Pair(String, String),
    /// The histogram with all of its fields.
    Whole {
        /// Unit of its values.
        unit: String,
        /// The histogram in HdrHistogram V2 encoding, base64.
        hdr: String,
        /// Number of operations without an answer: values known to exceed every value in the
        /// histogram.
        #[serde(default, alias = "unanswered")]
        timed_out: u64,
        /// Metrics (or curves, with `at`) that are percentiles of this histogram: name to quantile.
        #[serde(default)]
        percentiles: BTreeMap<String, f64>,
        /// Position x of the curve point that this histogram belongs to.
        #[serde(default)]
        at: Option<f64>,
        /// Load model of the requests.
        #[serde(default)]
        load: Option<Load>,
    },
}

impl From<StoredHistogram> for TrialHistogram {
    fn from(written: StoredHistogram) -> Self {
        match written {
            StoredHistogram::Pair(unit, hdr) => {
                TrialHistogram { unit, hdr, ..TrialHistogram::default() }
            }
            StoredHistogram::Whole { unit, hdr, timed_out, percentiles, at, load } => {
                TrialHistogram { unit, hdr, timed_out, percentiles, at, load }
            }
        }
    }
}

/// A percentile of a treatment, from the merged histograms of its trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// Quantile as a fraction (0.99).
    pub quantile: f64,
    /// Metric that has this value; `null` when the workload names none.
    pub metric: Option<String>,
    /// Value of the percentile; `null` when it is withheld.
    pub value: Option<f64>,
    /// Number of values in all trials together, including operations without an answer.
    pub samples: u64,
    /// Number of values beyond the percentile.
    pub beyond: u64,
    /// Number of trials that were merged.
    pub trials: u32,
    /// Load model of the requests; `null` when the trials do not record it, or differ in it.
    pub load: Option<Load>,
    /// Reason why the value is withheld; empty when there is a value.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub withheld: String,
}

/// Merged histograms of a treatment's trials that have the same name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramSummary {
    /// Id of the treatment.
    pub treatment: u32,
    /// Label of the treatment.
    pub label: String,
    /// Name of the histogram.
    pub name: String,
    /// Unit of the percentiles.
    pub unit: String,
    /// Position x of the curve point that this histogram belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
    /// Smallest value; `null` without any.
    #[serde(alias = "least")]
    pub minimum: Option<f64>,
    /// Largest recorded value; `null` without any.
    #[serde(alias = "greatest")]
    pub maximum: Option<f64>,
    /// Number of values known to exceed every recorded value.
    #[serde(alias = "unanswered")]
    pub timed_out: u64,
    /// Percentiles, by rising quantile.
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
        let summary = r#"{"treatment":0,"label":"a","name":"t","unit":"s",
            "least":1.0,"greatest":9.0,
            "timed_out":0,"percentiles":[]}"#;
        let read: HistogramSummary = serde_json::from_str(summary).unwrap();
        assert_eq!((read.minimum, read.maximum), (Some(1.0), Some(9.0)));
        assert!(serde_json::to_string(&read).unwrap().contains(r#""minimum":1.0,"maximum":9.0"#));
        let plain = serde_json::to_string(&old).unwrap();
        assert_eq!(plain, r#"{"unit":"ns","hdr":"HISTAA"}"#);
    }
}

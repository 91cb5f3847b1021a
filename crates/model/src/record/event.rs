//! The metrics protocol: messages that a workload program sends to assay while it runs. They are
//! JSON Lines, one object a line, on file descriptor 3 or in the file named by `--metrics`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::{Better, Load, MetricKind, Observation, Severity};

/// Phases of a trial. Only events in `Steady` count as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the measurement window.
    RampUp,
    /// The measurement window of the trial.
    Steady,
    /// After the measurement window.
    RampDown,
}

crate::names! {
    pub Phase::name: RampUp = "ramp-up", Steady = "steady", RampDown = "ramp-down"
}

/// One line of the metrics protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Event {
    /// `{"phase":"steady","t_ns":...}`: a phase begins now (or at `t_ns` of `CLOCK_MONOTONIC`).
    Phase {
        /// The phase that begins.
        phase: Phase,
        /// Time of the change, if the program knows it better than the reader's arrival time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        t_ns: Option<u64>,
    },
    /// `{"metric":"throughput","value":1.5,"unit":"ops/s","better":"higher"}`: the value of a
    /// metric.
    Metric {
        /// Name of the metric.
        metric: String,
        /// Value of the metric; `null` if it could not be measured.
        value: Option<f64>,
        /// Symbol of the unit.
        unit: String,
        /// Direction in which the metric improves; derived from the unit when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        better: Option<Better>,
        /// Origin of the value; measured when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<MetricKind>,
        /// True if the value is a count or computed from counts only.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counted: bool,
    },
    /// `{"curve":"throughput","x":4096,"value":1e9,"x_unit":"B","unit":"B/s"}`: one point of a
    /// curve.
    Point {
        /// Name of the curve.
        curve: String,
        /// Position on the x axis.
        x: f64,
        /// Name of the x axis (`rate`); when absent, x is a size if its unit is bytes.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        x_name: String,
        /// Value of the curve at `x`.
        value: f64,
        /// Symbol of the unit of `x`.
        x_unit: String,
        /// Symbol of the unit of `value`.
        unit: String,
        /// Origin of the value; measured when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<MetricKind>,
    },
    /// `{"histogram":"response_time","unit":"ns","hdr":"<base64>"}`: HdrHistogram V2, base64.
    Histogram {
        /// Name of the histogram.
        histogram: String,
        /// Unit of its values.
        unit: String,
        /// The histogram in HdrHistogram V2 encoding, base64.
        hdr: String,
        /// Number of operations without an answer: values known to exceed every value in the
        /// histogram.
        #[serde(
            default,
            skip_serializing_if = "crate::record::histogram::is_zero",
            alias = "unanswered"
        )]
        timed_out: u64,
        /// Metrics (or curves, with `at`) that are percentiles of this histogram: name to quantile,
        /// such as `{"p99":0.99}`. Their values are then read from the merged histograms of all
        /// trials.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        percentiles: BTreeMap<String, f64>,
        /// Position x of the curve point that this histogram belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<f64>,
        /// Load model: `open` (requests are sent on a schedule) or `closed` (each after the last
        /// answer).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load: Option<Load>,
    },
    /// `{"heat":"response_time","unit":"ns","start_ns":...,"column_ns":1000000000,
    /// "edges":[1000,2000,4000],"counts":[[5,1],[6,0]]}`: how often each value occurred over time,
    /// by column and row.
    Heat {
        /// Name of the quantity.
        heat: String,
        /// Unit of the values.
        unit: String,
        /// Start of the first column, ns of `CLOCK_MONOTONIC`.
        start_ns: u64,
        /// Width of a column in ns.
        column_ns: u64,
        /// Lower edges of the rows, rising, followed by the upper edge of the last row.
        edges: Vec<u64>,
        /// Number of values, by column and row.
        counts: Vec<Vec<u64>>,
    },
    /// `{"sample":"throughput","t_ns":...,"value":1.5e5,"unit":"ops/s"}`: one value of a time
    /// series, stored with the samples of the monitors, under the monitor name `workload`.
    Sample {
        /// Name of the field.
        sample: String,
        /// End of the interval that the value covers, ns of `CLOCK_MONOTONIC`.
        t_ns: u64,
        /// The value; `null` if it could not be measured.
        value: Option<f64>,
        /// Symbol of the unit.
        unit: String,
    },
    /// `{"finding":"F22","message":"..."}`: a finding that the program reports about itself, under
    /// a check of the catalogue, whose severity it gets.
    Finding {
        /// Id or name of the check.
        finding: String,
        /// Description of the observation, as a sentence.
        message: String,
        /// Accepted and ignored: the check has its own name.
        #[serde(default, skip_serializing)]
        name: String,
        /// Accepted and ignored: the check has its own severity.
        #[serde(default, skip_serializing)]
        severity: Option<Severity>,
        /// Remedy; if empty, the check's own.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
    /// `{"evidence":{"saw":"steal","percent":1.2}}`: an observation that supports or weakens the
    /// numbers.
    Evidence {
        /// The observation, typed by `saw`.
        evidence: Observation,
    },
    /// `{"progress":0.4}`: the share of the trial that is done, 0 to 1.
    Progress {
        /// Completed fraction, 0 to 1.
        progress: f64,
    },
    /// `{"note":"..."}`: a sentence for the reader of the record.
    Note {
        /// Text of the note, a sentence.
        note: String,
    },
    /// `{"valid":true,"detail":"..."}`: the program checked its own output.
    Valid {
        /// True if the output is right.
        valid: bool,
        /// Description of the check and its result.
        #[serde(default)]
        detail: String,
    },
}

/// A line that is not an [`Event`].
#[derive(Debug, thiserror::Error)]
#[error("not an event of the metrics protocol: `{line}` ({source})")]
pub struct EventError {
    /// The line's first 200 characters.
    line: String,
    /// The JSON reader's message.
    source: serde_json::Error,
}

impl Event {
    /// Parses one line. Returns `None` for an empty line.
    ///
    /// # Errors
    /// The line is not JSON or not one of the known objects.
    pub fn from_line(line: &str) -> Result<Option<Self>, EventError> {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return Ok(None);
        }
        serde_json::from_str(trimmed)
            .map(Some)
            .map_err(|source| EventError { line: trimmed.chars().take(200).collect(), source })
    }

    /// Returns the event as one line of JSON, without the newline.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_each_kind_of_line() {
        let lines = [
            r#"{"phase":"steady","t_ns":12}"#,
            r#"{"metric":"throughput","value":1.5,"unit":"ops/s","better":"higher"}"#,
            r#"{"metric":"energy","value":null,"unit":"J"}"#,
            r#"{"curve":"throughput","x":4096.0,"value":1e9,"x_unit":"B","unit":"B/s"}"#,
            r#"{"histogram":"response_time","unit":"ns","hdr":"AAAA"}"#,
            r#"{"heat":"t","unit":"ns","start_ns":1,"column_ns":2,"edges":[1,2],"counts":[[3]]}"#,
            r#"{"histogram":"t","unit":"ns","hdr":"A","timed_out":2,"percentiles":{"p99":0.99},
                "at":5,"load":"open"}"#,
            r#"{"sample":"throughput","t_ns":12,"value":1.5,"unit":"ops/s"}"#,
            r#"{"finding":"F22","message":"m"}"#,
            r#"{"evidence":{"saw":"steal","percent":1.5}}"#,
            r#"{"progress":0.4}"#,
            r#"{"note":"warmed"}"#,
            r#"{"valid":false,"detail":"sum is 3, not 4"}"#,
        ];
        for line in lines {
            let event = Event::from_line(line).unwrap().unwrap();
            let again = Event::from_line(&event.to_line()).unwrap().unwrap();
            assert_eq!(event, again, "{line}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(Event::from_line(r#"{"metrik":"x","value":1}"#).is_err());
        assert!(Event::from_line("progress 3").is_err());
        assert!(Event::from_line("  ").unwrap().is_none());
    }
}

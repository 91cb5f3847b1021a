//! What a workload program says to assay while it runs: JSON Lines on file descriptor 3 or in the
//! file named by `--metrics`, one object a line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::{Better, Kind, Load, Observation, Severity};

/// The phases of a trial. Only what happens in `Steady` counts as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Before the measurement window.
    RampUp,
    /// The measurement window.
    Steady,
    /// After the measurement window.
    RampDown,
}

impl Phase {
    /// The phase's name as written in records.
    pub fn name(self) -> &'static str {
        match self {
            Phase::RampUp => "ramp-up",
            Phase::Steady => "steady",
            Phase::RampDown => "ramp-down",
        }
    }
}

/// One line of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Event {
    /// `{"phase":"steady","t_ns":...}`: a phase begins now (or at `t_ns` of `CLOCK_MONOTONIC`).
    Phase {
        /// Which phase.
        phase: Phase,
        /// When, if the program knows better than the reader's arrival time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        t_ns: Option<u64>,
    },
    /// `{"metric":"throughput","value":1.5,"unit":"ops/s","better":"higher"}`.
    Metric {
        /// The metric's name.
        metric: String,
        /// Its value; `null` if it could not be had.
        value: Option<f64>,
        /// Its unit's symbol.
        unit: String,
        /// Which way is better; taken from the unit when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        better: Option<Better>,
        /// Where it comes from; measured when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Kind>,
        /// Whether it is a count or made of counts alone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        counted: bool,
    },
    /// `{"curve":"throughput","x":4096,"value":1e9,"x_unit":"B","unit":"B/s"}`: one point of a curve.
    Point {
        /// The curve's name.
        curve: String,
        /// Where on the x axis.
        x: f64,
        /// What x is (`rate`); a size when absent and its unit is bytes.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        x_name: String,
        /// The value there.
        value: f64,
        /// Unit of `x`.
        x_unit: String,
        /// Unit of `value`.
        unit: String,
        /// Where it comes from; measured when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<Kind>,
    },
    /// `{"histogram":"response_time","unit":"ns","hdr":"<base64>"}`: HdrHistogram V2, base64.
    Histogram {
        /// The histogram's name.
        histogram: String,
        /// The unit of its values.
        unit: String,
        /// The histogram, V2 encoding, base64.
        hdr: String,
        /// How many values are known to be longer than any in it: operations without an answer.
        #[serde(default, skip_serializing_if = "crate::histogram::is_zero", alias = "unanswered")]
        timed_out: u64,
        /// The metrics (or curves, with `at`) that are percentiles of it: name to quantile, such as
        /// `{"p99":0.99}`. Theirs are then read from the merged histograms of all trials.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        percentiles: BTreeMap<String, f64>,
        /// The x of the curves' point that it is of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<f64>,
        /// How the requests were sent: `open` (on a schedule) or `closed` (after the last answer).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        load: Option<Load>,
    },
    /// `{"heat":"response_time","unit":"ns","start_ns":...,"column_ns":1000000000,"edges":[1000,2000,4000],
    /// "counts":[[5,1],[6,0]]}`: how often each value occurred over time, by column and row.
    Heat {
        /// What the values are.
        heat: String,
        /// Their unit.
        unit: String,
        /// When the first column begins, ns of `CLOCK_MONOTONIC`.
        start_ns: u64,
        /// How wide a column is, ns.
        column_ns: u64,
        /// Where rows begin, rising, and where the last one ends.
        edges: Vec<u64>,
        /// How many values, by column and row.
        counts: Vec<Vec<u64>>,
    },
    /// `{"sample":"throughput","t_ns":...,"value":1.5e5,"unit":"ops/s"}`: one value of a series over time,
    /// kept beside the samples of the monitors, as those of the monitor `workload`.
    Sample {
        /// The field's name.
        sample: String,
        /// The end of the interval that the value is of, ns of `CLOCK_MONOTONIC`.
        t_ns: u64,
        /// The value; `null` if it could not be had.
        value: Option<f64>,
        /// Its unit's symbol.
        unit: String,
    },
    /// `{"finding":"F22","message":"..."}`: what the program's own look at itself speaks for, by a check of
    /// the catalogue, whose severity it has.
    Finding {
        /// The check's id or name.
        finding: String,
        /// What it saw, as a sentence.
        message: String,
        /// Read and not used: the check has its own.
        #[serde(default, skip_serializing)]
        name: String,
        /// Read and not used: the check has its own.
        #[serde(default, skip_serializing)]
        severity: Option<Severity>,
        /// What to do about it; empty: what the check says.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        remedy: String,
    },
    /// `{"evidence":{"saw":"steal","percent":1.2}}`: what was seen that speaks for or against the numbers.
    Evidence {
        /// What was seen.
        evidence: Observation,
    },
    /// `{"progress":0.4}`: the share of the trial that is done, 0 to 1.
    Progress {
        /// 0 to 1.
        progress: f64,
    },
    /// `{"note":"..."}`: a sentence for the record.
    Note {
        /// The sentence.
        note: String,
    },
    /// `{"valid":true,"detail":"..."}`: the program checked its own output.
    Valid {
        /// Whether the output is right.
        valid: bool,
        /// What was checked and found.
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
    /// Reads one line. Empty lines are `None`.
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

    /// The event as one line, without the newline.
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
            r#"{"histogram":"t","unit":"ns","hdr":"A","timed_out":2,"percentiles":{"p99":0.99},"at":5,"load":"open"}"#,
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

//! Progress events of a running run: JSON Lines, one object a line (`assay run --events FILE`),
//! which a server forwards to its viewers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Heat, Phase, RunId, RunState, TrialOutcome};

/// One line of the event file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LiveEvent {
    /// The run is registered; its trials are about to start.
    Registered {
        /// Id of the run.
        run: RunId,
        /// Id of the process that runs it.
        pid: u32,
        /// Number of planned trials, as far as it is known.
        trials: usize,
    },
    /// A trial is about to start. The first trial of each treatment is announced. When trials
    /// follow each other faster than ten per second, some later ones are not; every trial appears
    /// in an `ended`.
    Trial {
        /// Number of the trial in the plan.
        number: u32,
        /// Block of the trial, from 0.
        block: u32,
        /// Id of the trial's treatment.
        treatment: u32,
        /// Label of the treatment.
        label: String,
        /// Number of trials that have ended.
        done: usize,
        /// Number of planned trials, as far as it is known.
        total: usize,
        /// Geometric mean of this treatment's deciding metric so far.
        estimate: Option<f64>,
        /// Unit of the deciding metric.
        unit: String,
        /// Estimated remaining time in seconds, from the trials so far.
        left_s: Option<f64>,
        /// Current time, nanoseconds of `CLOCK_MONOTONIC`, as in samples.
        t_ns: u64,
    },
    /// Completed fraction of the trial, where the workload reports it.
    Progress {
        /// Completed fraction, 0 to 1.
        progress: f64,
    },
    /// A phase of the trial begins.
    Phase {
        /// The phase that begins.
        phase: Phase,
        /// Time of the change, nanoseconds of `CLOCK_MONOTONIC`.
        t_ns: u64,
    },
    /// Samples of the monitors over the last interval, and values that the workload reports.
    Samples {
        /// One value of each series.
        values: Vec<LiveValue>,
    },
    /// Heat map of a trial, which the workload reports at its end.
    Heat {
        /// Name of the quantity.
        name: String,
        /// The counts by time and value.
        heat: Heat,
    },
    /// Trials that have ended and are recorded.
    Ended {
        /// The trials, in the order in which they ended.
        trials: Vec<EndedTrial>,
    },
    /// A message of assay, or lines that the program printed.
    Log {
        /// Origin of the text: `assay`, `stdout`, `stderr` or `note`.
        from: String,
        /// The text, without the last newline.
        text: String,
    },
    /// The run has ended.
    Finished {
        /// State at the end of the run.
        state: RunState,
        /// Reason for the end, as a sentence.
        reason: String,
    },
}

/// One value of a time series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveValue {
    /// Source of the value: a monitor's name, or `workload`.
    pub monitor: String,
    /// Observed object: `all`, a disk's name; may be empty.
    pub subject: String,
    /// Name of the field.
    pub field: String,
    /// Symbol of the unit.
    pub unit: String,
    /// End of the interval that the value covers, nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    /// The value; `null` if it could not be measured.
    pub value: Option<f64>,
}

/// A trial that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedTrial {
    /// Number of the trial in the plan.
    pub number: u32,
    /// Id of the trial's treatment.
    pub treatment: u32,
    /// Outcome of the trial.
    pub outcome: TrialOutcome,
    /// Value of the deciding metric; `null` if the trial has none.
    pub value: Option<f64>,
    /// Run time of the program in seconds; `null` when it did not run.
    pub lasted_s: Option<f64>,
    /// Reason for the failure; empty when the trial did not fail.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

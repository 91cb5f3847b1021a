//! What a run says of itself while it goes on: JSON Lines, one object a line (`assay run --events
//! FILE`), and what a server hands on to those who watch.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Heat, Outcome, Phase, RunId, RunState};

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LiveEvent {
    /// The run is registered; its trials are about to start.
    Registered {
        /// The run.
        run: RunId,
        /// The process that runs it.
        pid: u32,
        /// How many trials there will be, as far as is known.
        trials: usize,
    },
    /// A trial is about to start. Of trials that follow each other faster than ten a second, some are
    /// not announced; every one is in an `ended`.
    Trial {
        /// Its number.
        number: u32,
        /// Its block.
        block: u32,
        /// Its treatment.
        treatment: u32,
        /// The treatment in words.
        label: String,
        /// How many trials have ended.
        done: usize,
        /// How many there will be, as far as is known.
        total: usize,
        /// The geometric mean of the deciding metric so far for this treatment.
        estimate: Option<f64>,
        /// Its unit.
        unit: String,
        /// Seconds that the rest will take, judged by the trials so far.
        left_s: Option<f64>,
        /// Now, nanoseconds of `CLOCK_MONOTONIC`, as in samples.
        t_ns: u64,
    },
    /// The share of the trial that is done, 0 to 1, where the workload reports it.
    Progress {
        /// The share.
        progress: f64,
    },
    /// A phase of the trial begins.
    Phase {
        /// Which.
        phase: Phase,
        /// When, nanoseconds of `CLOCK_MONOTONIC`.
        t_ns: u64,
    },
    /// What monitors saw in the last interval, and what the workload says of itself.
    Samples {
        /// The values.
        values: Vec<LiveValue>,
    },
    /// How often values occurred over the time of a trial, as the workload says at its end.
    Heat {
        /// What the values are.
        name: String,
        /// The counts.
        heat: Heat,
    },
    /// Trials that have ended and are recorded.
    Ended {
        /// They, in the order in which they ended.
        trials: Vec<EndedTrial>,
    },
    /// A sentence of assay's, or lines that the program printed.
    Log {
        /// Who says it: `assay`, `stdout`, `stderr` or `note`.
        from: String,
        /// The text, without the last newline.
        text: String,
    },
    /// The run has ended.
    Finished {
        /// How.
        state: RunState,
        /// Why, as a sentence.
        reason: String,
    },
}

/// One value of a series over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveValue {
    /// Who saw it: a monitor's name, or `workload`.
    pub monitor: String,
    /// Of what: `all`, a disk's name; may be empty.
    pub subject: String,
    /// The field.
    pub field: String,
    /// Its unit's symbol.
    pub unit: String,
    /// The end of the interval that it is of, nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: u64,
    /// The value; `null` if it could not be had.
    pub value: Option<f64>,
}

/// A trial that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedTrial {
    /// Its number.
    pub number: u32,
    /// Its treatment.
    pub treatment: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The value of the deciding metric; `null` when it has none.
    pub value: Option<f64>,
    /// How long the program ran, seconds; `null` when it did not run.
    pub lasted_s: Option<f64>,
    /// Why it failed; empty when it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

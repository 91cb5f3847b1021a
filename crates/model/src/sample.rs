//! Samples: what monitors saw over time, stored by series so that a sampler allocates nothing per row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a series of samples is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SeriesKey {
    /// The monitor (`cpu`, `disk`, ...).
    pub monitor: String,
    /// What was looked at (`all`, `cpu0`, `vda`, `eth0`); empty for the whole system.
    pub subject: String,
    /// Which of its columns (`user`, `r/s`, `w_await`).
    pub field: String,
    /// Its unit (`%`, `1/s`, `kB/s`, `ms`, `B`).
    pub unit: String,
}

/// One value of one series: a row of `samples.parquet`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRow {
    /// When: nanoseconds of the monotonic clock (`CLOCK_MONOTONIC`), the clock of the whole run.
    pub t_ns: u64,
    /// Index into [`SampleSet::series`].
    pub series: u32,
    /// The value over the interval that ends at `t_ns`; NaN if it could not be had (stored as null).
    pub value: f64,
}

/// Samples of several series, rows in order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleSet {
    /// The series that rows refer to.
    pub series: Vec<SeriesKey>,
    /// The rows.
    pub rows: Vec<SampleRow>,
}

impl SampleSet {
    /// The rows with `from <= t_ns <= to`, with the whole table of series.
    #[must_use]
    pub fn window(&self, from: u64, to: u64) -> SampleSet {
        let start = self.rows.partition_point(|r| r.t_ns < from);
        let end = self.rows.partition_point(|r| r.t_ns <= to);
        SampleSet { series: self.series.clone(), rows: self.rows[start..end.max(start)].to_vec() }
    }

    /// The points `(t_ns, value)` of one series; missing values are NaN. Empty if there is no such
    /// series.
    pub fn points(&self, monitor: &str, subject: &str, field: &str) -> Vec<(u64, f64)> {
        let Some(id) = self
            .series
            .iter()
            .position(|s| s.monitor == monitor && s.subject == subject && s.field == field)
        else {
            return Vec::new();
        };
        self.rows.iter().filter(|r| r.series as usize == id).map(|r| (r.t_ns, r.value)).collect()
    }
}

//! Samples of the monitors over time, stored by series so that a sampler allocates nothing per row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LiveValue;

/// Key of a series of samples.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct SeriesKey {
    /// Name of the monitor (`cpu`, `disk`, ...).
    pub monitor: String,
    /// Observed object (`all`, `cpu0`, `vda`, `eth0`); empty for the whole system.
    pub subject: String,
    /// Name of the column (`user`, `r/s`, `w_await`).
    pub field: String,
    /// Unit of the values (`%`, `1/s`, `kB/s`, `ms`, `B`).
    pub unit: String,
}

/// One value of one series: a row of `samples.parquet`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleRow {
    /// Time in nanoseconds of `CLOCK_MONOTONIC`, the clock of the whole run.
    pub t_ns: u64,
    /// Index into [`SampleSet::series`].
    pub series: u32,
    /// Value over the interval that ends at `t_ns`; NaN if it could not be read (stored as null).
    pub value: f64,
}

/// Samples of several series, with rows in order of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SampleSet {
    /// Series that the rows refer to.
    pub series: Vec<SeriesKey>,
    pub rows: Vec<SampleRow>,
}

impl SampleSet {
    /// Returns the samples as values of a live run; `wanted` selects the series.
    pub fn live(&self, wanted: impl Fn(&SeriesKey) -> bool) -> Vec<LiveValue> {
        let value = |row: &SampleRow| {
            let key = self.series.get(row.series as usize).filter(|key| wanted(key))?.clone();
            let SeriesKey { monitor, subject, field, unit, .. } = key;
            let value = row.value.is_finite().then_some(row.value);
            Some(LiveValue { monitor, subject, field, unit, t_ns: row.t_ns, value })
        };
        self.rows.iter().filter_map(value).collect()
    }

    /// The rows with `from <= t_ns <= to`, with the whole table of series.
    #[must_use]
    pub fn window(&self, from: u64, to: u64) -> SampleSet {
        let start = self.rows.partition_point(|r| r.t_ns < from);
        let end = self.rows.partition_point(|r| r.t_ns <= to);
        SampleSet { series: self.series.clone(), rows: self.rows[start..end.max(start)].to_vec() }
    }

    /// Returns the points `(t_ns, value)` of one series; missing values are NaN. Empty if there is
    /// no such series.
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

//! Data of a history from the archive: the commits of its range, and the points that were measured
//! against a reference for each class of machine.

use assay_model::{Better, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::Confirmation;

/// A revision of a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// Full commit hash, which names the revision in a level of an experiment.
    pub level: String,
    /// Short name of the revision.
    pub label: String,
    /// First line of the commit message.
    pub subject: String,
    /// Author date in RFC 3339; `null` for a work tree.
    pub author_date: Option<String>,
}

/// A point of a series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SeriesPoint {
    /// Index of the revision in the range, from 0.
    pub place: usize,
    /// Full commit hash of the revision.
    pub commit: String,
    /// Short name of the revision.
    pub label: String,
    /// First line of the commit message.
    pub subject: String,
    /// Author date in RFC 3339; `null` if unknown.
    pub author_date: Option<String>,
    /// Ratio to the reference.
    pub ratio: f64,
    /// Standard error of the natural logarithm of the ratio; `null` below two blocks.
    pub log_error: Option<f64>,
    /// Geometric mean of the revision's own values.
    pub value: f64,
    /// Number of blocks in which it was measured.
    pub blocks: usize,
    /// Reference that the revision was measured against.
    pub reference: String,
    /// Runs that measured the point, the newest last.
    pub runs: Vec<RunId>,
}

impl SeriesPoint {
    /// Returns half the width of the 95 % interval of the natural logarithm of the ratio, by
    /// Student's t over the blocks; `None` if there were too few.
    fn half_width(&self) -> Option<f64> {
        let free = (self.blocks.max(2) - 1) as f64;
        Some(crate::distribution::student_quantile(0.975, free) * self.log_error?)
    }

    /// Returns the standard error of the logarithm for which a normal interval would have the same
    /// width.
    pub(crate) fn normal_error(&self) -> Option<f64> {
        Some(self.half_width()? / crate::distribution::normal_quantile(0.975))
    }

    /// Returns the 95 % interval of the ratio; `None` if there were too few blocks.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = self.half_width()?;
        Some((self.ratio * (-half).exp(), self.ratio * half.exp()))
    }

    /// Formats the ratio with its interval.
    pub fn text(&self) -> String {
        match (self.log_error, self.interval()) {
            (Some(0.0), _) if (self.ratio - 1.0).abs() < 1e-9 => "1 (reference)".into(),
            (_, Some((low, high))) => assay_model::units::ratio(self.ratio, low, high).to_string(),
            _ => format!("{:.3} (no interval)", self.ratio),
        }
    }
}

/// A benchmark of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteBenchmark {
    /// Name of the benchmark.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Direction in which it is better.
    pub better: Better,
}

/// Identity of a series in its history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeriesKey<'a> {
    /// Class of machine: processors and number of CPUs.
    pub machine: &'a str,
    /// Name of the benchmark; `None` for the history's metric.
    pub benchmark: Option<&'a str>,
}

/// Series of one class of machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSeries {
    /// Model of the processors and the number of CPUs.
    pub machine: String,
    /// Benchmark of a suite; `None` for the history's metric.
    pub benchmark: Option<SuiteBenchmark>,
    /// Number of series that are judged together, this one included.
    pub family: usize,
    /// Points in the order of the range.
    pub points: Vec<SeriesPoint>,
}

impl MachineSeries {
    /// Returns the identity of the series.
    pub fn key(&self) -> SeriesKey<'_> {
        let benchmark = self.benchmark.as_ref().map(|b| b.name.as_str());
        SeriesKey { machine: &self.machine, benchmark }
    }
}

/// Measured revisions that lack a benchmark of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BenchmarkGap {
    /// Class of machine: processors and number of CPUs.
    pub machine: String,
    /// Name of the benchmark.
    pub benchmark: String,
    /// Label of the first measured revision that has it.
    pub first: String,
    /// Label of the last measured revision that has it.
    pub last: String,
    /// True if the oldest measured revision lacks it.
    pub new: bool,
    /// True if the newest measured revision lacks it.
    pub gone: bool,
    /// True if the reference has it, so that it has a series.
    pub in_reference: bool,
}

/// Result of a fresh experiment of two revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshResult {
    /// Run of the experiment.
    pub run: RunId,
    /// Class of machine that the run was on.
    pub machine: String,
    /// Last revision of the old level.
    pub before: String,
    /// First revision of the new level.
    pub commit: String,
    /// Benchmark of a suite; `None` for the history's metric.
    pub benchmark: Option<String>,
    /// Ratio after / before; `None` if the run has no ratio with an interval.
    pub found: Option<Confirmation>,
    /// True if the ratio also differs from 1 among all benchmarks of the run.
    pub established: bool,
}

impl FreshResult {
    /// Returns true if both sides enclose these revisions of the range.
    pub(crate) fn spans(&self, range: &[Commit], revisions: &[&str]) -> bool {
        let place = |level: &str| range.iter().position(|c| c.level == level);
        let (before, after) = (place(&self.before), place(&self.commit));
        let (first, last) = (revisions.first(), revisions.last());
        before < first.and_then(|c| place(c))
            && last.and_then(|c| place(c)) <= after
            && before.is_some()
    }
}

/// Everything that the archive holds of a history.
#[derive(Debug, Clone, Default)]
pub struct HistoryData {
    /// One series for each class of machine, the longest first.
    pub series: Vec<MachineSeries>,
    /// Indices in the range of revisions that do not build or whose trials fail.
    pub unusable: Vec<usize>,
    /// Benchmarks of a suite that some of the measured revisions lack.
    pub gaps: Vec<BenchmarkGap>,
    /// Finished experiments of suspected changes, the oldest first.
    pub fresh: Vec<FreshResult>,
    /// References of earlier runs that were never measured together with the current one.
    pub unlinked: Vec<String>,
    /// Revisions that were measured but are not in the range.
    pub outside: Vec<String>,
    /// Sentences about data that was left out.
    pub notes: Vec<String>,
}

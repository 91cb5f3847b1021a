//! Data of a history from the archive: the commits of its range, and the points that were measured
//! against a reference for each class of machine.

use assay_model::RunId;
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
            (Some(0.0), _) => "1 (reference)".into(),
            (_, Some((low, high))) => assay_model::units::ratio(self.ratio, low, high).to_string(),
            _ => format!("{:.3} (no interval)", self.ratio),
        }
    }
}

/// Series of one class of machine.
#[derive(Debug, Clone, PartialEq)]
pub struct MachineSeries {
    /// Model of the processors and the number of CPUs.
    pub machine: String,
    /// Points in the order of the range.
    pub points: Vec<SeriesPoint>,
}

/// Result of a fresh experiment of two revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct FreshResult {
    /// Run of the experiment.
    pub run: RunId,
    /// Class of machine that the run was on.
    pub machine: String,
    /// First revision of the new level.
    pub commit: String,
    /// Ratio after / before; `None` if the run has no ratio with an interval.
    pub found: Option<Confirmation>,
}

/// Everything that the archive holds of a history.
#[derive(Debug, Clone, Default)]
pub struct HistoryData {
    /// One series for each class of machine, the longest first.
    pub series: Vec<MachineSeries>,
    /// Indices in the range of revisions that do not build or whose trials fail.
    pub unusable: Vec<usize>,
    /// Finished experiments of suspected changes, the oldest first.
    pub fresh: Vec<FreshResult>,
    /// References of earlier runs that were never measured together with the current one.
    pub unlinked: Vec<String>,
    /// Revisions that were measured but are not in the range.
    pub outside: Vec<String>,
    /// Sentences about data that was left out.
    pub notes: Vec<String>,
}

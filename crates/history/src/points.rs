//! What the archive has of a history: the commits of its range, and for each class of machine the points that
//! were measured beside a reference.

use assay_model::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Confirmation;

/// A revision of a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Commit {
    /// How an experiment's level names it: the whole commit.
    pub level: String,
    /// What it is called.
    pub label: String,
    /// The first line of its message.
    pub subject: String,
    /// When its author wrote it, RFC 3339; `null` for a work tree.
    pub author_date: Option<String>,
}

/// A point of a series.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Point {
    /// Its place in the range, from 0.
    pub place: usize,
    /// The whole commit.
    pub commit: String,
    /// What it is called.
    pub label: String,
    /// The first line of its message.
    pub subject: String,
    /// When its author wrote it, RFC 3339; `null` when that is not known.
    pub author_date: Option<String>,
    /// The ratio to the reference.
    pub ratio: f64,
    /// The standard error of its natural logarithm; `null` below two blocks.
    pub log_error: Option<f64>,
    /// The geometric mean of its own values.
    pub value: f64,
    /// How many blocks.
    pub blocks: usize,
    /// The reference that it was measured beside.
    pub reference: String,
    /// The runs that it was measured in, the newest last.
    pub runs: Vec<RunId>,
}

impl Point {
    /// Half the 95 % interval of its ratio's natural logarithm, by Student's t over its blocks; `None` when there were
    /// too few.
    fn half_width(&self) -> Option<f64> {
        let free = (self.blocks.max(2) - 1) as f64;
        Some(assay_stats::distribution::student_quantile(0.975, free) * self.log_error?)
    }

    /// The standard error of its logarithm that a normal interval of that width would have.
    pub(crate) fn normal_error(&self) -> Option<f64> {
        Some(self.half_width()? / assay_stats::distribution::normal_quantile(0.975))
    }

    /// The 95 % interval of its ratio; `None` when there were too few blocks.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let half = self.half_width()?;
        Some((self.ratio * (-half).exp(), self.ratio * half.exp()))
    }

    /// Its ratio with its interval, as text.
    pub fn text(&self) -> String {
        match (self.log_error, self.interval()) {
            (Some(0.0), _) => "1 (reference)".into(),
            (_, Some((low, high))) => assay_model::units::ratio(self.ratio, low, high).to_string(),
            _ => format!("{:.3} (no interval)", self.ratio),
        }
    }
}

/// The series of one class of machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The processors and how many there are.
    pub machine: String,
    /// Its points, in the order of the range.
    pub points: Vec<Point>,
}

/// What a fresh experiment of two revisions found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fresh {
    /// Its run.
    pub run: RunId,
    /// The class of machine.
    pub machine: String,
    /// The first revision of the new level.
    pub commit: String,
    /// after / before; `None` when it has no ratio with an interval.
    pub found: Option<Confirmation>,
}

/// What the archive has of a history.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// A series for each class of machine, the longest first.
    pub series: Vec<Series>,
    /// Places of the range that do not build or whose trials fail.
    pub unusable: Vec<usize>,
    /// Fresh experiments of suspected changes that are over, the oldest first.
    pub fresh: Vec<Fresh>,
    /// References of earlier runs that were never measured beside the one of now.
    pub unlinked: Vec<String>,
    /// Revisions that were measured and are not in the range.
    pub outside: Vec<String>,
    /// What was left out, as sentences.
    pub notes: Vec<String>,
}

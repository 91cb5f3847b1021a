//! Series that other programs measured: their changes are computed, and stay suspected, since there is nothing to
//! measure afresh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::together::{Together, together};
use crate::{ChangePoint, Slope, analyse};

/// A quoted point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotedPoint {
    /// When, as the file says it; empty where it does not.
    pub time: String,
    /// Of which revision; empty where the file does not say.
    pub revision: String,
    /// The value.
    pub value: f64,
}

/// A quoted series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotedSeries {
    /// What it is called.
    pub name: String,
    /// Its unit; empty where the file does not say.
    pub unit: String,
    /// Its points, in order.
    pub points: Vec<QuotedPoint>,
}

/// What was read of a file of another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The version of the format.
    pub schema_version: u32,
    /// The file.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
    /// The series.
    pub series: Vec<QuotedSeries>,
    /// Values that are no numbers, which the series exclude.
    #[serde(alias = "left_out")]
    pub excluded: usize,
}

/// Quoted series with their changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Quoted {
    /// The version of the format.
    pub schema_version: u32,
    /// The file.
    pub file: String,
    /// Its SHA-256.
    pub sha256: String,
    /// Nothing here was measured by assay, and nothing can be confirmed.
    pub kind: &'static str,
    /// Places where most series move at once.
    pub together: Vec<Together>,
    /// The series.
    pub series: Vec<QuotedShown>,
}

/// A quoted series with its changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuotedShown {
    /// What it is called.
    pub name: String,
    /// Its unit; empty where the file does not say.
    pub unit: String,
    /// How many points.
    pub points: usize,
    /// True if `visible` is a share of the level, since all values are positive, and not in the series' unit.
    pub relative: bool,
    /// The step in the middle that 95 of 100 series of so many points and this noise would show (of fewer than six points,
    /// what six would show); `null` below two points.
    pub visible: Option<f64>,
    /// Its changes.
    pub changes: Vec<QuotedChange>,
    /// Stretches in which it moves slowly.
    pub slopes: Vec<Slope>,
}

/// A change of a quoted series.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuotedChange {
    /// When, as the file says it.
    pub time: String,
    /// At which revision, as the file says it.
    pub revision: String,
    /// Where and how much.
    pub change: ChangePoint,
}

/// Analyses imported series.
pub fn quoted(imported: &Imported) -> Quoted {
    let series = imported.series.iter().map(|s| {
        let values: Vec<f64> = s.points.iter().map(|p| p.value).collect();
        let found = analyse(&values);
        QuotedShown {
            name: s.name.clone(),
            unit: s.unit.clone(),
            points: values.len(),
            relative: found.relative,
            visible: found.visible,
            changes: found
                .changes
                .into_iter()
                .map(|change| QuotedChange {
                    time: s.points[change.at].time.clone(),
                    revision: s.points[change.at].revision.clone(),
                    change,
                })
                .collect(),
            slopes: found.slopes,
        }
    });
    let series: Vec<QuotedShown> = series.collect();
    Quoted {
        schema_version: 1,
        file: imported.file.clone(),
        sha256: imported.sha256.clone(),
        kind: "quoted",
        together: together(&imported.series, &series),
        series,
    }
}

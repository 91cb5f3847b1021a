//! Series measured by other programs. Their changes are computed but stay suspected, because
//! nothing can be measured afresh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::together::{ChangedSeries, CommonMove, together};
use crate::series::{ChangePoint, Slope, analyse};

/// A point of a quoted series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotedPoint {
    /// Time as given in the file; empty if it has none.
    pub time: String,
    /// Revision as given in the file; empty if it has none.
    pub revision: String,
    /// Measured value, in the unit of the series.
    pub value: f64,
}

/// A series quoted from another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuotedSeries {
    /// Name of the series.
    pub name: String,
    /// Unit of the values; empty if the file has none.
    pub unit: String,
    /// Points in the order of the file.
    pub points: Vec<QuotedPoint>,
}

/// Series read from a file of another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedSeries {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Series in the file.
    pub series: Vec<QuotedSeries>,
    /// Number of values that are not finite numbers, which the series exclude.
    #[serde(alias = "left_out")]
    pub excluded: usize,
}

/// Quoted series with their changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuotedHistory {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the file.
    pub file: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Always `quoted`: nothing here was measured by assay, and nothing can be confirmed.
    pub kind: &'static str,
    /// Places where most series move at once.
    pub together: Vec<CommonMove>,
    /// Series with their changes.
    pub series: Vec<QuotedSeriesView>,
}

/// A quoted series with its changes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuotedSeriesView {
    /// Name of the series.
    pub name: String,
    /// Unit of the values; empty if the file has none.
    pub unit: String,
    /// Number of points in the series.
    pub points: usize,
    /// True if `visible` is a share of the level, which is the case if all values are positive;
    /// otherwise it is in the series' unit.
    pub relative: bool,
    /// Step in the middle that 95 of 100 series with this length and noise would show. For fewer
    /// than six points, the step that six points would show; `null` below two points.
    pub visible: Option<f64>,
    /// Changes of level in the series.
    pub changes: Vec<QuotedChange>,
    /// Stretches in which the level moves slowly.
    pub slopes: Vec<Slope>,
}

/// A change of a quoted series.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct QuotedChange {
    /// Time as given in the file.
    pub time: String,
    /// Revision as given in the file.
    pub revision: String,
    /// Place and size of the change.
    pub change: ChangePoint,
}

/// Finds the changes of imported series, and the places where most of them move at once.
pub fn quoted(imported: &ImportedSeries) -> QuotedHistory {
    let series = imported.series.iter().map(|s| {
        let values: Vec<f64> = s.points.iter().map(|p| p.value).collect();
        let found = analyse(&values);
        QuotedSeriesView {
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
    let series: Vec<QuotedSeriesView> = series.collect();
    let changed = imported.series.iter().zip(&series).map(|(s, view)| ChangedSeries {
        places: s.points.iter().map(|p| (p.time.as_str(), p.revision.as_str())).collect(),
        values: s.points.iter().map(|p| p.value).collect(),
        relative: view.relative,
        changes: view.changes.iter().map(|c| &c.change).collect(),
    });
    let together = together(&changed.collect::<Vec<_>>());
    QuotedHistory {
        schema_version: 1,
        file: imported.file.clone(),
        sha256: imported.sha256.clone(),
        kind: "quoted",
        together,
        series,
    }
}

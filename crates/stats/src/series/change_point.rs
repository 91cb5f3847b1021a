//! Change points, their states, and their confirmation by a fresh experiment.

use assay_model::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::series::SeriesPoint;

/// State of a suspected or known change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChangeState {
    /// The detector found the change in the series; no fresh experiment has tested it.
    #[default]
    Suspected,
    /// A fresh interleaved experiment of both sides found the change. Only this state raises an
    /// alarm.
    Confirmed,
    /// A fresh experiment found that there is no such change.
    Refuted,
    /// A fresh experiment was inconclusive.
    Open,
    /// A person acknowledged the change, with an optional note.
    Acknowledged,
}

assay_model::names! {
    /// Returns the state's name in files and output.
    pub ChangeState::name, ALL: Suspected = "suspected", Confirmed = "confirmed",
        Refuted = "refuted", Open = "open", Acknowledged = "acknowledged"
}

impl ChangeState {
    /// Returns true if the state raises an alarm.
    pub fn alarms(self) -> bool {
        self == ChangeState::Confirmed
    }
}

/// A place where the level of a series changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangePoint {
    /// Index of the first point at the new level.
    pub at: usize,
    /// First and last index at which the change may be (95 %).
    pub place: (usize, usize),
    /// Level before the change, in the series' unit (a robust mean).
    pub before: f64,
    /// Level after the change, in the series' unit (a robust mean).
    pub after: f64,
    /// Interval of the difference after − before.
    pub difference: Interval,
    /// Ratio after / before; `null` if a level is not positive.
    pub ratio: Option<f64>,
    /// Square root of the likelihood ratio, to be compared with [`crate::series::limit`].
    pub score: f64,
    /// State of the change, from fresh experiments or a person.
    #[serde(default)]
    pub state: ChangeState,
}

/// Result of a fresh experiment of the revisions on both sides: after / before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// Ratio of the new side to the old one.
    pub ratio: f64,
    /// Confidence interval of the ratio.
    pub interval: Interval,
}

impl ChangePoint {
    /// Returns the points on both sides of the range in which the change may be. Nothing may have
    /// changed at its most likely place.
    pub fn sides<'a>(&self, points: &'a [SeriesPoint]) -> [&'a SeriesPoint; 2] {
        [&points[self.place.0.max(1) - 1], &points[self.place.1]]
    }

    /// Returns the state after a fresh experiment. The change is *confirmed* if the whole interval
    /// lies on the suspected side of 1. It is *refuted* if the interval lies on the other side, or
    /// excludes every change of at least half the suspected size. Otherwise it is *open*. An
    /// acknowledged change stays acknowledged.
    pub fn judge(&self, fresh: &Confirmation) -> ChangeState {
        if self.state == ChangeState::Acknowledged {
            return ChangeState::Acknowledged;
        }
        let Some(suspected) = self.ratio.filter(|r| *r > 0.0) else { return ChangeState::Open };
        let (low, high) = (fresh.interval.low, fresh.interval.high);
        let half = suspected.sqrt();
        let (same, other, small) = if suspected > 1.0 {
            (low > 1.0, high < 1.0, high < half)
        } else {
            (high < 1.0, low > 1.0, low > half)
        };
        if other || small {
            ChangeState::Refuted
        } else if same {
            ChangeState::Confirmed
        } else {
            ChangeState::Open
        }
    }
}

/// A stretch in which the level moves slowly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// Index at which the level starts to move.
    pub from: usize,
    /// Index from which the level stays constant.
    pub to: usize,
    /// Level before the slope.
    pub before: f64,
    /// Level after the slope.
    pub after: f64,
}

impl Slope {
    /// Returns the change of the level per point.
    pub fn per_point(&self) -> f64 {
        (self.after - self.before) / (self.to - self.from).max(1) as f64
    }
}

/// Change points, slopes and noise of a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesAnalysis {
    /// Number of points in the series.
    pub points: usize,
    /// True if `sd` is a share of the level, which is the case if all values are positive;
    /// otherwise it is in the series' unit.
    pub relative: bool,
    /// Robust standard deviation of the points around their levels.
    pub sd: f64,
    /// Step in the middle that 95 of 100 such series would show, in the unit of `sd`. For fewer
    /// than the six points that a step needs, the step that six points would show; `null` below two
    /// points.
    pub visible: Option<f64>,
    /// Correlation of neighbouring points (lag 1).
    pub correlation: f64,
    /// Steps in the order of their places.
    pub changes: Vec<ChangePoint>,
    /// Slow slopes in the order of their places.
    pub slopes: Vec<Slope>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(ratio: f64, state: ChangeState) -> ChangePoint {
        ChangePoint {
            at: 5,
            place: (5, 5),
            before: 1.0,
            after: ratio,
            difference: Interval { low: 0.0, high: 0.0, level: 0.95 },
            ratio: Some(ratio),
            score: 9.0,
            state,
        }
    }

    fn fresh(low: f64, high: f64) -> Confirmation {
        Confirmation { ratio: (low * high).sqrt(), interval: Interval { low, high, level: 0.95 } }
    }

    #[test]
    fn a_fresh_experiment_confirms_refutes_or_leaves_open() {
        let slower = change(1.10, ChangeState::Suspected);
        assert_eq!(slower.judge(&fresh(1.05, 1.12)), ChangeState::Confirmed);
        assert_eq!(slower.judge(&fresh(0.99, 1.01)), ChangeState::Refuted);
        assert_eq!(slower.judge(&fresh(0.90, 0.98)), ChangeState::Refuted);
        assert_eq!(slower.judge(&fresh(0.95, 1.15)), ChangeState::Open);
        assert_eq!(
            change(0.9, ChangeState::Suspected).judge(&fresh(0.85, 0.93)),
            ChangeState::Confirmed
        );
        assert_eq!(
            change(0.9, ChangeState::Suspected).judge(&fresh(0.98, 1.02)),
            ChangeState::Refuted
        );
        assert_eq!(
            change(1.1, ChangeState::Acknowledged).judge(&fresh(1.05, 1.12)),
            ChangeState::Acknowledged
        );
    }

    #[test]
    fn a_real_change_much_smaller_than_suspected_is_not_the_suspected_one() {
        assert_eq!(
            change(1.5, ChangeState::Suspected).judge(&fresh(1.01, 1.03)),
            ChangeState::Refuted
        );
    }
}

//! A change point, its state, and what a fresh experiment makes of it.

use assay_model::Interval;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The detector found it in the series; no fresh experiment has looked.
    #[default]
    Suspected,
    /// A fresh interleaved experiment of both sides found it. The only state that raises an alarm.
    Confirmed,
    /// A fresh experiment found that there is no such change.
    Refuted,
    /// A fresh experiment looked and could not tell.
    Open,
    /// A person knows of it and gave a note.
    Acknowledged,
}

impl State {
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            State::Suspected => "suspected",
            State::Confirmed => "confirmed",
            State::Refuted => "refuted",
            State::Open => "open",
            State::Acknowledged => "acknowledged",
        }
    }

    /// Whether somebody should be woken.
    pub fn alarms(self) -> bool {
        self == State::Confirmed
    }
}

/// A place where the level of a series changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangePoint {
    /// The index of the first point of the new level.
    pub at: usize,
    /// The first and last index where it may be (95 %).
    pub place: (usize, usize),
    /// The level before, in the series' unit (a robust mean).
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// after − before.
    pub difference: Interval,
    /// after / before; `null` when a level is not positive.
    pub ratio: Option<f64>,
    /// The root of the likelihood ratio, to be read against [`crate::limit`].
    pub score: f64,
    /// What is known of it.
    #[serde(default)]
    pub state: State,
}

/// What a fresh experiment of the revisions on both sides found: after / before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Confirmation {
    /// The ratio of the new side to the old one.
    pub ratio: f64,
    /// Its interval.
    pub interval: Interval,
}

impl ChangePoint {
    /// The state after a fresh experiment: *confirmed* when its interval lies on the suspected side of 1
    /// as a whole, *refuted* when it lies on the other side or leaves out everything from half the
    /// suspected size on, *open* otherwise. What is acknowledged stays so.
    pub fn judge(&self, fresh: &Confirmation) -> State {
        if self.state == State::Acknowledged {
            return State::Acknowledged;
        }
        let Some(suspected) = self.ratio.filter(|r| *r > 0.0) else { return State::Open };
        let (low, high) = (fresh.interval.low, fresh.interval.high);
        let half = suspected.sqrt();
        let (same, other, small) = if suspected > 1.0 {
            (low > 1.0, high < 1.0, high < half)
        } else {
            (high < 1.0, low > 1.0, low > half)
        };
        if other || small {
            State::Refuted
        } else if same {
            State::Confirmed
        } else {
            State::Open
        }
    }
}

/// A stretch in which the level moves slowly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Slope {
    /// The index where it starts to move.
    pub from: usize,
    /// The index from which it stays.
    pub to: usize,
    /// The level before.
    pub before: f64,
    /// The level after.
    pub after: f64,
}

impl Slope {
    /// The change from point to point.
    pub fn per_point(&self) -> f64 {
        (self.after - self.before) / (self.to - self.from).max(1) as f64
    }
}

/// What a series says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Analysis {
    /// How many points.
    pub points: usize,
    /// True if `sd` is a share of the level, as for series whose values are all positive, and not in the series' unit.
    pub relative: bool,
    /// The robust standard deviation of the points around their levels.
    pub sd: f64,
    /// The step in the middle that 95 of 100 such series would show, in the unit of `sd`; of fewer points than the six
    /// that a step takes, what six would show; `null` below two points.
    pub visible: Option<f64>,
    /// The correlation of neighbours.
    pub correlation: f64,
    /// Steps, by place.
    pub changes: Vec<ChangePoint>,
    /// Slow slopes, by place.
    pub slopes: Vec<Slope>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(ratio: f64, state: State) -> ChangePoint {
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
        let slower = change(1.10, State::Suspected);
        assert_eq!(slower.judge(&fresh(1.05, 1.12)), State::Confirmed);
        assert_eq!(slower.judge(&fresh(0.99, 1.01)), State::Refuted);
        assert_eq!(slower.judge(&fresh(0.90, 0.98)), State::Refuted);
        assert_eq!(slower.judge(&fresh(0.95, 1.15)), State::Open);
        assert_eq!(change(0.9, State::Suspected).judge(&fresh(0.85, 0.93)), State::Confirmed);
        assert_eq!(change(0.9, State::Suspected).judge(&fresh(0.98, 1.02)), State::Refuted);
        assert_eq!(change(1.1, State::Acknowledged).judge(&fresh(1.05, 1.12)), State::Acknowledged);
    }

    #[test]
    fn a_real_change_much_smaller_than_suspected_is_not_the_suspected_one() {
        assert_eq!(change(1.5, State::Suspected).judge(&fresh(1.01, 1.03)), State::Refuted);
    }
}

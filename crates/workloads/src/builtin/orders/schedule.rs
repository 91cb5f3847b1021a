//! The points of a trial: their warehouses and their length.

use std::time::Duration;

/// Lengths of the phases of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// Length of the measurement below N warehouses.
    pub below: Duration,
    /// Length of the measurement from N to 2N warehouses.
    pub scored: Duration,
    /// Length of the measurement beyond 2N warehouses; `None`: the same as `scored`.
    pub beyond: Option<Duration>,
    /// Length of the ramp-up.
    pub ramp_up: Duration,
    /// Length of the ramp-down.
    pub ramp_down: Duration,
}

impl Lengths {
    /// Returns the lengths of a profile: `rules` as required by the rule pack `orders`, `quick`
    /// short, `rate` and `search` for points at a rate, before which no others warm up.
    pub fn for_profile(profile: &str) -> Self {
        let (s, ms) = (Duration::from_secs, Duration::from_millis);
        match profile {
            "rules" => Lengths {
                below: s(30),
                scored: s(240),
                beyond: None,
                ramp_up: s(3),
                ramp_down: s(20),
            },
            "rate" => Lengths {
                below: s(10),
                scored: s(10),
                beyond: None,
                ramp_up: s(5),
                ramp_down: s(1),
            },
            "search" => {
                Lengths { below: s(5), scored: s(5), ramp_up: s(2), ..Lengths::for_profile("rate") }
            }
            _ => Lengths {
                below: s(1),
                scored: s(3),
                beyond: Some(s(1)),
                ramp_up: s(1),
                ramp_down: ms(100),
            },
        }
    }
}

/// A planned point of the trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedPoint {
    /// Number of warehouses of each instance.
    pub warehouses: u32,
    /// Length of the measurement.
    pub length: Duration,
    /// True if the point counts for the score.
    pub scored: bool,
    /// Requests per second of all instances; `None`: a thread begins a transaction when its last
    /// one is done.
    pub rate: Option<f64>,
}

/// Returns the number of warehouses of the last point: 2N, but at least `minimum`.
pub fn last(peak: u32, minimum: u32) -> u32 {
    peak.saturating_mul(2).max(minimum)
}

/// Returns the points with 1, 2, 3 ... warehouses up to the last.
pub fn points(peak: u32, minimum: u32, lengths: &Lengths) -> Vec<PlannedPoint> {
    let of = |warehouses| {
        let scored = (peak..=peak.saturating_mul(2)).contains(&warehouses);
        let length = match lengths.beyond {
            _ if warehouses < peak => lengths.below,
            Some(beyond) if !scored => beyond.min(lengths.scored),
            _ => lengths.scored,
        };
        PlannedPoint { warehouses, length, scored, rate: None }
    };
    (1..=last(peak, minimum)).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_as_the_rules_have_them() {
        let all = points(2, 8, &Lengths::for_profile("rules"));
        assert_eq!(all.len(), 8);
        let secs: Vec<u64> = all.iter().map(|p| p.length.as_secs()).collect();
        assert_eq!(secs, [30, 240, 240, 240, 240, 240, 240, 240]);
        let scored: Vec<u32> = all.iter().filter(|p| p.scored).map(|p| p.warehouses).collect();
        assert_eq!(scored, [2, 3, 4]);
        assert_eq!(points(5, 8, &Lengths::for_profile("rules")).len(), 10);
        assert_eq!(points(1, 1, &Lengths::for_profile("quick")).len(), 2);
        let quick: u64 =
            points(2, 8, &Lengths::for_profile("quick")).iter().map(|p| p.length.as_secs()).sum();
        assert_eq!(quick, 1 + 3 * 3 + 4);
    }
}

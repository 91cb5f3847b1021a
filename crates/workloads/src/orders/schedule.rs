//! The points of a trial: how many warehouses, how long.

use std::time::Duration;

/// How long the parts of points are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The measurement of points below N.
    pub below: Duration,
    /// That of points from N on.
    pub scored: Duration,
    /// That of points beyond 2N; `None`: as the scored ones.
    pub beyond: Option<Duration>,
    /// Before each.
    pub ramp_up: Duration,
    /// After each.
    pub ramp_down: Duration,
}

impl Lengths {
    /// Those of a profile: `rules` as the rule pack `orders` wants them, `quick` short.
    pub fn of(profile: &str) -> Self {
        let (s, ms) = (Duration::from_secs, Duration::from_millis);
        match profile {
            "rules" => Lengths {
                below: s(30),
                scored: s(240),
                beyond: None,
                ramp_up: s(3),
                ramp_down: s(20),
            },
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

/// One point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// Warehouses of each instance.
    pub warehouses: u32,
    /// How long it is measured.
    pub length: Duration,
    /// Whether it is part of the score.
    pub scored: bool,
}

/// How many warehouses the last point has: 2N, and `minimum` at least.
pub fn last(peak: u32, minimum: u32) -> u32 {
    peak.saturating_mul(2).max(minimum)
}

/// The points: 1, 2, 3 ... to the last.
pub fn points(peak: u32, minimum: u32, lengths: &Lengths) -> Vec<Planned> {
    let of = |warehouses| {
        let scored = (peak..=peak.saturating_mul(2)).contains(&warehouses);
        let length = match lengths.beyond {
            _ if warehouses < peak => lengths.below,
            Some(beyond) if !scored => beyond.min(lengths.scored),
            _ => lengths.scored,
        };
        Planned { warehouses, length, scored }
    };
    (1..=last(peak, minimum)).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_as_the_rules_have_them() {
        let all = points(2, 8, &Lengths::of("rules"));
        assert_eq!(all.len(), 8);
        let secs: Vec<u64> = all.iter().map(|p| p.length.as_secs()).collect();
        assert_eq!(secs, [30, 240, 240, 240, 240, 240, 240, 240]);
        let scored: Vec<u32> = all.iter().filter(|p| p.scored).map(|p| p.warehouses).collect();
        assert_eq!(scored, [2, 3, 4]);
        assert_eq!(points(5, 8, &Lengths::of("rules")).len(), 10);
        assert_eq!(points(1, 1, &Lengths::of("quick")).len(), 2);
        let quick: u64 =
            points(2, 8, &Lengths::of("quick")).iter().map(|p| p.length.as_secs()).sum();
        assert_eq!(quick, 1 + 3 * 3 + 4);
    }
}

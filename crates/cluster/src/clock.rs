//! Offsets between a node's clock and the collector's.
//!
//! The response to a ping was made between sending and arrival, so the ping with the shortest round
//! trip gives the most accurate offset.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measurement of the offset of a node's clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockReading {
    /// Time of the measurement, ns of the collector's `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Monotonic clock of the node minus the collector's, ns.
    pub offset_ns: i64,
    /// Maximum error of the offset: half the round trip, ns.
    pub error_ns: u64,
    /// Wall clock of the node minus the collector's, ns, with the same maximum error.
    pub day_offset_ns: i64,
}

/// Offsets of a node's clock before and after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Measurement before the trial.
    pub before: ClockReading,
    /// Measurement after the trial; `null` when the node was gone by then.
    pub after: Option<ClockReading>,
}

impl Clock {
    /// Converts a time of the node to the collector's clock. Between the two measurements the
    /// offset changes linearly.
    pub fn here(&self, t_ns: u64) -> u64 {
        let by = |offset: f64| (t_ns as f64 - offset).max(0.0);
        let before = self.before.offset_ns as f64;
        let Some(after) = self.after.filter(|a| a.at_ns > self.before.at_ns) else {
            return shift(t_ns, self.before.offset_ns);
        };
        let span = (after.at_ns - self.before.at_ns) as f64;
        let share = (by(before) - self.before.at_ns as f64) / span;
        let moved = (after.offset_ns - self.before.offset_ns) as f64 * share.clamp(0.0, 1.0);
        shift(t_ns, self.before.offset_ns + moved.round() as i64)
    }

    /// Returns how far the offset moved during the trial beyond the error of the measurements, in
    /// ns.
    pub fn drift_ns(&self) -> Option<u64> {
        let after = self.after?;
        let moved = after.offset_ns.abs_diff(self.before.offset_ns);
        Some(moved.saturating_sub(self.before.error_ns + after.error_ns))
    }

    /// Returns how far the node's wall clock moved against the collector's during the trial, beyond
    /// the drift of their monotonic clocks, in ns.
    pub fn stepped_ns(&self) -> Option<u64> {
        let after = self.after?;
        let day = after.day_offset_ns.saturating_sub(self.before.day_offset_ns);
        Some(day.abs_diff(after.offset_ns.saturating_sub(self.before.offset_ns)))
    }

    /// Returns the maximum error of a converted time in ns.
    pub fn error_ns(&self) -> u64 {
        self.before.error_ns.max(self.after.map_or(0, |a| a.error_ns))
    }
}

fn shift(t_ns: u64, offset_ns: i64) -> u64 {
    if offset_ns >= 0 {
        t_ns.saturating_sub(offset_ns.unsigned_abs())
    } else {
        t_ns.saturating_add(offset_ns.unsigned_abs())
    }
}

/// Results of several pings.
#[derive(Debug, Default)]
pub(crate) struct Pings {
    looks: VecDeque<ClockReading>,
}

impl Pings {
    /// Adds a round trip: time sent and time back on this machine's clock, the node's monotonic and
    /// wall clock, and this machine's wall clock when sent.
    pub fn add(&mut self, sent_ns: u64, back_ns: u64, there_ns: u64, there_day: i64, our_day: i64) {
        let trip = back_ns.saturating_sub(sent_ns);
        let middle = sent_ns + trip / 2;
        self.looks.push_back(ClockReading {
            at_ns: middle,
            offset_ns: i64::try_from(i128::from(there_ns) - i128::from(middle)).unwrap_or(i64::MAX),
            error_ns: trip.div_ceil(2),
            day_offset_ns: there_day.saturating_sub(our_day.saturating_add((trip / 2) as i64)),
        });
    }

    /// Returns the measurement with the smallest error.
    pub fn best(&self) -> Option<ClockReading> {
        self.looks.iter().min_by_key(|l| l.error_ns).copied()
    }
}

/// Returns the wall clock in ns since 1970.
pub(crate) fn day_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_round_trip_says_it_best() {
        let mut pings = Pings::default();
        // The node is 1000 ahead; the second response came back slowly.
        pings.add(100, 120, 1110, 5010, 5000);
        pings.add(200, 500, 1210, 5110, 5100);
        let look = pings.best().unwrap();
        assert_eq!(
            look,
            ClockReading { at_ns: 110, offset_ns: 1000, error_ns: 10, day_offset_ns: 0 }
        );
    }

    #[test]
    fn times_come_to_our_clock_and_drift_is_taken_out() {
        let look =
            |at_ns, offset_ns| ClockReading { at_ns, offset_ns, error_ns: 5, day_offset_ns: 0 };
        let still = Clock { before: look(0, -50), after: None };
        assert_eq!((still.here(100), still.drift_ns()), (150, None));
        let moving = Clock { before: look(1000, 500), after: Some(look(3000, 700)) };
        assert_eq!(moving.here(1500), 1000);
        assert_eq!(moving.here(2600), 1990, "half way, to within the drift itself");
        assert_eq!(moving.here(9700), 9000, "after it as at its end");
        assert_eq!(moving.drift_ns(), Some(190));
        let mut set = moving;
        set.after.as_mut().unwrap().day_offset_ns = 3_600_000_000_000;
        assert_eq!(set.stepped_ns(), Some(3_599_999_999_800));
    }
}

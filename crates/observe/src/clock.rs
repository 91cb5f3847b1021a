//! The clock of a run: `CLOCK_MONOTONIC` in nanoseconds, and the one pairing with the time of day
//! that lets a person read it. Durations are never taken from the time of day, which may step.

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC` now.
pub fn monotonic_ns() -> u64 {
    nanoseconds(ClockId::Monotonic) as u64
}

fn nanoseconds(clock: ClockId) -> i64 {
    let t = clock_gettime(clock);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// One moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Anchor {
    /// The moment as nanoseconds since 1970-01-01T00:00:00Z.
    pub unix_ns: i64,
    /// The same moment as nanoseconds of `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

/// A text that is not a time of day.
#[derive(Debug, thiserror::Error)]
#[error("`{text}` is not an ISO 8601 time with a zone, such as 2026-01-31T12:00:00Z: {source}")]
pub struct AnchorError {
    text: String,
    source: jiff::Error,
}

impl Anchor {
    /// Both clocks now. The monotonic clock is read on either side of the other, and the middle is
    /// taken: the pairing is good to half the time between the two readings, about 100 ns.
    pub fn now() -> Self {
        let before = monotonic_ns();
        let unix_ns = nanoseconds(ClockId::Realtime);
        let after = monotonic_ns();
        Self { unix_ns, monotonic_ns: before + (after - before) / 2 }
    }

    /// The anchor of a time of day as [`Anchor::iso`] writes it and the monotonic time that goes
    /// with it.
    ///
    /// # Errors
    /// `iso` is not an ISO 8601 time with a zone.
    pub fn from_iso(iso: &str, monotonic_ns: u64) -> Result<Self, AnchorError> {
        let time: Timestamp =
            iso.parse().map_err(|source| AnchorError { text: iso.to_owned(), source })?;
        Ok(Self { unix_ns: time.as_nanosecond() as i64, monotonic_ns })
    }

    /// The anchor's time of day: ISO 8601, UTC, with nanoseconds.
    pub fn iso(&self) -> String {
        iso_of(self.unix_ns)
    }

    /// The time of day at `t_ns` of `CLOCK_MONOTONIC`, before or after the anchor: ISO 8601, UTC.
    /// True as long as nobody set the clock in between.
    pub fn iso_at(&self, t_ns: u64) -> String {
        let apart = i128::from(t_ns) - i128::from(self.monotonic_ns);
        iso_of((i128::from(self.unix_ns) + apart).clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

/// ISO 8601, UTC. Every i64 of nanoseconds (the years 1677 to 2262) is a time that jiff knows.
fn iso_of(unix_ns: i64) -> String {
    Timestamp::from_nanosecond(i128::from(unix_ns)).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_run_together() {
        let anchor = Anchor { unix_ns: 1_767_225_600_000_000_000, monotonic_ns: 5_000_000_000 };
        assert_eq!(anchor.iso(), "2026-01-01T00:00:00Z");
        assert_eq!(anchor.iso_at(6_500_000_000), "2026-01-01T00:00:01.5Z");
        assert_eq!(anchor.iso_at(0), "2025-12-31T23:59:55Z");
        assert_eq!(Anchor::from_iso("2026-01-01T00:00:00Z", 5_000_000_000).unwrap(), anchor);
        assert_eq!(Anchor::from_iso("2026-01-01T01:00:00+01:00", 5_000_000_000).unwrap(), anchor);
        let error = Anchor::from_iso("yesterday", 0).unwrap_err().to_string();
        assert!(error.contains("`yesterday`"), "{error}");
        assert!(!anchor.iso_at(u64::MAX).is_empty());
    }

    #[test]
    fn now_lies_between_two_readings() {
        let before = monotonic_ns();
        let anchor = Anchor::now();
        let after = monotonic_ns();
        assert!((before..=after).contains(&anchor.monotonic_ns));
        assert!(anchor.iso().ends_with('Z'));
    }
}

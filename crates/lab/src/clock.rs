//! The time of day for records.

/// Now: ISO 8601, UTC, milliseconds.
pub fn now_utc() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

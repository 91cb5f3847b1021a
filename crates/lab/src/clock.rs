//! Reads the time of day for records.

/// Returns the current time in ISO 8601, UTC, with milliseconds.
pub fn now_utc() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

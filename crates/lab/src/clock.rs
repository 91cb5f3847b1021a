//! The time of day for records.

/// Now: ISO 8601, UTC, milliseconds.
pub fn now_utc() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

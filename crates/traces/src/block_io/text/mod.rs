//! Text formats: I/Os as text, logs of iostat, histograms of DTrace.

pub(super) mod event_text;
pub(super) mod iostat_log;
pub(super) mod quantize_text;

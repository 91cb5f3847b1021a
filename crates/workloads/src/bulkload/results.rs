//! What a trial came to, as events.

use super::spec;
use crate::work::Channel;

/// What was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Measured {
    /// Rows of all files.
    pub rows: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// From the first COPY to the last COMMIT, seconds.
    pub load_s: f64,
    /// The checkpoint after it, seconds.
    pub checkpoint_s: f64,
    /// WAL of the load, bytes.
    pub wal: i64,
    /// The table with its indexes, bytes.
    pub table: i64,
    /// CPU time of the server, seconds.
    pub cpu_s: Option<f64>,
    /// Until it took sessions after the kill, seconds.
    pub recovery_s: Option<f64>,
}

/// Sends the metrics as the rows of data describe them.
pub fn metrics(measured: &Measured, channel: &mut Channel) {
    let m = measured;
    of_clients(m.rows, m.bytes, m.load_s, channel);
    of_server(m, m.load_s + m.checkpoint_s, channel);
    channel.metrics(spec(), [("recovery", m.recovery_s)]);
}

/// Those that clients know.
pub fn of_clients(rows: u64, bytes: u64, load_s: f64, channel: &mut Channel) {
    let metrics = [
        ("throughput", per(rows, load_s)),
        ("bytes", per(bytes, load_s)),
        ("load_time", Some(load_s)),
    ];
    channel.metrics(spec(), metrics);
}

/// Those that the server's side knows; all was on the device after `written_s`.
pub fn of_server(measured: &Measured, written_s: f64, channel: &mut Channel) {
    let m = measured;
    let metrics = [
        ("written", per(m.rows, written_s)),
        ("checkpoint_time", Some(m.checkpoint_s)),
        ("wal", Some(m.wal as f64)),
        ("table", Some(m.table as f64)),
        ("server_cpu", m.cpu_s),
    ];
    channel.metrics(spec(), metrics);
}

fn per(amount: u64, seconds: f64) -> Option<f64> {
    Some(amount as f64 / seconds).filter(|v| v.is_finite())
}

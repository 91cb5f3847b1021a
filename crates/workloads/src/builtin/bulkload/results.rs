//! Results of a trial, as events.

use crate::builtin::bulkload::spec;
use crate::driver::work::Channel;

/// Measured values of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LoadMeasurements {
    /// Number of rows in all files.
    pub rows: u64,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Time from the first COPY to the last COMMIT, seconds.
    pub load_s: f64,
    /// Time of the checkpoint after the load, seconds.
    pub checkpoint_s: f64,
    /// WAL of the load in bytes.
    pub wal: i64,
    /// Size of the table with its indexes in bytes.
    pub table: i64,
    /// CPU time of the server in seconds.
    pub cpu_s: Option<f64>,
    /// Time from the restart after the kill until the server accepts sessions, seconds.
    pub recovery_s: Option<f64>,
}

/// Sends all metrics of a trial on one machine.
pub fn metrics(measured: &LoadMeasurements, channel: &mut Channel) {
    let m = measured;
    of_clients(m.rows, m.bytes, m.load_s, channel);
    of_server(m, m.load_s + m.checkpoint_s, channel);
    channel.metrics(spec(), [("recovery", m.recovery_s)]);
}

/// Sends the metrics that the clients measure.
pub fn of_clients(rows: u64, bytes: u64, load_s: f64, channel: &mut Channel) {
    let metrics = [
        ("throughput", per(rows, load_s)),
        ("bytes", per(bytes, load_s)),
        ("load_time", Some(load_s)),
    ];
    channel.metrics(spec(), metrics);
}

/// Sends the metrics that the server's node measures; all data was on the device after `written_s`.
pub fn of_server(measured: &LoadMeasurements, written_s: f64, channel: &mut Channel) {
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

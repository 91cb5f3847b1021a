//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

/// Its name, and that of its program.
pub const NAME: &str = "bulkload";

spec! {
    /// PostgreSQL takes in flat files: sessions COPY into a fact table of a cluster that lies on
    /// the trial's storage; counts and sums are checked.
    NAME, Params::rows();
    /// Rows of all files over the time from the first COPY to the last COMMIT.
    "throughput", "rows/s", Higher, Measured;
    /// Bytes of the flat files over the same time.
    "bytes", "B/s", Higher, Measured;
    /// Rows over the time to the end of a checkpoint that follows the last COMMIT: all of it on the
    /// device.
    "written", "rows/s", Higher, Measured;
    /// From the first COPY to the last COMMIT.
    "load_time", "s", Lower, Measured;
    /// The checkpoint after the last COMMIT.
    "checkpoint_time", "s", Lower, Measured;
    /// WAL that the load made.
    "wal", "B", Lower, Measured, counted;
    /// The table with its indexes.
    "table", "B", Neither, Measured, counted;
    /// CPU time of the server's processes during the load; missing with `kill`.
    "server_cpu", "s", Lower, Measured;
    /// From the restart after the kill until the server takes sessions; else missing.
    "recovery", "s", Lower, Measured;
}

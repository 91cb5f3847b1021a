//! The rows of data that describe the workload: its parameters and its metrics.

use super::params::Params;
use crate::declare::spec;

/// Its name, and that of its program.
pub const NAME: &str = "startup";

spec! {
    /// Copies of a solver begin together, read a large model each, and compute: how long until the
    /// CPUs do nothing else.
    NAME, Params::rows();
    /// From the begin of the copies to that of the first window in which the trial's CPUs were in
    /// user mode for the share `user` of the time; missing when there was none.
    "time_to_user", "s", Lower, Measured;
    /// From the begin of the copies to the end of the last one.
    "elapsed", "s", Lower, Measured;
    /// From the begin of the copies to the last read from the devices; missing where the storage
    /// has none.
    "read_done", "s", Lower, Measured;
    /// Read from the devices below the storage, all together; missing likewise.
    "device_read", "B", Lower, Measured, counted, summed;
    /// The sizes of the files that the copies read, summed.
    "logical_read", "B", Neither, Derived, counted, summed;
    /// The share of the bytes that the copies read which did not come from a device: 1 -
    /// device_read / logical_read.
    "read_saved", "%", Higher, Derived, counted;
    /// device_read over read_done.
    "device_read_rate", "B/s", Neither, Derived;
    /// CPU time in the kernel of the whole host, interrupts among it.
    "host_system", "s", Lower, Measured, summed;
    /// CPU time of the copies in user mode.
    "user", "s", Lower, Measured, summed;
    /// CPU time of the copies in the kernel.
    "system", "s", Lower, Measured, summed;
    /// The largest resident set of a copy.
    "peak_memory", "B", Lower, Measured, counted;
    /// How far apart the copies began.
    "start_spread", "s", Neither, Measured;
}

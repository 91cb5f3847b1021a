//! Common interface of the profiling methods.

use assay_traces::profile::Profile;

/// A running profiler. Dropping it ends it.
pub(super) trait RunningProfiler {
    /// Processes the events that have arrived; call it every few hundredths of a second.
    fn poll(&mut self);
    /// Begins the measurement window now.
    fn begin(&mut self);
    /// Ends the measurement window now.
    fn end(&mut self);
    fn stop(&mut self);
    /// Returns the profile of the time so far.
    fn profile(&mut self) -> Profile;
    /// Returns the number of files read for names.
    fn read(&self) -> usize;
}

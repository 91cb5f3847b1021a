//! Ways of asking the kernel for block I/O, and the request that they answer.

use std::path::PathBuf;

use assay_traces::block_io::{Completeness, Cost, IoAnalysis, Question, RecordedFields, Sink};

use super::devices::BlockDevices;
use super::oldest::KernelFeatures;

/// Request to a live tracer: a question with options that only apply to a running system.
#[derive(Debug, Clone, Default)]
pub struct TraceRequest {
    /// Question, of the same type as for a recorded trace.
    pub question: Question,
    /// True to report every I/O individually.
    pub events: bool,
    /// File in which the single I/Os are saved; implies `events`.
    pub save: Option<PathBuf>,
    /// True to count by class (asynchronous, write-back, read-ahead, not synchronous) even if
    /// nothing else needs it.
    pub classes: bool,
    /// True to count by region of the device even without a histogram of addresses.
    pub regions: bool,
    /// Size of the ring of single I/Os in bytes, a power of two of pages; `None` for a size that
    /// holds a second of half a million I/Os per second.
    pub ring_bytes: Option<u32>,
    /// Method to use; `None` for the best that is available.
    pub method: Option<Method>,
    /// Oldest kernel to imitate, whatever this one supports; for tests.
    pub oldest: KernelFeatures,
}

/// Method by which the kernel is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// eBPF programs on the block tracepoints.
    Ebpf,
    /// The block tracepoints through perf.
    Tracepoints,
    /// The counters of `/proc/diskstats`.
    Counters,
}

/// A running method of observing block I/O.
pub(super) trait RunningMethod<'n> {
    fn method(&self) -> Method;
    /// Returns true if the kernel counts I/Os instead of reporting them one by one.
    fn counts(&self) -> bool {
        false
    }
    fn devices(&self) -> &BlockDevices;
    /// Reads the rings; call it every few milliseconds if single I/Os are requested.
    fn poll(&mut self, _: &mut [&mut dyn Sink]) {}
    /// Adds the counts since the last tick to the analyses, as of `t_ns`.
    fn tick(&mut self, _t_ns: u64, _: &mut [&mut IoAnalysis<'n>]) {}
    /// Stops recording; the remaining data comes with the next poll and tick.
    fn stop(&mut self) {}
    fn recorded(&self) -> RecordedFields;
    fn completeness(&self) -> Completeness;
    /// Returns what this kernel does not report, or reports in another way; a sentence each.
    fn limits(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns further remarks for the reader of the answer; a sentence each.
    fn notes(&self) -> Vec<String>;
    fn cost(&self) -> Cost;
}

/// A running method of any kind.
pub(super) type BoxedMethod<'n> = Box<dyn RunningMethod<'n> + 'n>;

//! The ways of asking the kernel for block I/O, and the request that one of them answers.

use std::path::PathBuf;

use assay_iotrace::{Analysis, Completeness, Cost, Question, Recorded, Sink};

use super::devices::BlockDevices;
use super::oldest::Oldest;

/// What is asked of the live system.
#[derive(Debug, Clone, Default)]
pub struct TraceRequest {
    /// The question, as of a recorded trace.
    pub question: Question,
    /// Every I/O by itself is wanted.
    pub events: bool,
    /// Where the single I/Os are kept; asks for them.
    pub save: Option<PathBuf>,
    /// Who waits for I/Os is wanted (the four counts), also where nothing else needs it.
    pub classes: bool,
    /// Regions of devices are wanted, also without a histogram of addresses.
    pub regions: bool,
    /// Bytes of the ring of single I/Os, a power of two of pages; `None`: enough for a second of half a
    /// million I/Os a second.
    pub ring_bytes: Option<u32>,
    /// Take this way and no other; `None`: the best there is.
    pub method: Option<Method>,
    /// As on an older kernel, whatever this one can do: for tests.
    pub oldest: Oldest,
}

/// How the kernel is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// eBPF on the block tracepoints.
    Ebpf,
    /// The block tracepoints by perf.
    Tracepoints,
    /// The counters of `/proc/diskstats`.
    Counters,
}

/// A way in which the kernel tells of block I/O, at work.
pub(super) trait Way<'n> {
    fn method(&self) -> Method;
    /// True if I/Os are counted by the kernel, not reported one by one.
    fn counts(&self) -> bool {
        false
    }
    fn devices(&self) -> &BlockDevices;
    /// Takes what is in the rings; wanted every few milliseconds where single I/Os are asked for.
    fn poll(&mut self, _: &mut [&mut dyn Sink]) {}
    /// Takes up what was counted since the last time, as of `t_ns`.
    fn tick(&mut self, _t_ns: u64, _: &mut [&mut Analysis<'n>]) {}
    /// Ends the recording; what is left comes with the next poll and tick.
    fn stop(&mut self) {}
    fn recorded(&self) -> Recorded;
    fn completeness(&self) -> Completeness;
    /// What this kernel does not tell, or tells in another way; a sentence each.
    fn limits(&self) -> Vec<String> {
        Vec::new()
    }
    /// What else should be known; a sentence each.
    fn notes(&self) -> Vec<String>;
    fn cost(&self) -> Cost;
}

/// Any of the ways, at work.
pub(super) type RunningWay<'n> = Box<dyn Way<'n> + 'n>;

//! Questions about I/Os, the same for a recorded trace and for a live system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::answers::filter::Filter;
use crate::block_io::answers::histogram::Steps;

/// Property by which I/Os are grouped.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Block device of the I/O.
    Device,
    /// The program that submitted the I/O.
    Program,
    /// Process id of the submitter.
    Pid,
    /// Reads, writes and other operations.
    Direction,
    /// The file that the blocks belong to.
    File,
    /// The control group of the submitter.
    Cgroup,
}

assay_model::names! {
    /// Returns the name as typed on the command line.
    pub Dimension::name, ALL: Device = "device", Program = "program", Pid = "pid",
        Direction = "direction", File = "file", Cgroup = "cgroup"
}

/// Quantity that a histogram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Size of the I/O in bytes.
    Size,
    /// Time from the first traced event to completion.
    Latency,
    /// Time from queueing to issue.
    Queue,
    /// Time from issue to completion.
    Device,
    /// First block of the I/O.
    Address,
}

assay_model::names! {
    /// Returns the name as typed on the command line.
    pub Measure::name, ALL: Size = "size", Latency = "latency", Queue = "queue", Device = "device",
        Address = "address"
}

/// Bucket layout of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BucketLayout {
    /// Powers of two; equal regions for addresses.
    #[default]
    Usual,
    /// Powers of two, for addresses too.
    Quantize,
    /// Equal steps, for every measure.
    Linear(Steps),
}

/// Unit of time in histograms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Times in nanoseconds (ns).
    Ns,
    /// Times in microseconds (µs).
    #[default]
    Us,
    /// Times in milliseconds (ms).
    Ms,
}

assay_model::names! {
    pub TimeUnit::symbol: Ns = "ns", Us = "µs", Ms = "ms"
}

impl TimeUnit {
    /// Returns the number of nanoseconds in one unit.
    pub fn ns(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Us => 1_000,
            TimeUnit::Ms => 1_000_000,
        }
    }

    /// Converts nanoseconds to whole units. The divisors are constants, which is several times
    /// faster than dividing by [`TimeUnit::ns`].
    #[inline]
    pub fn convert(self, ns: u64) -> u64 {
        match self {
            TimeUnit::Ns => ns,
            TimeUnit::Us => ns / 1_000,
            TimeUnit::Ms => ns / 1_000_000,
        }
    }
}

/// A question about I/Os.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Dimensions to group by; empty for reads and writes together.
    pub by: Vec<Dimension>,
    /// Measures to compute histograms of.
    pub histograms: Vec<Measure>,
    /// Bucket layout of the histograms.
    pub shape: BucketLayout,
    /// Unit of times in the histograms.
    pub unit: TimeUnit,
    /// Tick width of the time series, in nanoseconds.
    pub tick_ns: u64,
    /// Number of groups, devices and regions to list, busiest first.
    pub top: usize,
    pub filter: Filter,
}

impl Default for Question {
    fn default() -> Self {
        Question {
            by: Vec::new(),
            histograms: Vec::new(),
            shape: BucketLayout::Usual,
            unit: TimeUnit::Us,
            tick_ns: 1_000_000_000,
            top: 10,
            filter: Filter::default(),
        }
    }
}

impl Question {
    /// Returns the dimensions without duplicates. A histogram of addresses adds the device, because
    /// addresses are only meaningful within one device.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let mut by = self.by.clone();
        if self.histograms.contains(&Measure::Address) {
            by.push(Dimension::Device);
        }
        by.sort_unstable();
        by.dedup();
        by
    }
}

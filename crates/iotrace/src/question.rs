//! What is asked of a trace; the same of a recorded and of a live one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::filter::Filter;
use crate::histogram::Steps;

/// The dimensions of I/Os.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// The device.
    Device,
    /// The program.
    Program,
    /// The process.
    Pid,
    /// Reads, writes and the others.
    Direction,
    /// The file.
    File,
    /// The control group.
    Cgroup,
}

impl Dimension {
    /// Every one.
    pub const ALL: [Dimension; 6] = [
        Dimension::Device,
        Dimension::Program,
        Dimension::Pid,
        Dimension::Direction,
        Dimension::File,
        Dimension::Cgroup,
    ];

    /// Its name as typed.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Device => "device",
            Dimension::Program => "program",
            Dimension::Pid => "pid",
            Dimension::Direction => "direction",
            Dimension::File => "file",
            Dimension::Cgroup => "cgroup",
        }
    }
}

/// What a histogram is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Bytes.
    Size,
    /// From the first moment that was traced to the end.
    Latency,
    /// From being queued to being issued.
    Queue,
    /// From being issued to the end.
    Device,
    /// The first block.
    Address,
}

impl Measure {
    /// Every one.
    pub const ALL: [Measure; 5] =
        [Measure::Size, Measure::Latency, Measure::Queue, Measure::Device, Measure::Address];

    /// Its name as typed.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Size => "size",
            Measure::Latency => "latency",
            Measure::Queue => "queue",
            Measure::Device => "device",
            Measure::Address => "address",
        }
    }
}

/// How a histogram counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Powers of two; addresses by equal regions.
    #[default]
    Usual,
    /// Powers of two, addresses too.
    Quantize,
    /// Equal steps.
    Linear(Steps),
}

/// The unit in which histograms of time count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    #[default]
    Us,
    /// Milliseconds.
    Ms,
}

impl TimeUnit {
    /// Its nanoseconds.
    pub fn ns(self) -> u64 {
        match self {
            TimeUnit::Ns => 1,
            TimeUnit::Us => 1_000,
            TimeUnit::Ms => 1_000_000,
        }
    }

    /// Nanoseconds in this unit, whole. The divisors are constants, which is several times faster
    /// than to divide by [`TimeUnit::ns`].
    #[inline]
    pub fn of(self, ns: u64) -> u64 {
        match self {
            TimeUnit::Ns => ns,
            TimeUnit::Us => ns / 1_000,
            TimeUnit::Ms => ns / 1_000_000,
        }
    }

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            TimeUnit::Ns => "ns",
            TimeUnit::Us => "µs",
            TimeUnit::Ms => "ms",
        }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The dimensions of the answer; empty: reads and writes together.
    pub by: Vec<Dimension>,
    /// The histograms that are wanted.
    pub histograms: Vec<Measure>,
    /// How they count.
    pub shape: Shape,
    /// The unit of times in them.
    pub unit: TimeUnit,
    /// How long a tick is, nanoseconds.
    pub tick_ns: u64,
    /// How many groups, devices and regions are listed, the busiest first.
    pub top: usize,
    /// Which I/Os it is about.
    pub filter: Filter,
}

impl Default for Question {
    fn default() -> Self {
        Question {
            by: Vec::new(),
            histograms: Vec::new(),
            shape: Shape::Usual,
            unit: TimeUnit::Us,
            tick_ns: 1_000_000_000,
            top: 10,
            filter: Filter::default(),
        }
    }
}

impl Question {
    /// The dimensions, once each. Addresses mean something only within a device, so a
    /// histogram of them adds that.
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

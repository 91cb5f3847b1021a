//! The answer to a question, as plain data: terminal, page and JSON all show this.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::completeness::Completeness;
use crate::event::Op;
use crate::heat::HeatMap;
use crate::histogram::{Row, Steps};
use crate::loglinear::LogLinear;
use crate::question::{Dimension, Measure};
use crate::regions::RegionMap;
use crate::seek::SeekReport;
use crate::series::{Recorded, TickSeries};

/// Where the I/Os come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The file, or what was watched.
    pub name: String,
    /// Its format.
    pub format: String,
    /// How many files it consists of.
    pub files: u32,
    /// Between which moments latency is measured, as the middle of a sentence.
    pub latency_is: String,
    /// What it records.
    pub recorded: Recorded,
    /// What else should be known, as sentences.
    pub notes: Vec<String>,
}

/// Latencies in short.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStats {
    /// How many.
    pub n: u64,
    /// Their mean, nanoseconds; `null` of nothing.
    pub mean_ns: Option<f64>,
    /// The smallest.
    pub min_ns: Option<u64>,
    /// Half are at or below it; like all percentiles `null` unless ten lie beyond it.
    pub p50_ns: Option<f64>,
    /// 90 %.
    pub p90_ns: Option<f64>,
    /// 99 %.
    pub p99_ns: Option<f64>,
    /// 99.9 %.
    pub p999_ns: Option<f64>,
    /// The largest.
    pub max_ns: Option<u64>,
    /// Something was lost, so percentiles and the largest are only lower bounds.
    pub lower_bounds: bool,
}

impl LatencyStats {
    /// The figures of a histogram of nanoseconds.
    pub fn of(h: &LogLinear, lower_bounds: bool) -> Self {
        LatencyStats {
            n: h.count(),
            mean_ns: h.mean(),
            min_ns: h.min(),
            p50_ns: h.percentile(0.5),
            p90_ns: h.percentile(0.9),
            p99_ns: h.percentile(0.99),
            p999_ns: h.percentile(0.999),
            max_ns: h.max(),
            lower_bounds,
        }
    }
}

/// What one operation amounts to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpTotal {
    /// Which.
    pub op: Op,
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// From the first moment that was traced to the end.
    pub latency: LatencyStats,
}

/// Reads and writes by who waits for them, as far as it is recorded. Four counts, since no one of them
/// says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Classes {
    /// Submitted asynchronously (`io_submit`, io_uring).
    pub aio: Option<u64>,
    /// Writes without REQ_SYNC by kernel threads that write back; where programs are not recorded, by
    /// any.
    pub writeback: Option<u64>,
    /// With REQ_RAHEAD.
    pub readahead: Option<u64>,
    /// Without REQ_SYNC: what DTrace for Linux shows as asynchronous.
    pub nosync: Option<u64>,
}

/// One histogram of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramReport {
    /// What of.
    pub measure: Measure,
    /// The unit of the rows (`B`, `µs`, `blocks`).
    pub unit: String,
    /// The equal steps of its rows; `null`: powers of two, or regions.
    pub steps: Option<Steps>,
    /// Its rows from the first to the last that is not empty; empty when it is by regions.
    pub rows: Vec<Row>,
    /// Addresses by equal regions.
    pub regions: Option<RegionMap>,
}

/// The I/Os of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReport {
    /// Its value in each dimension of [`IoReport::by`].
    pub key: Vec<String>,
    /// I/Os; without `direction` among the dimensions only reads and writes.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// From the first moment that was traced to the end.
    pub latency: LatencyStats,
    /// From being queued to being issued.
    pub queue: LatencyStats,
    /// From being issued to the end.
    pub device: LatencyStats,
    /// The histograms that were asked for.
    pub histograms: Vec<HistogramReport>,
}

/// Where on a device its reads and writes are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReport {
    /// The device.
    pub device: String,
    /// Reads and writes.
    pub ios: u64,
    /// Which regions they are in.
    pub regions: RegionMap,
    /// How sequential they are.
    pub seeks: SeekReport,
    /// Address over time; `null` for devices beyond the first few.
    pub heat: Option<HeatMap>,
}

/// What tracing cost the system that was traced, by the kernel's own account.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// How it was traced, in a few words.
    pub method: String,
    /// Events that ran a probe.
    pub events: u64,
    /// Time that the probes took of the system's CPUs for each I/O, nanoseconds; `null`: unknown.
    pub ns_per_io: Option<f64>,
    /// The same as a share of one CPU over the time watched, 0 to 1.
    pub cpu_share: Option<f64>,
    /// CPU time of the reader of the answers (assay itself), as a share of one CPU.
    pub reader_share: Option<f64>,
}

/// Everything that is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoReport {
    /// The version of this format.
    pub schema_version: u32,
    /// Where the I/Os come from.
    pub source: Source,
    /// The filter in words; empty: everything.
    pub selection: Vec<String>,
    /// What was seen and lost.
    #[serde(alias = "honesty")]
    pub completeness: Completeness,
    /// When the first I/O of the trace started, nanoseconds of the trace's clock; `null` without one.
    pub origin_ns: Option<u64>,
    /// The same as ISO 8601 in UTC, where the trace is tied to the wall clock.
    pub started_at: Option<String>,
    /// The same as nanoseconds since 1970.
    pub wall_start_ns: Option<i64>,
    /// From the first start to the last end of what was selected, nanoseconds; `null` of nothing.
    pub span_ns: Option<u64>,
    /// By operation, those that occur.
    pub ops: Vec<OpTotal>,
    /// Reads and writes by who waits.
    pub classes: Classes,
    /// The dimensions of groups; empty: one group of all reads and writes.
    pub by: Vec<Dimension>,
    /// The groups, busiest first; as many as were asked for.
    pub groups: Vec<GroupReport>,
    /// How many groups there are.
    pub groups_in_all: usize,
    /// The devices, busiest first; as many as were asked for.
    pub devices: Vec<DeviceReport>,
    /// How many devices there are.
    pub devices_in_all: usize,
    /// Over time.
    pub series: TickSeries,
    /// Latency over time; rows are nanoseconds.
    pub latency_heat: HeatMap,
    /// What it cost; `null` of a recorded trace.
    #[serde(default)]
    pub cost: Option<Cost>,
}

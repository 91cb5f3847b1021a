//! The answer to a question as plain data, shown by the terminal, the HTML page and the JSON
//! output.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::answers::heat::HeatMap;
use crate::block_io::answers::histogram::{HistogramRow, Steps};
use crate::block_io::answers::question::{Dimension, Measure};
use crate::block_io::answers::regions::RegionMap;
use crate::block_io::answers::seek::SeekReport;
use crate::block_io::answers::series::{RecordedFields, TickSeries};
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::Op;
use crate::loglinear::LogLinear;

/// Origin of the I/Os.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoSource {
    /// Path of the trace, or description of the live observation.
    pub name: String,
    /// Format of the trace.
    pub format: String,
    /// Number of files of the trace.
    pub files: u32,
    /// Moments between which latency is measured, as the middle of a sentence.
    pub latency_is: String,
    /// Data that the trace records.
    pub recorded: RecordedFields,
    /// Further remarks on the data, as sentences.
    pub notes: Vec<String>,
}

/// Summary statistics of latencies.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStats {
    /// Number of latencies that were measured.
    pub n: u64,
    /// Mean latency in nanoseconds; `null` without latencies.
    pub mean_ns: Option<f64>,
    /// Smallest latency in nanoseconds.
    pub min_ns: Option<u64>,
    /// Median latency in nanoseconds. Like all percentiles it is `null` unless ten latencies lie
    /// beyond it.
    pub p50_ns: Option<f64>,
    /// 90th percentile in nanoseconds.
    pub p90_ns: Option<f64>,
    /// 99th percentile in nanoseconds.
    pub p99_ns: Option<f64>,
    /// 99.9th percentile in nanoseconds.
    pub p999_ns: Option<f64>,
    /// Largest latency in nanoseconds.
    pub max_ns: Option<u64>,
    /// True if events were lost, which makes percentiles and the maximum lower bounds.
    pub lower_bounds: bool,
}

impl LatencyStats {
    /// Computes the statistics from a histogram in nanoseconds.
    pub fn from_histogram(h: &LogLinear, lower_bounds: bool) -> Self {
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

/// Totals of one operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpTotal {
    /// Operation that is counted.
    pub op: Op,
    /// Number of I/Os that were counted.
    pub ios: u64,
    /// Sum of their sizes in bytes.
    pub bytes: u64,
    /// Time from the first traced event to completion.
    pub latency: LatencyStats,
}

/// Reads and writes classified by who may wait for them, as far as the trace records it. There are
/// four counts because no single one answers that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Classes {
    /// Reads and writes submitted asynchronously (`io_submit`, io_uring).
    pub aio: Option<u64>,
    /// Writes without REQ_SYNC by kernel threads that write back dirty pages; by any program if the
    /// trace does not record programs.
    pub writeback: Option<u64>,
    /// Reads and writes with REQ_RAHEAD.
    pub readahead: Option<u64>,
    /// Reads and writes without REQ_SYNC, which DTrace for Linux shows as asynchronous.
    pub nosync: Option<u64>,
}

/// One histogram of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistogramReport {
    /// Quantity that is counted.
    pub measure: Measure,
    /// Unit of the rows: `B`, `blocks`, or a unit of time such as `µs`.
    pub unit: String,
    /// Steps of a linear histogram; `null` for powers of two and regions.
    pub steps: Option<Steps>,
    /// Rows from the first to the last non-empty one; empty if the histogram is by regions.
    pub rows: Vec<HistogramRow>,
    /// Addresses by equal regions; `null` for other histograms.
    pub regions: Option<RegionMap>,
}

/// I/Os of one group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupReport {
    /// Value of the group in each dimension of `by`.
    pub key: Vec<String>,
    /// Number of I/Os; only reads and writes unless `direction` is a dimension.
    pub ios: u64,
    /// Sum of their sizes in bytes.
    pub bytes: u64,
    /// Time from the first traced event to completion.
    pub latency: LatencyStats,
    /// Time from queueing to issue.
    pub queue: LatencyStats,
    /// Time from issue to completion.
    pub device: LatencyStats,
    /// Histograms that the question asks for.
    pub histograms: Vec<HistogramReport>,
}

/// Addresses of the reads and writes of one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceReport {
    /// Name of the device.
    pub device: String,
    /// Number of reads and writes.
    pub ios: u64,
    /// Counts of I/Os by region of the device.
    pub regions: RegionMap,
    /// Sequentiality of the I/Os.
    pub seeks: SeekReport,
    /// Heat map of address over time; `null` for devices beyond the first few.
    pub heat: Option<HeatMap>,
}

/// Overhead of tracing on the traced system, as measured by the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// Method of tracing, in a few words.
    pub method: String,
    /// Number of events that ran a probe.
    pub events: u64,
    /// CPU time of the probes per I/O, in nanoseconds; `null` if unknown.
    pub ns_per_io: Option<f64>,
    /// CPU time of the probes as a share of one CPU during the observation, 0 to 1.
    pub cpu_share: Option<f64>,
    /// CPU time of the process that reads the trace data (assay itself), as a share of one CPU.
    pub reader_share: Option<f64>,
}

/// Complete answer to a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IoReport {
    /// Version of this format.
    pub schema_version: u32,
    /// Origin of the I/Os.
    pub source: IoSource,
    /// Filter as phrases, one per condition; empty if everything is selected.
    pub selection: Vec<String>,
    /// Counts of events read, matched and lost.
    #[serde(alias = "honesty")]
    pub completeness: Completeness,
    /// Start of the first I/O of the trace, in nanoseconds of the trace's clock; `null` without
    /// I/Os.
    pub origin_ns: Option<u64>,
    /// Start of the first I/O as ISO 8601 in UTC, if the trace is tied to the wall clock.
    pub started_at: Option<String>,
    /// Start of the first I/O in nanoseconds since 1970, if the trace is tied to the wall clock.
    pub wall_start_ns: Option<i64>,
    /// Time from the first start to the last end of the selected I/Os, in nanoseconds; `null`
    /// without I/Os.
    pub span_ns: Option<u64>,
    /// Totals by operation, for the operations that occur.
    pub ops: Vec<OpTotal>,
    /// Reads and writes classified by who may wait for them.
    pub classes: Classes,
    /// Dimensions of the groups; empty for one group of all reads and writes.
    pub by: Vec<Dimension>,
    /// Groups, busiest first, up to the requested number.
    pub groups: Vec<GroupReport>,
    /// Number of groups before the limit.
    pub groups_in_all: usize,
    /// Devices, busiest first, up to the requested number.
    pub devices: Vec<DeviceReport>,
    /// Number of devices before the limit.
    pub devices_in_all: usize,
    /// Time series of the selected I/Os.
    pub series: TickSeries,
    /// Heat map of latency over time, with rows in nanoseconds.
    pub latency_heat: HeatMap,
    /// Overhead of tracing; `null` for a recorded trace.
    #[serde(default)]
    pub cost: Option<Cost>,
}

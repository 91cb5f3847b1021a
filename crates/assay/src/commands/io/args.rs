//! Arguments of `assay io`.

use std::ffi::OsString;
use std::path::PathBuf;

use assay_traces::block_io::{Dimension, EventFormat, Measure, TimeUnit};
use clap::Args;

use crate::arguments::{Choice, choice};

/// `assay io`.
#[derive(Debug, Args)]
pub struct Io {
    /// The trace: a file, `-` for standard input, or NAME for the files NAME.blktrace.0,
    /// NAME.blktrace.1 and so on. The format is detected from the content. Without this option the
    /// live system is traced.
    #[arg(long, value_name = "TRACE")]
    pub from: Option<PathBuf>,
    /// Trace every I/O instead of counting in the kernel: exact order, seeks, linear histograms.
    #[arg(long, conflicts_with = "from")]
    pub events: bool,
    /// Stop after this many ticks [default: when interrupted, or when the command ends].
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "from")]
    pub count: Option<u64>,
    /// List the block devices, the paths that lead to them, and where they are mounted.
    #[arg(long, conflicts_with = "from")]
    pub devices: bool,
    /// Dimensions to group the I/Os by, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "WHAT",
          value_parser = choice(Dimension::ALL.map(|d| (d.name(), "", d))))]
    pub by: Vec<Dimension>,
    /// Histograms to print, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "WHAT", value_parser = choice(MEASURES))]
    pub hist: Vec<Measure>,
    /// Show the time of I/Os from stage to stage (queued, made or joined, inserted, issued,
    /// completed), merges and plugs, by device: of a trace by blktrace, or live.
    #[arg(long, conflicts_with_all = ["by", "hist", "tick", "format", "save", "events", "program",
        "pid", "file",
        "cgroup", "read", "write", "from_time", "to_time", "blocks"])]
    pub stages: bool,
    /// Group addresses by powers of two instead of regions.
    #[arg(long, requires = "hist", conflicts_with = "linear")]
    pub quantize: bool,
    /// Print linear histograms with this range and step.
    #[arg(long, value_name = "FROM,TO,STEP", requires = "hist", allow_hyphen_values = true)]
    pub linear: Option<String>,
    /// The unit of times in histograms.
    #[arg(long, default_value = "us", value_parser = choice(UNITS))]
    pub unit: TimeUnit,
    /// Print a line per interval of this length (live: as it passes).
    #[arg(short = 'i', long, visible_alias = "interval", value_name = "DURATION")]
    pub tick: Option<String>,
    /// List at most this many groups, devices and regions, the busiest first.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Include only I/Os of this program. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub program: Vec<String>,
    /// Include only I/Os of this device, by its name in the trace; live, also by a path to it or a
    /// file on it. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub device: Vec<String>,
    /// Include only I/Os of this process. May be given several times.
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Include only I/Os of this file. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub file: Vec<String>,
    /// Include only I/Os of this control group. May be given several times.
    #[arg(long, value_name = "NAME")]
    pub cgroup: Vec<String>,
    /// Include only the reads.
    #[arg(long, conflicts_with = "write")]
    pub read: bool,
    /// Include only the writes.
    #[arg(long)]
    pub write: bool,
    /// Include only I/Os that started at least this long after the first one of the trace.
    #[arg(long, value_name = "DURATION")]
    pub from_time: Option<String>,
    /// Include only I/Os that started less than this long after the first one of the trace.
    #[arg(long, value_name = "DURATION")]
    pub to_time: Option<String>,
    /// Include only I/Os that begin in these blocks of 512 bytes; regions then divide that range.
    #[arg(long, value_name = "FIRST-LAST")]
    pub blocks: Option<String>,
    /// Save the I/Os as Parquet, one row per I/O.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Write the I/Os themselves in time order, for other tools, instead of a summary.
    #[arg(long, value_name = "FORMAT", value_parser = choice(FORMATS),
        conflicts_with_all = ["json", "tick"])]
    pub format: Option<EventFormat>,
    /// Reader threads, where the format allows more than one [default: all CPUs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Run this command and trace all I/O of the system while it runs.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "from")]
    pub command: Vec<OsString>,
}

const FORMATS: [Choice<EventFormat>; 3] = [
    (
        "blkparse",
        "The events as `blkparse` prints them: queued (Q) or made (G) if that is known, issued \
        (D), completed (C)",
        EventFormat::Blkparse,
    ),
    (
        "fio-log",
        "The latency log of fio with offsets: ms, latency in ns, direction, bytes, offset, \
        priority",
        EventFormat::FioLog,
    ),
    ("csv", "One row per I/O, with every known field", EventFormat::Csv),
];

const MEASURES: [Choice<Measure>; 5] = [
    ("size", "Bytes", Measure::Size),
    ("latency", "From the first traced event to the completion", Measure::Latency),
    ("queue", "Its part in the queue", Measure::Queue),
    ("device", "Its part in the device", Measure::Device),
    ("address", "The first block", Measure::Address),
];

const UNITS: [Choice<TimeUnit>; 3] = [
    ("ns", "Nanoseconds", TimeUnit::Ns),
    ("us", "Microseconds", TimeUnit::Us),
    ("ms", "Milliseconds", TimeUnit::Ms),
];

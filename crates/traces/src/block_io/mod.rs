//! Analyzes block-I/O traces. The crate reads traces in many formats (blktrace, blkparse,
//! tracepoints, bcc and DTrace tools, CSV collections, Parquet), assembles I/Os from their events,
//! and answers one set of questions about them: how many, how large, how slow, at which addresses
//! and by which program. It does so in one pass and in bounded memory.
//!
//! Start with [`ask`] for a recorded trace. A live observer feeds the same [`IoAnalysis`] with
//! [`Io`]s, or a [`Matcher`] with [`Event`]s, and gets the same [`IoReport`]. Every answer carries
//! [`Completeness`]: how many events were read, matched and lost. The crate makes no system calls
//! except to read and write files.

mod answers;
mod error;
#[cfg(test)]
mod fixtures;
mod matching;
mod names;
#[cfg(any(test, feature = "probes"))]
pub mod probe;
mod source;
mod stages;
mod text;
mod trace;
mod trace_file;

pub use answers::analysis::IoAnalysis;
pub use answers::counted::{ClassCounts, CountedIos};
pub use answers::filter::Filter;
pub use answers::groups::MAX_GROUPS;
pub use answers::heat::HeatMap;
pub use answers::histogram::{HistogramRow, Linear, Pow2, Steps, StepsError};
pub use answers::question::{BucketLayout, Dimension, Measure, Question, TimeUnit};
pub use answers::regions::{HotRegion, RegionMap, Regions};
pub use answers::report::{
    Classes, Cost, DeviceReport, GroupReport, HistogramReport, IoReport, IoSource, LatencyStats,
    OpTotal,
};
pub use answers::seek::SeekReport;
pub use answers::series::{MAX_TICKS, RecordedFields, TickRow, TickSeries};
pub use error::{Error, KNOWN};
pub use matching::completeness::Completeness;
pub use matching::event::{
    BLOCK_BYTES, Event, FileFrom, Flags, Io, IoAction, Op, Sink, parse_rwbs,
};
pub use matching::matcher::{MAX_IN_FLIGHT, Matcher};
pub use names::{NameCache, NameTable, writes_back};
pub use source::lines::MAX_LINE;
pub use source::parquet_columns::TraceAbout;
pub use source::parquet_write::{Hints, IoWriter};
pub use stages::{DeviceStages, PlugEvent, StageTimes, Stages};
pub use text::event_text::{EventFormat, EventText, WrittenLines};
pub use text::iostat_log::{IostatDevice, IostatLog, IostatRow};
pub use text::quantize_text::{Printed, PrintedHistograms, PrintedRow};
pub use trace::{Options, TraceAnswer, ask, stages, write_events};
pub use trace_file::FILE;

//! Analyzes block-I/O traces. The crate reads traces in many formats (blktrace, blkparse,
//! tracepoints, bcc and DTrace tools, CSV collections, Parquet), assembles I/Os from their events,
//! and answers one set of questions about them: how many, how large, how slow, at which addresses
//! and by which program. It does so in one pass and in bounded memory.
//!
//! Start with [`ask`] for a recorded trace. A live observer feeds the same [`Analysis`] with
//! [`Io`]s, or a [`Matcher`] with [`Event`]s, and gets the same [`IoReport`]. Every answer carries
//! [`Completeness`]: how many events were read, matched and lost. The crate makes no system calls
//! except to read and write files.

mod answers;
mod error;
#[cfg(test)]
mod fixtures;
mod matching;
mod names;
#[doc(hidden)]
pub mod probe;
mod source;
mod stages;
mod text;
mod trace;

pub use answers::analysis::Analysis;
pub use answers::counted::{ClassCounts, Counted};
pub use answers::filter::Filter;
pub use answers::groups::MAX_GROUPS;
pub use answers::heat::HeatMap;
pub use answers::histogram::{Linear, Pow2, Row, Steps, StepsError};
pub use answers::loglinear::LogLinear;
pub use answers::question::{Dimension, Measure, Question, Shape, TimeUnit};
pub use answers::regions::{HotRegion, RegionMap, Regions};
pub use answers::report::{
    Classes, Cost, DeviceReport, GroupReport, HistogramReport, IoReport, LatencyStats, OpTotal,
    Source,
};
pub use answers::seek::SeekReport;
pub use answers::series::{MAX_TICKS, Recorded, TickRow, TickSeries};
pub use error::{Error, KNOWN};
pub use matching::completeness::Completeness;
pub use matching::event::{Action, BLOCK_BYTES, Event, FileFrom, Flags, Io, Op, Sink, parse_rwbs};
pub use matching::matcher::{MAX_IN_FLIGHT, Matcher};
pub use names::{NameCache, Names, writes_back};
pub use source::lines::MAX_LINE;
pub use source::parquet_columns::TraceAbout;
pub use source::parquet_write::{Hints, IoWriter};
pub use stages::{DeviceStages, Plug, StageTimes, Stages};
pub use text::event_text::{EventFormat, EventText, Written};
pub use text::iostat_log::{IostatDevice, IostatLog, IostatRow};
pub use text::quantize_text::{Printed, PrintedHistograms, PrintedRow};
pub use trace::{Answer, Options, ask, stages, write_events};

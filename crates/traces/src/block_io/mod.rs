//! Analyzes block-I/O traces. The crate reads traces in many formats (blktrace, blkparse,
//! tracepoints, bcc and DTrace tools, CSV collections, Parquet), assembles I/Os from their events,
//! and answers one set of questions about them: how many, how large, how slow, at which addresses
//! and by which program. It does so in one pass and in bounded memory.
//!
//! Start with [`ask`] for a recorded trace. A live observer feeds the same [`Analysis`] with
//! [`Io`]s, or a [`Matcher`] with [`Event`]s, and gets the same [`IoReport`]. Every answer carries
//! [`Completeness`]: how many events were read, matched and lost. The crate makes no system calls
//! except to read and write files.

mod analysis;
mod completeness;
mod counted;
mod detect;
mod devices;
mod error;
mod event;
mod event_text;
mod fields;
mod filter;
#[cfg(test)]
mod fixtures;
mod grid;
mod groups;
mod heat;
mod histogram;
mod inflight;
mod iostat_log;
mod lines;
mod loglinear;
mod matcher;
mod names;
mod opened;
mod pipeline;
#[doc(hidden)]
pub mod probe;
mod quantize_text;
mod question;
mod regions;
mod report;
mod seek;
mod series;
mod source;
mod stages;
mod trace;

pub use analysis::Analysis;
pub use completeness::Completeness;
pub use counted::{ClassCounts, Counted};
pub use error::{Error, KNOWN};
pub use event::{Action, BLOCK_BYTES, Event, FileFrom, Flags, Io, Op, Sink, parse_rwbs};
pub use event_text::{EventFormat, EventText, Written};
pub use filter::Filter;
pub use groups::MAX_GROUPS;
pub use heat::HeatMap;
pub use histogram::{Linear, Pow2, Row, Steps, StepsError};
pub use iostat_log::{IostatDevice, IostatLog, IostatRow};
pub use lines::MAX_LINE;
pub use loglinear::LogLinear;
pub use matcher::{MAX_IN_FLIGHT, Matcher};
pub use names::{NameCache, Names, writes_back};
pub use quantize_text::{Printed, PrintedHistograms, PrintedRow};
pub use question::{Dimension, Measure, Question, Shape, TimeUnit};
pub use regions::{HotRegion, RegionMap, Regions};
pub use report::{
    Classes, Cost, DeviceReport, GroupReport, HistogramReport, IoReport, LatencyStats, OpTotal,
    Source,
};
pub use seek::SeekReport;
pub use series::{MAX_TICKS, Recorded, TickRow, TickSeries};
pub use source::parquet_columns::TraceAbout;
pub use source::parquet_write::{Hints, IoWriter};
pub use stages::{DeviceStages, Plug, StageTimes, Stages};
pub use trace::{Answer, Options, ask, stages, write_events};

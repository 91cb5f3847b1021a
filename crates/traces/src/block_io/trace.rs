//! Entry points for recorded traces: opens a trace, detects its format and answers a question.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::block_io::answers::analysis::IoAnalysis;
use crate::block_io::answers::question::Question;
use crate::block_io::answers::report::{IoReport, IoSource};
use crate::block_io::answers::series::RecordedFields;
use crate::block_io::error::Error;
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Io, Sink};
use crate::block_io::names::NameTable;
use crate::block_io::source::blkparse::BlkparseReader;
use crate::block_io::source::csv::{CsvReader, Dialect};
use crate::block_io::source::detect::{DetectedFormat, TraceFormat, detect};
use crate::block_io::source::events::EventReader;
use crate::block_io::source::lines::LineBuffer;
use crate::block_io::source::opened::OpenTrace;
use crate::block_io::source::parquet_columns::TraceAbout;
use crate::block_io::source::parquet_write::{Hints, IoWriter};
use crate::block_io::source::snoop::SnoopReader;
use crate::block_io::source::tracepoints::TracepointReader;
use crate::block_io::source::{blktrace, events, parquet_read, rows};
use crate::block_io::stages::DeviceStages;
use crate::block_io::text::event_text::{EventFormat, EventText, WrittenLines};
use crate::block_io::text::iostat_log::{self, IostatLog};
use crate::block_io::text::quantize_text::{self, PrintedHistograms};

/// Settings for reading a trace.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of reader threads, for formats that can be split into parts.
    pub threads: usize,
    /// Parquet file that receives all I/Os, whatever the filter, one row each.
    pub save: Option<PathBuf>,
}

impl Default for Options {
    /// One thread per available CPU, and no Parquet file.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Options { threads, save: None }
    }
}

/// Contents of a trace, by kind of file.
#[derive(Debug)]
pub enum TraceAnswer {
    /// Report of a trace that holds I/Os.
    Ios(Box<IoReport>),
    /// Tables of iostat, by device and interval.
    Iostat(IostatLog),
    /// Histograms printed by DTrace.
    Histograms(PrintedHistograms),
}

/// Answers a question about a recorded trace. `path` is a file, `-` for standard input, or the
/// `NAME` of blktrace's `NAME.blktrace.0`, `NAME.blktrace.1` and so on (naming any one of these
/// files selects all of them).
pub fn ask(path: &Path, question: &Question, options: &Options) -> Result<TraceAnswer, Error> {
    let opened = OpenTrace::new(path)?;
    let owned = || path.to_owned();
    let format = format_of(path, &opened)?;
    let failed = |source| Error::Read { path: owned(), source };
    if matches!(format, TraceFormat::Iostat | TraceFormat::Quantize) && options.save.is_some() {
        return Err(Error::NoIos { path: owned(), format: format.name() });
    }
    match format {
        TraceFormat::Iostat => {
            iostat_log::read(opened.reader()).map(TraceAnswer::Iostat).map_err(failed)
        }
        TraceFormat::Quantize => {
            quantize_text::read(opened.reader()).map(TraceAnswer::Histograms).map_err(failed)
        }
        format => ask_ios(path, &opened, &format, question, options, None)
            .map(|(ios, _)| TraceAnswer::Ios(ios)),
    }
}

/// Detects the format of an opened trace.
fn format_of(path: &Path, opened: &OpenTrace) -> Result<TraceFormat, Error> {
    let path = path.to_owned();
    match detect(&opened.head) {
        DetectedFormat::Known(format) => Ok(format),
        DetectedFormat::BlktraceVersion(version) => Err(Error::BlktraceVersion { path, version }),
        DetectedFormat::Compressed(command) => Err(Error::Compressed { path, command }),
        DetectedFormat::Unknown => Err(Error::Unknown(path)),
    }
}

/// Writes the I/Os of a recorded trace that match the question's filter as text, in time order.
pub fn write_events(
    path: &Path,
    question: &Question,
    options: &Options,
    text: EventFormat,
    out: &mut dyn Write,
) -> Result<WrittenLines, Error> {
    let opened = OpenTrace::new(path)?;
    match format_of(path, &opened)? {
        format @ (TraceFormat::Iostat | TraceFormat::Quantize) => {
            Err(Error::NoIos { path: path.to_owned(), format: format.name() })
        }
        format => {
            ask_ios(path, &opened, &format, question, options, Some((text, out))).map(|(_, w)| w)
        }
    }
}

/// Returns the time that I/Os spent in each stage, by device. The trace must be blktrace's.
pub fn stages(path: &Path) -> Result<Vec<DeviceStages>, Error> {
    let opened = OpenTrace::new(path)?;
    let no_stages = |why| Error::NoStages { path: path.to_owned(), why };
    let TraceFormat::Blktrace(order) = format_of(path, &opened)? else {
        // `ask` reports the error if the trace cannot be read at all.
        let question = Question::default();
        let options = Options { threads: 1, save: None };
        ask(path, &question, &options)?;
        return Err(no_stages(
            "they are only known for traces by blktrace (NAME.blktrace.N, blkparse -d)",
        ));
    };
    let names = NameTable::default();
    let found = match opened.files.as_slice() {
        [] => blktrace::stages(vec![opened.reader()], order, &names),
        files => blktrace::stages(files.iter().collect(), order, &names),
    };
    let found = found.map_err(|source| Error::Read { path: path.to_owned(), source })?;
    found.ok_or_else(|| {
        no_stages("no I/O was queued while it was recorded, or blktrace -a left queueing out")
    })
}

fn ask_ios(
    path: &Path,
    opened: &OpenTrace,
    format: &TraceFormat,
    question: &Question,
    options: &Options,
    text: Option<(EventFormat, &mut dyn Write)>,
) -> Result<(Box<IoReport>, WrittenLines), Error> {
    let names = NameTable::default();
    let saver = options.save.as_deref().map(|p| IoWriter::create(p, &names)).transpose()?;
    let filter = &question.filter;
    let text =
        text.map(|(format, out)| EventText::new(out, &names, format, filter, true, HashMap::new()));
    let taker = IoSink { analysis: IoAnalysis::new(question, &names), saver, text };
    let mut asking = TraceQuery { path, opened, names: &names, threads: options.threads, taker };
    let found = asking.read(format)?;
    if found.about.completeness.events == 0 {
        let first = opened.head.split(|b| *b == b'\n').next().unwrap_or(&[]);
        let first = String::from_utf8_lossy(&first[..first.len().min(60)]).into_owned();
        let binary = matches!(format, TraceFormat::Blktrace(_) | TraceFormat::Parquet);
        return Err(Error::Nothing {
            path: path.to_owned(),
            format: format.name(),
            first: if binary { String::new() } else { first },
        });
    }
    let TraceContents { about, files } = found;
    if let Some(saver) = asking.taker.saver {
        saver.finish(&about)?;
    }
    let written = match asking.taker.text {
        Some(text) => text.finish().map_err(Error::Write)?,
        None => WrittenLines { lines: 0, late: 0, untimed: 0 },
    };
    let source = IoSource {
        name: path.display().to_string(),
        format: about.format,
        files,
        latency_is: about.latency_is,
        recorded: about.recorded,
        notes: Vec::new(),
    };
    let wall = about.wall_offset_ns.map(i128::from);
    let report = asking.taker.analysis.report(source, about.completeness, wall);
    Ok((Box::new(report), written))
}

/// Passes I/Os to the analysis and, if requested, to the Parquet file and the text output.
struct IoSink<'a, 'o> {
    analysis: IoAnalysis<'a>,
    saver: Option<IoWriter<'a>>,
    text: Option<EventText<'a, &'o mut dyn Write>>,
}

impl IoSink<'_, '_> {
    fn keep(&mut self, io: &Io) {
        if let Some(saver) = &mut self.saver {
            saver.end(io);
        }
        if let Some(text) = &mut self.text {
            text.end(io);
        }
    }
}

impl Sink for IoSink<'_, '_> {
    fn start(&mut self, io: &Io) {
        self.analysis.start(io);
    }

    fn end(&mut self, io: &Io) {
        self.analysis.end(io);
        self.keep(io);
    }

    fn whole(&mut self, io: &Io) {
        self.analysis.whole(io);
        self.keep(io);
    }
}

/// Result of reading a trace.
struct TraceContents {
    about: TraceAbout,
    files: u32,
}

/// A question and the trace that is read to answer it.
struct TraceQuery<'a, 'o> {
    path: &'a Path,
    opened: &'a OpenTrace,
    names: &'a NameTable,
    threads: usize,
    taker: IoSink<'a, 'o>,
}

impl TraceQuery<'_, '_> {
    fn read(&mut self, format: &TraceFormat) -> Result<TraceContents, Error> {
        let names = self.names;
        let failed = |source: io::Error| Error::Read { path: self.path.to_owned(), source };
        let (completeness, recorded, wall_offset_ns) = match format {
            TraceFormat::Parquet => return self.parquet(),
            TraceFormat::Blktrace(order) => {
                self.hints(true);
                let taker = &mut self.taker;
                let threads = self.threads;
                let read = match self.opened.files.as_slice() {
                    [] => blktrace::read(vec![self.opened.reader()], *order, names, threads, taker),
                    files => blktrace::read(files.iter().collect(), *order, names, threads, taker),
                };
                let read = read.map_err(failed)?;
                (read.completeness, read.recorded, read.wall_offset_ns)
            }
            TraceFormat::Blkparse => {
                self.events(&mut BlkparseReader::new(names)).map_err(failed)?
            }
            TraceFormat::Tracepoints => {
                self.events(&mut TracepointReader::new(names)).map_err(failed)?
            }
            TraceFormat::Snoop(columns) => {
                self.rows(|| SnoopReader::new(columns.clone(), names), None).map_err(failed)?
            }
            TraceFormat::Csv(dialect) => {
                self.rows(|| CsvReader::new(*dialect, names), Some(0)).map_err(failed)?
            }
            TraceFormat::Iostat | TraceFormat::Quantize => {
                unreachable!("they contain no single I/Os")
            }
        };
        let about = TraceAbout {
            format: format.name().to_owned(),
            latency_is: latency_is(format, recorded).to_owned(),
            recorded,
            completeness,
            wall_offset_ns: wall_offset_ns.and_then(|ns| i64::try_from(ns).ok()),
        };
        Ok(TraceContents { about, files: self.opened.files.len() as u32 })
    }

    /// Tells the Parquet writer which hints the trace records.
    fn hints(&mut self, sync: bool) {
        if let Some(saver) = &mut self.taker.saver {
            saver.set_hints(Hints { sync, aio: false });
        }
    }

    fn events(&mut self, reader: &mut impl EventReader) -> io::Result<TraceRead> {
        self.hints(true);
        let (completeness, recorded) = events::read(self.opened.reader(), reader, &mut self.taker)?;
        Ok((completeness, recorded, None))
    }

    fn rows<L: rows::LineReader>(
        &mut self,
        make: impl Fn() -> L + Sync,
        wall_offset_ns: Option<i128>,
    ) -> io::Result<TraceRead> {
        // The Parquet file and the text keep the order of the trace, so a single thread reads it.
        let alone = self.taker.saver.is_some() || self.taker.text.is_some();
        let found = if let ([file], false) = (self.opened.files.as_slice(), alone) {
            rows::read_file(file, self.threads, make, &mut self.taker.analysis)?
        } else {
            let mut lines = LineBuffer::new(self.opened.reader());
            rows::read_part(&mut lines, u64::MAX, &mut make(), &mut self.taker)?
        };
        Ok((found.completeness, found.recorded, wall_offset_ns))
    }

    fn parquet(&mut self) -> Result<TraceContents, Error> {
        let path = || self.path.to_owned();
        if self.opened.files.is_empty() {
            return Err(Error::NeedsFile("Parquet"));
        }
        if self.taker.saver.is_some() {
            return Err(Error::NoIos { path: path(), format: "Parquet already" });
        }
        let read = match &mut self.taker.text {
            Some(text) => parquet_read::read_all(self.path, self.names, text),
            None => {
                parquet_read::read(self.path, self.names, self.threads, &mut self.taker.analysis)
            }
        };
        let mut about = read.map_err(|e| Error::Parquet {
            path: path(),
            reason: e.to_string().replace("Parquet error: ", ""),
        })?;
        about.format = format!("Parquet, from {}", about.format);
        Ok(TraceContents { about, files: 1 })
    }
}

/// Completeness, recorded data, and the offset from the trace's clock to nanoseconds since 1970.
type TraceRead = (Completeness, RecordedFields, Option<i128>);

/// Describes the two moments between which the latency of a trace is measured.
fn latency_is(format: &TraceFormat, recorded: RecordedFields) -> &'static str {
    match (format, recorded.latency, recorded.queue) {
        (_, false, _) => "not recorded",
        (TraceFormat::Csv(Dialect::Msr), ..) => "the response time that the trace gives",
        (TraceFormat::Snoop(_), _, true) => "queue and device as the tool gives them",
        (TraceFormat::Snoop(_), ..) => "as the tool gives it",
        (_, true, true) => "from being queued to completion",
        (_, true, false) => "from being issued to the device to completion",
    }
}

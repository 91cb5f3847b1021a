//! Reads `io.parquet`, whose columns are in [`crate::block_io::source::parquet_columns`]. Row
//! groups are read in parallel, about a thousand rows at a time.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::parquet_guard::CheckedReader;
use assay_model::SCHEMA_VERSION;
use parquet::errors::Result;
use parquet::file::reader::{FileReader, RowGroupReader};

use crate::block_io::answers::analysis::IoAnalysis;
use crate::block_io::answers::question::{Dimension, Question};
use crate::block_io::matching::event::{FileFrom, Flags, Io, Op, Sink};
use crate::block_io::names::{NameCache, NameTable};
use crate::block_io::source::parquet_columns::{ABOUT_KEY, TraceAbout, VERSION_KEY};
use crate::block_io::source::parquet_pages::{ColumnDecoder, ColumnType, wrong};

/// Number of rows decoded at once, so that all their columns stay in the CPU cache.
const BATCH: usize = 1024;

/// Reads a file into `analysis`, and returns the file's description of itself.
pub(crate) fn read<'a>(
    path: &Path,
    names: &'a NameTable,
    threads: usize,
    analysis: &mut IoAnalysis<'a>,
) -> Result<TraceAbout> {
    // The Parquet reader panics on some damaged pages. A bad file must be an error and never end
    // the program. Partial results are dropped with the panic.
    catch_unwind(AssertUnwindSafe(|| read_parts(path, names, threads, analysis)))
        .unwrap_or_else(|_| Err(wrong("a page is damaged")))
}

/// Reads every column of a file into `sink`, in row order.
pub(crate) fn read_all(path: &Path, names: &NameTable, sink: &mut impl Sink) -> Result<TraceAbout> {
    let all = |sink: &mut _| -> Result<TraceAbout> {
        let file = open(path)?;
        let about = about(&file)?;
        let wanted =
            WantedColumns { program: true, pid: true, file: true, cgroup: true, hints: true };
        read_groups(&file, 0..file.num_row_groups(), names, wanted, sink)?;
        Ok(about)
    };
    catch_unwind(AssertUnwindSafe(|| all(sink))).unwrap_or_else(|_| Err(wrong("a page is damaged")))
}

fn open(path: &Path) -> Result<CheckedReader> {
    crate::parquet_guard::open(File::open(path)?)
}

fn read_parts<'a>(
    path: &Path,
    names: &'a NameTable,
    threads: usize,
    analysis: &mut IoAnalysis<'a>,
) -> Result<TraceAbout> {
    let file = open(path)?;
    let about = about(&file)?;
    let groups = file.num_row_groups();
    let parts = threads.clamp(1, groups.max(1));
    if parts == 1 {
        let wanted = WantedColumns::by(&analysis.question);
        read_groups(&file, 0..groups, names, wanted, analysis)?;
        return Ok(about);
    }
    if let Some(start_ns) = first_start(&file)? {
        analysis.set_origin(start_ns);
    }
    let empty = &*analysis;
    let part = |p: usize| -> Result<IoAnalysis<'a>> {
        let mut own = empty.clone();
        let range = groups * p / parts..groups * (p + 1) / parts;
        let wanted = WantedColumns::by(&own.question);
        read_groups(&file, range, names, wanted, &mut own)?;
        Ok(own)
    };
    let done: Vec<Result<IoAnalysis<'a>>> = std::thread::scope(|scope| {
        let part = &part;
        let running: Vec<_> = (0..parts).map(|p| scope.spawn(move || part(p))).collect();
        let damaged = || Err(wrong("a page is damaged"));
        running.into_iter().map(|t| t.join().unwrap_or_else(|_| damaged())).collect()
    });
    for own in done {
        analysis.join_later(own?);
    }
    Ok(about)
}

fn about(file: &CheckedReader) -> Result<TraceAbout> {
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let value = |key: &str| {
        pairs?.iter().find(|pair| pair.key == key).and_then(|pair| pair.value.as_deref())
    };
    match value(VERSION_KEY).map(str::parse::<u32>) {
        Some(Ok(version)) if version <= SCHEMA_VERSION => {}
        Some(Ok(version)) => {
            return Err(wrong(format!(
                "it has format version {version}, and this assay reads up to {SCHEMA_VERSION}; use \
                 the assay that wrote it, or a newer one"
            )));
        }
        _ => return Err(wrong("it is Parquet, but not of I/Os as assay writes it")),
    }
    let about = value(ABOUT_KEY).ok_or_else(|| wrong("it does not contain I/Os"))?;
    serde_json::from_str(about).map_err(|e| wrong(format!("its metadata: {e}")))
}

fn first_start(file: &CheckedReader) -> Result<Option<u64>> {
    if file.num_row_groups() == 0 {
        return Ok(None);
    }
    let group = file.get_row_group(0)?;
    let mut starts = ColumnDecoder::new(&*group, "start_ns", ColumnType::Numbers)?;
    starts.fill(1, &mut NameCache::new(&NameTable::default()))?;
    Ok(starts.at(0))
}

/// Columns to read in addition to those that every question needs. No question needs `file_from` or
/// the flags that only a kept I/O has.
#[derive(Clone, Copy)]
struct WantedColumns {
    program: bool,
    pid: bool,
    file: bool,
    cgroup: bool,
    /// True to read `file_from` and the flags that no question is about.
    hints: bool,
}

impl WantedColumns {
    fn by(question: &Question) -> Self {
        let by = question.dimensions();
        let filter = &question.filter;
        WantedColumns {
            program: by.contains(&Dimension::Program) || !filter.programs.is_empty(),
            pid: by.contains(&Dimension::Pid) || !filter.pids.is_empty(),
            file: by.contains(&Dimension::File) || !filter.files.is_empty(),
            cgroup: by.contains(&Dimension::Cgroup) || !filter.cgroups.is_empty(),
            hints: false,
        }
    }
}

/// Columns of a row group; `None` if not wanted.
struct Columns {
    start: ColumnDecoder,
    latency: ColumnDecoder,
    queue: ColumnDecoder,
    in_device: ColumnDecoder,
    sector: ColumnDecoder,
    bytes: ColumnDecoder,
    operation: ColumnDecoder,
    device: ColumnDecoder,
    pid: Option<ColumnDecoder>,
    program: Option<ColumnDecoder>,
    file: Option<ColumnDecoder>,
    cgroup: Option<ColumnDecoder>,
    file_from: Option<ColumnDecoder>,
    /// Boolean columns, each with its flag.
    flags: Vec<(ColumnDecoder, Flags)>,
    /// Flags of the rows decoded last.
    flagged: Vec<Flags>,
}

impl Columns {
    fn new(group: &dyn RowGroupReader, wanted: WantedColumns) -> Result<Self> {
        let column = |name, holds| ColumnDecoder::new(group, name, holds);
        let int = |name| column(name, ColumnType::Numbers);
        let one = |name, holds, wanted: bool| wanted.then(|| column(name, holds)).transpose();
        let flags = [
            ("sync", Flags::SYNC),
            ("readahead", Flags::READAHEAD),
            ("aio", Flags::AIO),
            ("writeback", Flags::KERNEL),
        ];
        let hints = [("preflush", Flags::PREFLUSH), ("fua", Flags::FUA), ("metadata", Flags::META)];
        let hints = hints.into_iter().filter(|_| wanted.hints);
        let flag = |(name, flag)| Ok((column(name, ColumnType::Flags)?, flag));
        Ok(Columns {
            start: int("start_ns")?,
            latency: int("latency_ns")?,
            queue: int("queue_ns")?,
            in_device: int("device_ns")?,
            sector: int("sector")?,
            bytes: int("bytes")?,
            operation: column("operation", ColumnType::Words(operation))?,
            device: column("device", ColumnType::Names)?,
            pid: one("pid", ColumnType::Numbers, wanted.pid)?,
            program: one("program", ColumnType::Names, wanted.program)?,
            file: one("file", ColumnType::Names, wanted.file)?,
            cgroup: one("cgroup", ColumnType::Names, wanted.cgroup)?,
            file_from: one("file_from", ColumnType::Words(file_from), wanted.hints)?,
            flags: flags.into_iter().chain(hints).map(flag).collect::<Result<_>>()?,
            flagged: Vec::new(),
        })
    }

    /// Decodes the next rows of all columns and returns their number.
    fn fill(&mut self, names: &mut NameCache<'_>) -> Result<usize> {
        let rows = self.start.fill(BATCH, names)?;
        let every = [
            &mut self.latency,
            &mut self.queue,
            &mut self.in_device,
            &mut self.sector,
            &mut self.bytes,
            &mut self.operation,
            &mut self.device,
        ];
        let asked = [
            &mut self.pid,
            &mut self.program,
            &mut self.file,
            &mut self.cgroup,
            &mut self.file_from,
        ];
        let flags = self.flags.iter_mut().map(|(column, _)| column);
        for column in every.into_iter().chain(asked.into_iter().flatten()).chain(flags) {
            if column.fill(rows, names)? != rows {
                return Err(wrong("its columns are of different lengths"));
            }
        }
        self.flagged.clear();
        self.flagged.resize(rows, Flags::default());
        for (column, flag) in self.flags.iter().filter(|(column, _)| column.has_values()) {
            for (row, flags) in self.flagged.iter_mut().enumerate() {
                *flags = flags.with_if(column.at(row) == Some(1), *flag);
            }
        }
        Ok(rows)
    }

    /// Returns one of the rows decoded last.
    #[inline]
    fn io(&self, row: usize, serial: u64) -> Result<Io> {
        let lacks = || wrong("a row lacks a number");
        let text = |column: &ColumnDecoder| column.at(row).map_or(NameTable::NONE, |id| id as u32);
        let asked = |column: &Option<ColumnDecoder>| column.as_ref().map_or(NameTable::NONE, text);
        let number = |column: &Option<ColumnDecoder>| column.as_ref().and_then(|c| c.at(row));
        let op = self.operation.at(row).and_then(|number| Op::ALL.get(number as usize));
        let from = number(&self.file_from).and_then(|n| FileFrom::ALL.get(n as usize));
        Ok(Io {
            serial,
            start_ns: self.start.at(row).ok_or_else(lacks)?,
            latency_ns: self.latency.at(row),
            queue_ns: self.queue.at(row),
            device_ns: self.in_device.at(row),
            device: text(&self.device),
            sector: self.sector.at(row).ok_or_else(lacks)?,
            bytes: self.bytes.at(row).ok_or_else(lacks)?,
            op: *op.ok_or_else(|| wrong("a row has an unknown operation"))?,
            flags: self.flagged[row],
            pid: number(&self.pid).and_then(|pid| u32::try_from(pid).ok()),
            // The KERNEL flag marks writeback. A write without a recorded program would count as
            // writeback too, so if programs are not read, the program is `OTHERS` and not `NONE`.
            program: self.program.as_ref().map_or(NameTable::OTHERS, text),
            file: asked(&self.file),
            file_from: from.copied().unwrap_or_default(),
            cgroup: asked(&self.cgroup),
        })
    }
}

/// Returns the index of an operation in [`Op::ALL`], or its length if the name is unknown.
fn operation(word: &[u8]) -> u64 {
    let known = Op::ALL.iter().position(|op| op.name().as_bytes() == word);
    known.unwrap_or(Op::ALL.len()) as u64
}

/// Returns the index of a source in [`FileFrom::ALL`], or its length if the name is unknown.
fn file_from(word: &[u8]) -> u64 {
    let known = FileFrom::ALL.iter().position(|from| from.name().as_bytes() == word);
    known.unwrap_or(FileFrom::ALL.len()) as u64
}

fn read_groups(
    file: &CheckedReader,
    groups: std::ops::Range<usize>,
    names: &NameTable,
    wanted: WantedColumns,
    sink: &mut impl Sink,
) -> Result<()> {
    let mut cache = NameCache::new(names);
    let mut serial = 0;
    for group in groups {
        let group = file.get_row_group(group)?;
        let mut columns = Columns::new(&*group, wanted)?;
        loop {
            let rows = columns.fill(&mut cache)?;
            if rows == 0 {
                break;
            }
            for row in 0..rows {
                sink.whole(&columns.io(row, serial)?);
                serial += 1;
            }
        }
    }
    Ok(())
}

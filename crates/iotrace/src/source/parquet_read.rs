//! Reads `io.parquet`; see [`crate::source::parquet_columns`]. Row groups are read by as many threads as
//! there are CPUs, a thousand rows at a time. Columns become one number a row: what they hold, or what stands
//! for their texts.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use assay_model::SCHEMA_VERSION;
use assay_parquet_guard::Reader;
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader};
use parquet::file::statistics::Statistics;

use crate::analysis::Analysis;
use crate::event::{FileFrom, Flags, Io, Op, Sink};
use crate::names::{NameCache, Names};
use crate::question::{Dimension, Question};
use crate::source::parquet_columns::{ABOUT_KEY, TraceAbout, VERSION_KEY};

/// An error about what a file holds.
fn wrong(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// Rows that are decoded at once: all columns of them stay in a near cache.
const BATCH: usize = 1024;

/// Reads a file into `analysis`, and what it says of itself.
pub(crate) fn read<'a>(
    path: &Path,
    names: &'a Names,
    threads: usize,
    analysis: &mut Analysis<'a>,
) -> Result<TraceAbout> {
    // The reader asserts what a damaged page may break; a bad file is an error here, never the end of
    // the program. What it had built is dropped with the panic.
    catch_unwind(AssertUnwindSafe(|| read_parts(path, names, threads, analysis)))
        .unwrap_or_else(|_| Err(wrong("a page of it is damaged")))
}

/// Reads every column of a file into `sink`, in the order of its rows.
pub(crate) fn read_all(path: &Path, names: &Names, sink: &mut impl Sink) -> Result<TraceAbout> {
    let all = |sink: &mut _| -> Result<TraceAbout> {
        let file = open(path)?;
        let about = about(&file)?;
        let wanted = Wanted { program: true, pid: true, file: true, cgroup: true, hints: true };
        read_groups(&file, 0..file.num_row_groups(), names, wanted, sink)?;
        Ok(about)
    };
    catch_unwind(AssertUnwindSafe(|| all(sink)))
        .unwrap_or_else(|_| Err(wrong("a page of it is damaged")))
}

/// Opens a file for reading; see [`assay_parquet_guard::open`].
fn open(path: &Path) -> Result<Reader> {
    assay_parquet_guard::open(File::open(path)?)
}

fn read_parts<'a>(
    path: &Path,
    names: &'a Names,
    threads: usize,
    analysis: &mut Analysis<'a>,
) -> Result<TraceAbout> {
    let file = open(path)?;
    let about = about(&file)?;
    let groups = file.num_row_groups();
    let parts = threads.clamp(1, groups.max(1));
    if parts == 1 {
        let wanted = Wanted::by(&analysis.question);
        read_groups(&file, 0..groups, names, wanted, analysis)?;
        return Ok(about);
    }
    if let Some(start_ns) = first_start(&file)? {
        analysis.set_origin(start_ns);
    }
    let empty = &*analysis;
    let part = |p: usize| -> Result<Analysis<'a>> {
        let mut own = empty.clone();
        let range = groups * p / parts..groups * (p + 1) / parts;
        let wanted = Wanted::by(&own.question);
        read_groups(&file, range, names, wanted, &mut own)?;
        Ok(own)
    };
    let done: Vec<Result<Analysis<'a>>> = std::thread::scope(|scope| {
        let part = &part;
        let running: Vec<_> = (0..parts).map(|p| scope.spawn(move || part(p))).collect();
        let damaged = || Err(wrong("a page of it is damaged"));
        running.into_iter().map(|t| t.join().unwrap_or_else(|_| damaged())).collect()
    });
    for own in done {
        analysis.join_later(own?);
    }
    Ok(about)
}

fn about(file: &Reader) -> Result<TraceAbout> {
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
    let about = value(ABOUT_KEY).ok_or_else(|| wrong("it is not of I/Os"))?;
    serde_json::from_str(about).map_err(|e| wrong(format!("its metadata: {e}")))
}

fn first_start(file: &Reader) -> Result<Option<u64>> {
    if file.num_row_groups() == 0 {
        return Ok(None);
    }
    let group = file.get_row_group(0)?;
    let mut starts = Column::new(&*group, "start_ns", Holds::Numbers)?;
    starts.fill(1, &mut NameCache::new(&Names::default()))?;
    Ok(starts.at(0))
}

/// The values of a column, and the number that stands for each.
#[derive(Clone, Copy)]
enum Holds {
    /// Whole numbers.
    Numbers,
    /// Yes and no: 1 and 0.
    Flags,
    /// Texts of any kind: ids of names.
    Names,
    /// Texts of a few: the number that this gives.
    Words(fn(&[u8]) -> u64),
}

impl Holds {
    fn physical(self) -> Type {
        match self {
            Holds::Numbers => Type::INT64,
            Holds::Flags => Type::BOOLEAN,
            Holds::Names | Holds::Words(_) => Type::BYTE_ARRAY,
        }
    }

    fn text(self, text: &[u8], names: &mut NameCache<'_>) -> u64 {
        match self {
            Holds::Words(number) => number(text),
            _ => u64::from(names.id(text)),
        }
    }
}

/// A column of a row group.
struct Column {
    /// `None`: the file says that all values of the row group are null.
    reader: Option<ColumnReader>,
    holds: Holds,
    /// The rows that were decoded last, and which of them have a value.
    rows: Vec<Option<u64>>,
    levels: Vec<i16>,
}

impl Column {
    /// The column of this name.
    fn new(group: &dyn RowGroupReader, name: &str, holds: Holds) -> Result<Self> {
        let unexpected = |what: &str| wrong(format!("column `{name}`: {what}"));
        let schema = group.metadata().schema_descr_ptr();
        let at = (0..schema.num_columns()).find(|i| schema.column(*i).path().parts() == [name]);
        let at = at.ok_or_else(|| unexpected("it is not there"))?;
        let column = schema.column(at);
        if column.physical_type() != holds.physical() {
            return Err(unexpected("it is of another type"));
        }
        if column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(unexpected("it is nested"));
        }
        let nulls = group.metadata().column(at).statistics().and_then(Statistics::null_count_opt);
        let rows = u64::try_from(group.metadata().num_rows()).ok();
        let all_null = column.max_def_level() == 1 && nulls.is_some() && nulls == rows;
        let reader = if all_null { None } else { Some(group.get_column_reader(at)?) };
        Ok(Column { reader, holds, rows: Vec::new(), levels: Vec::new() })
    }

    /// Decodes the next rows; how many there are.
    fn fill(&mut self, rows: usize, names: &mut NameCache<'_>) -> Result<usize> {
        self.rows.clear();
        let (into, levels) = (&mut self.rows, &mut self.levels);
        match &mut self.reader {
            None => return Ok(rows),
            Some(ColumnReader::Int64ColumnReader(numbers)) => {
                decode(numbers, rows, levels, into, i64::cast_unsigned)?;
            }
            Some(ColumnReader::BoolColumnReader(flags)) => {
                decode(flags, rows, levels, into, u64::from)?;
            }
            Some(ColumnReader::ByteArrayColumnReader(texts)) => {
                let mut last = (ByteArray::from(""), self.holds.text(b"", names));
                decode(texts, rows, levels, into, |text| {
                    if last.0 != text {
                        last = (text.clone(), self.holds.text(text.data(), names));
                    }
                    last.1
                })?;
            }
            Some(_) => return Err(wrong("a column is of another type")),
        }
        Ok(self.rows.len())
    }

    /// Whether any of the rows that were decoded last has a value.
    fn has_values(&self) -> bool {
        !self.rows.is_empty()
    }

    /// What a row holds, of those that were decoded last; `None` where it is null.
    #[inline]
    fn at(&self, row: usize) -> Option<u64> {
        self.rows.get(row).copied().flatten()
    }
}

/// Decodes the next rows of a column, each value as the number that `number` makes of it.
fn decode<T: DataType>(
    column: &mut ColumnReaderImpl<T>,
    rows: usize,
    levels: &mut Vec<i16>,
    into: &mut Vec<Option<u64>>,
    number: impl FnMut(T::T) -> u64,
) -> Result<()> {
    levels.clear();
    let mut values = Vec::with_capacity(rows);
    let (read, present, _) = column.read_records(rows, Some(levels), None, &mut values)?;
    let mut numbers = values.into_iter().map(number);
    if present == read {
        into.extend(numbers.map(Some));
    } else {
        into.extend(levels.iter().map(|level| if *level == 1 { numbers.next() } else { None }));
    }
    Ok(())
}

/// Which columns are read beside those that every question needs. A question asks neither how a file is
/// known nor for the flags that only a kept I/O has.
#[derive(Clone, Copy)]
struct Wanted {
    program: bool,
    pid: bool,
    file: bool,
    cgroup: bool,
    /// The flags that no question is about.
    hints: bool,
}

impl Wanted {
    fn by(question: &Question) -> Self {
        let by = question.dimensions();
        let filter = &question.filter;
        Wanted {
            program: by.contains(&Dimension::Program) || !filter.programs.is_empty(),
            pid: by.contains(&Dimension::Pid) || !filter.pids.is_empty(),
            file: by.contains(&Dimension::File) || !filter.files.is_empty(),
            cgroup: by.contains(&Dimension::Cgroup) || !filter.cgroups.is_empty(),
            hints: false,
        }
    }
}

/// The columns of a row group; `None`: not wanted.
struct Columns {
    start: Column,
    latency: Column,
    queue: Column,
    in_device: Column,
    sector: Column,
    bytes: Column,
    operation: Column,
    device: Column,
    pid: Option<Column>,
    program: Option<Column>,
    file: Option<Column>,
    cgroup: Option<Column>,
    file_from: Option<Column>,
    /// Those that say yes or no, each with its flag.
    flags: Vec<(Column, Flags)>,
    /// The flags of the rows that were decoded last.
    flagged: Vec<Flags>,
}

impl Columns {
    fn new(group: &dyn RowGroupReader, wanted: Wanted) -> Result<Self> {
        let column = |name, holds| Column::new(group, name, holds);
        let int = |name| column(name, Holds::Numbers);
        let one = |name, holds, wanted: bool| wanted.then(|| column(name, holds)).transpose();
        let flags = [
            ("sync", Flags::SYNC),
            ("readahead", Flags::READAHEAD),
            ("aio", Flags::AIO),
            ("writeback", Flags::KERNEL),
        ];
        let hints = [("preflush", Flags::PREFLUSH), ("fua", Flags::FUA), ("metadata", Flags::META)];
        let hints = hints.into_iter().filter(|_| wanted.hints);
        let flag = |(name, flag)| Ok((column(name, Holds::Flags)?, flag));
        Ok(Columns {
            start: int("start_ns")?,
            latency: int("latency_ns")?,
            queue: int("queue_ns")?,
            in_device: int("device_ns")?,
            sector: int("sector")?,
            bytes: int("bytes")?,
            operation: column("operation", Holds::Words(operation))?,
            device: column("device", Holds::Names)?,
            pid: one("pid", Holds::Numbers, wanted.pid)?,
            program: one("program", Holds::Names, wanted.program)?,
            file: one("file", Holds::Names, wanted.file)?,
            cgroup: one("cgroup", Holds::Names, wanted.cgroup)?,
            file_from: one("file_from", Holds::Words(file_from), wanted.hints)?,
            flags: flags.into_iter().chain(hints).map(flag).collect::<Result<_>>()?,
            flagged: Vec::new(),
        })
    }

    /// Decodes the next rows of all columns; how many there are.
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

    /// A row of those that were decoded last.
    #[inline]
    fn io(&self, row: usize, serial: u64) -> Result<Io> {
        let lacks = || wrong("a row lacks a number");
        let text = |column: &Column| column.at(row).map_or(Names::NONE, |id| id as u32);
        let asked = |column: &Option<Column>| column.as_ref().map_or(Names::NONE, text);
        let number = |column: &Option<Column>| column.as_ref().and_then(|c| c.at(row));
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
            op: *op.ok_or_else(|| wrong("a row has an operation that is not known"))?,
            flags: self.flagged[row],
            pid: number(&self.pid).and_then(|pid| u32::try_from(pid).ok()),
            // What writes back is known by its flag. A write of which no program is recorded would be
            // taken for one, so a program that nobody asks for is any, not none.
            program: self.program.as_ref().map_or(Names::OTHERS, text),
            file: asked(&self.file),
            file_from: from.copied().unwrap_or_default(),
            cgroup: asked(&self.cgroup),
        })
    }
}

/// The number of an operation; beyond all of them where it is not known.
fn operation(word: &[u8]) -> u64 {
    let known = Op::ALL.iter().position(|op| op.name().as_bytes() == word);
    known.unwrap_or(Op::ALL.len()) as u64
}

/// The number of how a file is known; beyond all of them where that is not known.
fn file_from(word: &[u8]) -> u64 {
    let known = FileFrom::ALL.iter().position(|from| from.name().as_bytes() == word);
    known.unwrap_or(FileFrom::ALL.len()) as u64
}

fn read_groups(
    file: &Reader,
    groups: std::ops::Range<usize>,
    names: &Names,
    wanted: Wanted,
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

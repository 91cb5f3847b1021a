//! Reads `io.parquet`; see [`crate::source::parquet_columns`]. Row groups are read by as many threads as
//! there are CPUs, a few thousand rows at a time.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use assay_model::SCHEMA_VERSION;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::statistics::Statistics;

use crate::analysis::Analysis;
use crate::event::{FileFrom, Flags, Io, Op, Sink};
use crate::names::{NameCache, Names};
use crate::question::{Dimension, Question};
use crate::source::parquet_columns::{ABOUT_KEY, TraceAbout, VERSION_KEY};

/// Rows that are read at once.
const BATCH: usize = 8192;

fn wrong(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

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
fn open(path: &Path) -> Result<SerializedFileReader<File>> {
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
        // Each thread has a file of its own, since a file has one place at which it is read.
        let range = groups * p / parts..groups * (p + 1) / parts;
        let wanted = Wanted::by(&own.question);
        read_groups(&open(path)?, range, names, wanted, &mut own)?;
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

fn about(file: &SerializedFileReader<File>) -> Result<TraceAbout> {
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

fn first_start(file: &SerializedFileReader<File>) -> Result<Option<u64>> {
    if file.num_row_groups() == 0 {
        return Ok(None);
    }
    let group = file.get_row_group(0)?;
    let mut starts = Column::<Int64Type>::new(&*group, "start_ns")?;
    starts.fill(1)?;
    Ok(starts.number())
}

/// A column, some thousand rows of it at a time.
struct Column<T: DataType> {
    /// `None`: the file says that all values of the row group are null.
    reader: Option<ColumnReaderImpl<T>>,
    optional: bool,
    values: Vec<T::T>,
    there: Vec<i16>,
    /// The place in `values` of the next value, and that in `there` of the next row.
    value: usize,
    row: usize,
    /// Whether none of the rows that were read last is null.
    dense: bool,
}

impl<T: DataType> Column<T> {
    fn new(group: &dyn RowGroupReader, name: &str) -> Result<Self> {
        let unexpected = |what: &str| wrong(format!("column `{name}`: {what}"));
        let schema = group.metadata().schema_descr_ptr();
        let at = (0..schema.num_columns()).find(|i| schema.column(*i).path().parts() == [name]);
        let at = at.ok_or_else(|| unexpected("it is not there"))?;
        let column = schema.column(at);
        if column.physical_type() != T::get_physical_type() {
            return Err(unexpected("it is of another type"));
        }
        if column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(unexpected("it is nested"));
        }
        let optional = column.max_def_level() == 1;
        let nulls = group.metadata().column(at).statistics().and_then(Statistics::null_count_opt);
        let rows = u64::try_from(group.metadata().num_rows()).ok();
        let reader = if optional && nulls.is_some() && nulls == rows {
            None
        } else {
            Some(get_typed_column_reader::<T>(group.get_column_reader(at)?))
        };
        Ok(Column {
            reader,
            optional,
            values: Vec::new(),
            there: Vec::new(),
            value: 0,
            row: 0,
            dense: false,
        })
    }

    /// The column if it is wanted.
    fn wanted(group: &dyn RowGroupReader, name: &str, wanted: bool) -> Result<Option<Self>> {
        wanted.then(|| Column::new(group, name)).transpose()
    }

    /// Reads the next rows; how many there are.
    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.values.clear();
        self.there.clear();
        (self.value, self.row) = (0, 0);
        let Some(reader) = &mut self.reader else { return Ok(rows) };
        let mut filled = 0;
        while filled < rows {
            let levels = self.optional.then_some(&mut self.there);
            let (read, _, _) =
                reader.read_records(rows - filled, levels, None, &mut self.values)?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        self.dense = self.values.len() == filled;
        Ok(filled)
    }

    /// The value of the next row; `None` where it is null.
    #[inline]
    fn next(&mut self) -> Option<&T::T> {
        let row = self.row;
        self.row += 1;
        if self.dense {
            return self.values.get(row);
        }
        if self.there.get(row) != Some(&1) {
            return None;
        }
        self.value += 1;
        self.values.get(self.value - 1)
    }
}

impl Column<Int64Type> {
    #[inline]
    fn number(&mut self) -> Option<u64> {
        self.next().map(|v| *v as u64)
    }

    #[inline]
    fn required(&mut self) -> Result<u64> {
        self.number().ok_or_else(|| wrong("a row lacks a number"))
    }
}

impl Column<BoolType> {
    #[inline]
    fn is_set(&mut self) -> bool {
        self.next().copied().unwrap_or(false)
    }
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

/// The columns of a row group.
struct Columns {
    start: Column<Int64Type>,
    latency: Column<Int64Type>,
    queue: Column<Int64Type>,
    in_device: Column<Int64Type>,
    sector: Column<Int64Type>,
    bytes: Column<Int64Type>,
    sync: Column<BoolType>,
    readahead: Column<BoolType>,
    aio: Column<BoolType>,
    writeback: Column<BoolType>,
    operation: Column<ByteArrayType>,
    device: Column<ByteArrayType>,
    pid: Option<Column<Int64Type>>,
    program: Option<Column<ByteArrayType>>,
    file: Option<Column<ByteArrayType>>,
    cgroup: Option<Column<ByteArrayType>>,
    file_from: Option<Column<ByteArrayType>>,
    preflush: Option<Column<BoolType>>,
    fua: Option<Column<BoolType>>,
    metadata: Option<Column<BoolType>>,
}

impl Columns {
    fn new(group: &dyn RowGroupReader, wanted: Wanted) -> Result<Self> {
        let int = |name| Column::<Int64Type>::new(group, name);
        let flag = |name| Column::<BoolType>::new(group, name);
        let text = |name| Column::<ByteArrayType>::new(group, name);
        Ok(Columns {
            start: int("start_ns")?,
            latency: int("latency_ns")?,
            queue: int("queue_ns")?,
            in_device: int("device_ns")?,
            sector: int("sector")?,
            bytes: int("bytes")?,
            sync: flag("sync")?,
            readahead: flag("readahead")?,
            aio: flag("aio")?,
            writeback: flag("writeback")?,
            operation: text("operation")?,
            device: text("device")?,
            pid: Column::wanted(group, "pid", wanted.pid)?,
            program: Column::wanted(group, "program", wanted.program)?,
            file: Column::wanted(group, "file", wanted.file)?,
            cgroup: Column::wanted(group, "cgroup", wanted.cgroup)?,
            file_from: Column::wanted(group, "file_from", wanted.hints)?,
            preflush: Column::wanted(group, "preflush", wanted.hints)?,
            fua: Column::wanted(group, "fua", wanted.hints)?,
            metadata: Column::wanted(group, "metadata", wanted.hints)?,
        })
    }

    /// Reads the next rows of all columns; how many there are.
    fn fill(&mut self) -> Result<usize> {
        let rows = self.start.fill(BATCH)?;
        let mut same = true;
        let numbers = [
            &mut self.latency,
            &mut self.queue,
            &mut self.in_device,
            &mut self.sector,
            &mut self.bytes,
        ];
        for column in numbers.into_iter().chain(&mut self.pid) {
            same &= column.fill(rows)? == rows;
        }
        let hints = [&mut self.preflush, &mut self.fua, &mut self.metadata].into_iter().flatten();
        let flags = [&mut self.sync, &mut self.readahead, &mut self.aio, &mut self.writeback];
        for column in flags.into_iter().chain(hints) {
            same &= column.fill(rows)? == rows;
        }
        let asked = [&mut self.program, &mut self.file, &mut self.cgroup, &mut self.file_from]
            .into_iter()
            .flatten();
        for column in [&mut self.operation, &mut self.device].into_iter().chain(asked) {
            same &= column.fill(rows)? == rows;
        }
        if same { Ok(rows) } else { Err(wrong("its columns are of different lengths")) }
    }

    #[inline]
    fn io(&mut self, serial: u64, names: &mut NameCache<'_>) -> Result<Io> {
        let mut id = |text: Option<&ByteArray>| text.map_or(Names::NONE, |t| names.id(t.data()));
        let op = self.operation.next().and_then(|word| operation(word.data()));
        let flags = Flags::default()
            .with_if(self.sync.is_set(), Flags::SYNC)
            .with_if(self.readahead.is_set(), Flags::READAHEAD)
            .with_if(self.aio.is_set(), Flags::AIO)
            .with_if(self.writeback.is_set(), Flags::KERNEL)
            .with_if(self.preflush.as_mut().is_some_and(Column::is_set), Flags::PREFLUSH)
            .with_if(self.fua.as_mut().is_some_and(Column::is_set), Flags::FUA)
            .with_if(self.metadata.as_mut().is_some_and(Column::is_set), Flags::META);
        let from = self.file_from.as_mut().and_then(Column::next).map(ByteArray::data);
        let file_from = FileFrom::ALL
            .into_iter()
            .find(|f| Some(f.name().as_bytes()) == from)
            .unwrap_or_default();
        Ok(Io {
            serial,
            start_ns: self.start.required()?,
            latency_ns: self.latency.number(),
            queue_ns: self.queue.number(),
            device_ns: self.in_device.number(),
            device: id(self.device.next()),
            sector: self.sector.required()?,
            bytes: self.bytes.required()?,
            op: op.ok_or_else(|| wrong("a row has an operation that is not known"))?,
            flags,
            pid: self.pid.as_mut().and_then(Column::number).and_then(|v| u32::try_from(v).ok()),
            // What writes back is known by its flag. A write of which no program is recorded would be
            // taken for one, so a program that nobody asks for is any, not none.
            program: self.program.as_mut().map_or(Names::OTHERS, |c| id(c.next())),
            file: self.file.as_mut().map_or(Names::NONE, |c| id(c.next())),
            file_from,
            cgroup: self.cgroup.as_mut().map_or(Names::NONE, |c| id(c.next())),
        })
    }
}

#[inline]
fn operation(word: &[u8]) -> Option<Op> {
    match word {
        b"read" => Some(Op::Read),
        b"write" => Some(Op::Write),
        _ => Op::ALL.into_iter().find(|op| op.name().as_bytes() == word),
    }
}

fn read_groups(
    file: &SerializedFileReader<File>,
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
            let rows = columns.fill()?;
            if rows == 0 {
                break;
            }
            for _ in 0..rows {
                let io = columns.io(serial, &mut cache)?;
                serial += 1;
                sink.whole(&io);
            }
        }
    }
    Ok(())
}

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

use crate::analysis::Analysis;
use crate::event::{FileFrom, Flags, Io, Op, Sink};
use crate::names::{NameCache, Names};
use crate::parquet_guard;
use crate::source::parquet_columns::{ABOUT_KEY, LATER, TraceAbout, VERSION_KEY};

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

/// Opens a file for reading; see [`parquet_guard::open`].
fn open(path: &Path) -> Result<SerializedFileReader<File>> {
    parquet_guard::open(File::open(path)?)
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
        read_groups(&file, 0..groups, names, analysis)?;
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
        read_groups(&open(path)?, range, names, &mut own)?;
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
    serde_json::from_str(about).map_err(|e| wrong(format!("what it says of itself: {e}")))
}

fn first_start(file: &SerializedFileReader<File>) -> Result<Option<u64>> {
    if file.num_row_groups() == 0 {
        return Ok(None);
    }
    let group = file.get_row_group(0)?;
    let mut starts = Column::<Int64Type>::new(&*group, "start_ns")?;
    starts.fill(1)?;
    Ok(starts.next().map(|ns| ns as u64))
}

/// A column, some thousand rows of it at a time.
struct Column<T: DataType> {
    reader: ColumnReaderImpl<T>,
    optional: bool,
    values: Vec<T::T>,
    there: Vec<i16>,
    value: usize,
    row: usize,
}

impl<T: DataType> Column<T> {
    fn new(group: &dyn RowGroupReader, name: &str) -> Result<Self> {
        let there = Column::later(group, name)?;
        there.ok_or_else(|| wrong(format!("column `{name}`: it is not there")))
    }

    /// A column that files may lack.
    fn later(group: &dyn RowGroupReader, name: &str) -> Result<Option<Self>> {
        let unexpected = |what: &str| wrong(format!("column `{name}`: {what}"));
        let schema = group.metadata().schema_descr_ptr();
        let mut columns = 0..schema.num_columns();
        let Some(at) = columns.find(|i| schema.column(*i).path().parts() == [name]) else {
            return Ok(None);
        };
        let column = schema.column(at);
        if column.physical_type() != T::get_physical_type() {
            return Err(unexpected("it is of another type"));
        }
        if column.max_rep_level() != 0 || column.max_def_level() > 1 {
            return Err(unexpected("it is nested"));
        }
        Ok(Some(Column {
            reader: get_typed_column_reader::<T>(group.get_column_reader(at)?),
            optional: column.max_def_level() == 1,
            values: Vec::new(),
            there: Vec::new(),
            value: 0,
            row: 0,
        }))
    }

    /// Reads the next rows; how many there are.
    fn fill(&mut self, rows: usize) -> Result<usize> {
        self.values.clear();
        self.there.clear();
        (self.value, self.row) = (0, 0);
        let mut filled = 0;
        while filled < rows {
            let levels = self.optional.then_some(&mut self.there);
            let (read, _, _) =
                self.reader.read_records(rows - filled, levels, None, &mut self.values)?;
            if read == 0 {
                break;
            }
            filled += read;
        }
        Ok(filled)
    }

    /// The value of the next row; `None` where it is null.
    fn next(&mut self) -> Option<T::T> {
        let there = !self.optional || self.there.get(self.row).is_some_and(|level| *level == 1);
        self.row += 1;
        if !there {
            return None;
        }
        let value = self.values.get(self.value).cloned();
        self.value += 1;
        value
    }
}

/// The columns of a row group.
struct Columns {
    start: Column<Int64Type>,
    times: [Column<Int64Type>; 3],
    place: [Column<Int64Type>; 2],
    pid: Column<Int64Type>,
    flags: [Column<BoolType>; 4],
    operation: Column<ByteArrayType>,
    names: [Column<ByteArrayType>; 4],
    file_from: Option<Column<ByteArrayType>>,
    later_flags: [Option<Column<BoolType>>; 3],
}

impl Columns {
    fn new(group: &dyn RowGroupReader) -> Result<Self> {
        let int = |name| Column::<Int64Type>::new(group, name);
        let flag = |name| Column::<BoolType>::new(group, name);
        let text = |name| Column::<ByteArrayType>::new(group, name);
        Ok(Columns {
            start: int("start_ns")?,
            times: [int("latency_ns")?, int("queue_ns")?, int("device_ns")?],
            place: [int("sector")?, int("bytes")?],
            pid: int("pid")?,
            flags: [flag("sync")?, flag("readahead")?, flag("aio")?, flag("writeback")?],
            operation: text("operation")?,
            names: [text("device")?, text("program")?, text("file")?, text("cgroup")?],
            file_from: Column::later(group, LATER[0])?,
            later_flags: [
                Column::later(group, LATER[1])?,
                Column::later(group, LATER[2])?,
                Column::later(group, LATER[3])?,
            ],
        })
    }

    fn fill(&mut self) -> Result<usize> {
        let rows = self.start.fill(BATCH)?;
        let mut same = self.pid.fill(BATCH)? == rows && self.operation.fill(BATCH)? == rows;
        for column in self.times.iter_mut().chain(&mut self.place) {
            same &= column.fill(BATCH)? == rows;
        }
        for column in &mut self.flags {
            same &= column.fill(BATCH)? == rows;
        }
        for column in self.names.iter_mut().chain(&mut self.file_from) {
            same &= column.fill(BATCH)? == rows;
        }
        for column in self.later_flags.iter_mut().flatten() {
            same &= column.fill(BATCH)? == rows;
        }
        if same { Ok(rows) } else { Err(wrong("its columns are of different lengths")) }
    }

    /// How the file of the next row is known. A word of a newer assay is as good as none.
    fn file_from(&mut self) -> FileFrom {
        let word = self.file_from.as_mut().and_then(Column::next);
        let known = word.and_then(|w| {
            FileFrom::ALL.into_iter().find(|from| from.name().as_bytes() == w.data())
        });
        known.unwrap_or_default()
    }

    fn io(&mut self, serial: u64, names: &mut NameCache<'_>) -> Result<Io> {
        let required = |column: &mut Column<Int64Type>| {
            column.next().map(|v| v as u64).ok_or_else(|| wrong("a row lacks a number"))
        };
        let [latency_ns, queue_ns, device_ns] =
            self.times.each_mut().map(|c| c.next().map(|v| v as u64));
        let word = self.operation.next();
        let op = Op::ALL
            .into_iter()
            .find(|op| word.as_ref().is_some_and(|w| w.data() == op.name().as_bytes()));
        let mut id = |text: Option<ByteArray>| text.map_or(Names::NONE, |t| names.id(t.data()));
        let [device, program, file, cgroup] = self.names.each_mut().map(|c| id(c.next()));
        let [sync, readahead, aio, writeback] =
            self.flags.each_mut().map(|c| c.next().unwrap_or(false));
        let flags = Flags::default()
            .with_if(sync, Flags::SYNC)
            .with_if(readahead, Flags::READAHEAD)
            .with_if(aio, Flags::AIO)
            .with_if(writeback, Flags::KERNEL);
        let [preflush, fua, metadata] =
            self.later_flags.each_mut().map(|c| c.as_mut().and_then(Column::next).unwrap_or(false));
        let flags = flags
            .with_if(preflush, Flags::PREFLUSH)
            .with_if(fua, Flags::FUA)
            .with_if(metadata, Flags::META);
        let [sector, bytes] = &mut self.place;
        Ok(Io {
            serial,
            start_ns: required(&mut self.start)?,
            latency_ns,
            queue_ns,
            device_ns,
            device,
            sector: required(sector)?,
            bytes: required(bytes)?,
            op: op.ok_or_else(|| wrong("a row has an operation that is not known"))?,
            flags,
            pid: self.pid.next().and_then(|v| u32::try_from(v).ok()),
            program,
            file,
            file_from: self.file_from(),
            cgroup,
        })
    }
}

fn read_groups(
    file: &SerializedFileReader<File>,
    groups: std::ops::Range<usize>,
    names: &Names,
    sink: &mut impl Sink,
) -> Result<()> {
    let mut cache = NameCache::new(names);
    let mut serial = 0;
    for group in groups {
        let group = file.get_row_group(group)?;
        let mut columns = Columns::new(&*group)?;
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

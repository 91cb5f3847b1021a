//! Writes `io.parquet`; the schema is in [`crate::block_io::source::parquet_columns`]. Used to save
//! the I/Os of a trace that is read, and by live tracers.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::parquet_guard::{write_column, write_optional};
use assay_model::SCHEMA_VERSION;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::block_io::error::Error;
use crate::block_io::matching::event::{FileFrom, Flags, Io, Sink};
use crate::block_io::names::NameTable;
use crate::block_io::source::parquet_columns::{ABOUT_KEY, SCHEMA, TraceAbout, VERSION_KEY};
use crate::block_io::source::row_log::RowLog;

/// Number of rows per row group.
const GROUP: usize = 1 << 16;

/// Hints that a trace format records. Columns of hints that it does not record are null.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// True if REQ_SYNC, REQ_RAHEAD, REQ_PREFLUSH, REQ_FUA, REQ_META and writeback by kernel
    /// threads are recorded.
    pub sync: bool,
    /// True if asynchronous submission is recorded.
    pub aio: bool,
}

/// Writer of I/Os to a Parquet file: pass it every I/O as a [`Sink`], then call
/// [`IoWriter::finish`]. The file gets its name when it is complete; a writer that is dropped
/// earlier leaves no file. It holds at most 131,072 I/Os in memory to sort them by start.
pub struct IoWriter<'a> {
    path: PathBuf,
    temporary: PathBuf,
    names: &'a NameTable,
    hints: Hints,
    writer: SerializedFileWriter<File>,
    /// Completed I/Os that are not written yet. They complete in another order than they start, so
    /// of two row groups the half that started first is written.
    rows: Vec<Io>,
    /// Holds all I/Os until the end if [`IoWriter::encode_at_end`] was called.
    log: Option<RowLog>,
    failure: Option<String>,
}

impl<'a> IoWriter<'a> {
    /// Starts a temporary file next to `path`, which is renamed to `path` when it is complete.
    pub fn create(path: &Path, names: &'a NameTable) -> Result<Self, Error> {
        let failed = |reason: String| Error::Save { path: path.to_owned(), reason };
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        let file = File::create(&temporary).map_err(|e| failed(e.to_string()))?;
        // Times and addresses hardly ever repeat within a group, so a dictionary would be as long
        // as the values.
        let numbers = ["start_ns", "latency_ns", "queue_ns", "device_ns", "sector"];
        let plain = |properties: WriterPropertiesBuilder, name: &&str| {
            properties.set_column_dictionary_enabled(ColumnPath::from(*name), false)
        };
        let properties = numbers
            .iter()
            .fold(WriterProperties::builder(), plain)
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(format!("assay {}", env!("CARGO_PKG_VERSION")))
            .build();
        let schema = parse_message_type(SCHEMA).map_err(|e| failed(e.to_string()))?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(|e| failed(e.to_string()))?;
        Ok(IoWriter {
            path: path.to_owned(),
            temporary,
            names,
            hints: Hints::default(),
            writer,
            rows: Vec::new(),
            log: None,
            failure: None,
        })
    }

    pub fn set_hints(&mut self, hints: Hints) {
        self.hints = hints;
    }

    /// Stores I/Os unencoded in an unnamed file next to this one (79 bytes per I/O) and encodes
    /// them in [`IoWriter::finish`], so that encoding does not compete with a load for the CPU.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn encode_at_end(&mut self) -> Result<(), Error> {
        let log = RowLog::create(&self.temporary.with_extension("rows.tmp"));
        let failed =
            |e: std::io::Error| Error::Save { path: self.path.clone(), reason: e.to_string() };
        self.log = Some(log.map_err(failed)?);
        Ok(())
    }

    /// Completes the file and renames it to its path.
    pub fn finish(mut self, about: &TraceAbout) -> Result<(), Error> {
        if let Some(log) = self.log.take()
            && self.failure.is_none()
            && let Err(e) = log.read(|io| self.encode(io))
        {
            self.failure = Some(e.to_string());
        }
        while !self.rows.is_empty() && self.failure.is_none() {
            self.write_group();
        }
        let done = match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.close(about),
        };
        done.map_err(|reason| Error::Save { path: self.path.clone(), reason })
    }

    fn close(&mut self, about: &TraceAbout) -> Result<(), String> {
        let about = serde_json::to_string(about).map_err(|e| e.to_string())?;
        let pair = |key: &str, value| KeyValue::new(key.to_owned(), value);
        self.writer.append_key_value_metadata(pair(VERSION_KEY, SCHEMA_VERSION.to_string()));
        self.writer.append_key_value_metadata(pair(ABOUT_KEY, about));
        self.writer.finish().map_err(|e| e.to_string())?;
        self.writer.inner().sync_all().map_err(|e| e.to_string())?;
        std::fs::rename(&self.temporary, &self.path).map_err(|e| e.to_string())
    }

    fn encode(&mut self, io: Io) {
        self.rows.push(io);
        if self.rows.len() >= 2 * GROUP && self.failure.is_none() {
            self.write_group();
        }
    }

    fn write_group(&mut self) {
        self.rows.sort_by_key(|io| io.serial);
        let rows: Vec<Io> = self.rows.drain(..GROUP.min(self.rows.len())).collect();
        if let Err(failure) = self.group(&rows) {
            self.failure = Some(failure.to_string());
        }
    }

    fn group(&mut self, rows: &[Io]) -> Result<(), ParquetError> {
        let mut texts = Texts { names: self.names, known: HashMap::new() };
        let Hints { sync, aio } = self.hints;
        let mut group = self.writer.next_row_group()?;
        let g = &mut group;
        let hint = |io: &Io, recorded: bool, on: bool| (recorded || io.flags.0 != 0).then_some(on);
        required::<Int64Type>(g, rows.iter().map(|io| io.start_ns as i64))?;
        write_optional::<Int64Type>(g, rows.iter().map(|io| io.latency_ns.map(|n| n as i64)))?;
        write_optional::<Int64Type>(g, rows.iter().map(|io| io.queue_ns.map(|n| n as i64)))?;
        write_optional::<Int64Type>(g, rows.iter().map(|io| io.device_ns.map(|n| n as i64)))?;
        required::<ByteArrayType>(g, rows.iter().map(|io| texts.text(io.device)))?;
        required::<Int64Type>(g, rows.iter().map(|io| io.sector as i64))?;
        required::<Int64Type>(g, rows.iter().map(|io| io.bytes as i64))?;
        required::<ByteArrayType>(g, rows.iter().map(|io| ByteArray::from(io.op.name())))?;
        let flag = |io: &Io, flag| hint(io, sync, io.flags.has(flag));
        write_optional::<BoolType>(g, rows.iter().map(|io| flag(io, Flags::SYNC)))?;
        write_optional::<BoolType>(g, rows.iter().map(|io| flag(io, Flags::READAHEAD)))?;
        write_optional::<BoolType>(
            g,
            rows.iter().map(|io| aio.then_some(io.flags.has(Flags::AIO))),
        )?;
        write_optional::<BoolType>(g, rows.iter().map(|io| hint(io, sync, io.is_writeback())))?;
        write_optional::<Int64Type>(g, rows.iter().map(|io| io.pid.map(i64::from)))?;
        write_optional::<ByteArrayType>(g, rows.iter().map(|io| texts.recorded(io.program)))?;
        write_optional::<ByteArrayType>(g, rows.iter().map(|io| texts.recorded(io.file)))?;
        write_optional::<ByteArrayType>(g, rows.iter().map(|io| texts.recorded(io.cgroup)))?;
        let from = |io: &Io| {
            let known = io.file_from != FileFrom::Nothing;
            known.then(|| ByteArray::from(io.file_from.name()))
        };
        write_optional::<ByteArrayType>(g, rows.iter().map(from))?;
        write_optional::<BoolType>(g, rows.iter().map(|io| flag(io, Flags::PREFLUSH)))?;
        write_optional::<BoolType>(g, rows.iter().map(|io| flag(io, Flags::FUA)))?;
        write_optional::<BoolType>(g, rows.iter().map(|io| flag(io, Flags::META)))?;
        group.close().map(|_| ())
    }
}

impl Drop for IoWriter<'_> {
    /// Removes an unfinished file. A finished one has been renamed.
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.temporary);
    }
}

impl Sink for IoWriter<'_> {
    fn start(&mut self, _io: &Io) {}

    fn end(&mut self, io: &Io) {
        match &mut self.log {
            _ if self.failure.is_some() => {}
            Some(log) => self.failure = log.push(io).err().map(|e| e.to_string()),
            None => self.encode(*io),
        }
    }
}

/// Texts of name ids, each converted once per row group.
struct Texts<'a> {
    names: &'a NameTable,
    known: HashMap<u32, ByteArray>,
}

impl Texts<'_> {
    fn text(&mut self, id: u32) -> ByteArray {
        let names = self.names;
        self.known.entry(id).or_insert_with(|| names.text(id).as_str().into()).clone()
    }

    fn recorded(&mut self, id: u32) -> Option<ByteArray> {
        (id != NameTable::NONE).then(|| self.text(id))
    }
}

fn required<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: impl Iterator<Item = T::T>,
) -> Result<(), ParquetError> {
    write_column::<T>(group, &values.collect::<Vec<_>>(), None)
}

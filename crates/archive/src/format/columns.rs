//! Reads and writes tables as Parquet: flat columns, LZ4, dictionaries for texts, using the column
//! writers and readers directly.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::RowGroupReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use assay_model::SCHEMA_VERSION;
use assay_traces::parquet_guard::{write_column, write_optional};

/// Metadata key of the format version in a file.
pub(crate) const VERSION_KEY: &str = "assay.schema_version";

/// The values of one column in one row group.
#[derive(Debug)]
pub(crate) enum ColumnValues {
    Int(Vec<i64>),
    Flag(Vec<bool>),
    /// Floating-point numbers; NaN is written as null.
    Real(Vec<f64>),
    Text(Vec<ByteArray>),
    /// Texts, null where `None`.
    MaybeText(Vec<Option<ByteArray>>),
}

/// A Parquet file that is being written.
pub(crate) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Starts a file with a schema in Parquet's own notation.
    pub(crate) fn create(out: W, schema: &str) -> Result<Self> {
        let version = KeyValue::new(VERSION_KEY.to_owned(), SCHEMA_VERSION.to_string());
        let properties = WriterProperties::builder()
            .set_compression(Compression::LZ4_RAW)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_created_by(format!("assay {}", env!("CARGO_PKG_VERSION")))
            .set_key_value_metadata(Some(vec![version]))
            .build();
        let schema = Arc::new(parse_message_type(schema)?);
        Ok(ParquetTable { writer: SerializedFileWriter::new(out, schema, Arc::new(properties))? })
    }

    /// Writes a row group: the schema's columns in order, all of the same length.
    pub(crate) fn write(&mut self, columns: &[ColumnValues]) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            match column {
                ColumnValues::Int(values) => write_column::<Int64Type>(&mut group, values, None)?,
                ColumnValues::Flag(values) => write_column::<BoolType>(&mut group, values, None)?,
                ColumnValues::Text(values) => {
                    write_column::<ByteArrayType>(&mut group, values, None)?;
                }
                ColumnValues::Real(values) => {
                    let values = values.iter().map(|v| Some(*v).filter(|v| !v.is_nan()));
                    write_optional::<DoubleType>(&mut group, values)?;
                }
                ColumnValues::MaybeText(values) => {
                    write_optional::<ByteArrayType>(&mut group, values.iter().cloned())?;
                }
            }
        }
        group.close().map(|_| ())
    }

    /// Finishes the file and returns the underlying writer.
    pub(crate) fn close(self) -> Result<W> {
        self.writer.into_inner()
    }
}

/// Reads a required column of a row group, at most `limit` values.
pub(crate) fn read<T: DataType>(
    group: &dyn RowGroupReader,
    name: &str,
    limit: usize,
) -> Result<Vec<T::T>> {
    read_optional::<T>(group, name, limit).and_then(|(values, there)| {
        if there.is_empty() { Ok(values) } else { Err(unexpected(name, "it may be null")) }
    })
}

/// Reads a column of a row group, at most `limit` rows. Returns the values that are not null and,
/// for each row, 1 if it has a value (empty for a required column).
pub(crate) fn read_optional<T: DataType>(
    group: &dyn RowGroupReader,
    name: &str,
    limit: usize,
) -> Result<(Vec<T::T>, Vec<i16>)> {
    let schema = group.metadata().schema_descr_ptr();
    let at = (0..schema.num_columns())
        .find(|i| schema.column(*i).path().parts() == [name])
        .ok_or_else(|| unexpected(name, "it is missing"))?;
    let column = schema.column(at);
    if column.physical_type() != T::get_physical_type() {
        return Err(unexpected(name, "it has another type"));
    }
    if column.max_rep_level() != 0 || column.max_def_level() > 1 {
        return Err(unexpected(name, "it is nested"));
    }
    let optional = column.max_def_level() == 1;
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(at)?);
    let (mut values, mut there) = (Vec::new(), Vec::new());
    let mut rows = 0;
    loop {
        let levels = optional.then_some(&mut there);
        let (read, _, _) = reader.read_records(65_536, levels, None, &mut values)?;
        rows += read;
        if rows > limit {
            return Err(unexpected(name, "it has more rows than such a file may have"));
        }
        if read == 0 {
            return Ok((values, there));
        }
    }
}

fn unexpected(name: &str, what: &str) -> ParquetError {
    ParquetError::General(format!("column `{name}`: {what}"))
}

//! Encodes and decodes `samples.parquet`: one row per sample.

use std::collections::HashMap;
use std::fs::File;

use assay_model::{SCHEMA_VERSION, SampleRow, SampleSet, SeriesKey};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{FileReader, RowGroupReader};

use crate::format::columns::{self, ColumnValues, ParquetTable, VERSION_KEY};

const SCHEMA: &str = "message samples {
    REQUIRED INT64 t_ns;
    REQUIRED BYTE_ARRAY monitor (STRING);
    REQUIRED BYTE_ARRAY subject (STRING);
    REQUIRED BYTE_ARRAY field (STRING);
    REQUIRED BYTE_ARRAY unit (STRING);
    OPTIONAL DOUBLE value;
}";

const GROUP: usize = 1 << 20;
/// Maximum number of rows that are read: 4 samples per second for a month.
const MAX_ROWS: usize = 10_000_000;

/// The texts of the series, each converted once.
pub(crate) struct SeriesTexts([Vec<ByteArray>; 4]);

impl SeriesTexts {
    pub(crate) fn from_series(series: &[SeriesKey]) -> Self {
        let texts = |of: fn(&SeriesKey) -> &String| {
            series.iter().map(|key| ByteArray::from(of(key).as_str())).collect()
        };
        SeriesTexts([
            texts(|k| &k.monitor),
            texts(|k| &k.subject),
            texts(|k| &k.field),
            texts(|k| &k.unit),
        ])
    }

    /// Returns the four text columns of `rows`.
    pub(crate) fn columns(&self, rows: &[SampleRow]) -> Result<Vec<ColumnValues>> {
        let column = |texts: &Vec<ByteArray>| {
            rows.iter()
                .map(|row| texts.get(row.series as usize).cloned())
                .collect::<Option<Vec<_>>>()
                .map(ColumnValues::Text)
                .ok_or_else(|| ParquetError::General("a row without a series".to_owned()))
        };
        self.0.iter().map(column).collect()
    }
}

/// Encodes `samples.parquet`. NaN becomes null.
pub(crate) fn encode(set: &SampleSet) -> Result<Vec<u8>> {
    let texts = SeriesTexts::from_series(&set.series);
    let mut table = ParquetTable::create(Vec::new(), SCHEMA)?;
    for rows in set.rows.chunks(GROUP) {
        let mut columns = vec![ColumnValues::Int(rows.iter().map(|r| r.t_ns as i64).collect())];
        columns.extend(texts.columns(rows)?);
        columns.push(ColumnValues::Real(rows.iter().map(|r| r.value).collect()));
        table.write(&columns)?;
    }
    table.close()
}

/// Decodes `samples.parquet`. Series are in the order of their first row; series without a row are
/// not in the file.
pub(crate) fn decode(file: File) -> Result<SampleSet> {
    // The Parquet reader panics on some damaged pages. A bad file must be an error here and never
    // end the program; what the reader had built is dropped with the panic.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| decode_unfenced(file)))
        .unwrap_or_else(|_| Err(ParquetError::General("a page is damaged".to_owned())))
}

fn decode_unfenced(file: File) -> Result<SampleSet> {
    let file = assay_traces::parquet_guard::open(file)?;
    check_version(&file)?;
    let mut set = SampleSet::default();
    let mut known = HashMap::new();
    for i in 0..file.num_row_groups() {
        read_group(&*file.get_row_group(i)?, &mut set, &mut known)?;
    }
    Ok(set)
}

fn check_version(file: &assay_traces::parquet_guard::CheckedReader) -> Result<()> {
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let version = pairs
        .and_then(|pairs| pairs.iter().find(|pair| pair.key == VERSION_KEY))
        .and_then(|pair| pair.value.as_ref()?.parse::<u32>().ok());
    match version {
        Some(v) if v <= SCHEMA_VERSION => Ok(()),
        Some(v) => Err(ParquetError::General(format!(
            "it has format version {v}, and this assay reads up to {SCHEMA_VERSION}; use the assay \
             that wrote it, or a newer one"
        ))),
        None => Err(ParquetError::General(format!("it has no {VERSION_KEY}"))),
    }
}

type Texts = [ByteArray; 4];

fn read_group(
    group: &dyn RowGroupReader,
    set: &mut SampleSet,
    known: &mut HashMap<[Vec<u8>; 4], u32>,
) -> Result<()> {
    let limit = MAX_ROWS - set.rows.len();
    let times = columns::read::<Int64Type>(group, "t_ns", limit)?;
    let text = |name| columns::read::<ByteArrayType>(group, name, limit);
    let texts = [text("monitor")?, text("subject")?, text("field")?, text("unit")?];
    let (values, there) = columns::read_optional::<DoubleType>(group, "value", limit)?;
    let rows = times.len();
    if texts.iter().any(|t| t.len() != rows) || there.len() != rows {
        return Err(ParquetError::General("its columns are of different lengths".to_owned()));
    }
    let mut values = values.into_iter();
    let mut last: Option<(Texts, u32)> = None;
    for i in 0..rows {
        let key: Texts = std::array::from_fn(|c| texts[c][i].clone());
        let series = match &last {
            Some((before, series)) if *before == key => *series,
            _ => series_of(&key, set, known)?,
        };
        last = Some((key, series));
        let t_ns = u64::try_from(times[i])
            .map_err(|_| ParquetError::General(format!("row {i} has a time before 0")))?;
        let value = if there[i] == 1 { values.next().unwrap_or(f64::NAN) } else { f64::NAN };
        set.rows.push(SampleRow { t_ns, series, value });
    }
    Ok(())
}

fn series_of(
    key: &Texts,
    set: &mut SampleSet,
    known: &mut HashMap<[Vec<u8>; 4], u32>,
) -> Result<u32> {
    let bytes: [Vec<u8>; 4] = std::array::from_fn(|i| key[i].data().to_vec());
    if let Some(series) = known.get(&bytes) {
        return Ok(*series);
    }
    let text = |i: usize| key[i].as_utf8().map(str::to_owned);
    set.series.push(SeriesKey {
        monitor: text(0)?,
        subject: text(1)?,
        field: text(2)?,
        unit: text(3)?,
    });
    let series = set.series.len() as u32 - 1;
    known.insert(bytes, series);
    Ok(series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn set(rows: u64) -> SampleSet {
        let key = |subject: &str, field: &str, unit: &str| SeriesKey {
            monitor: "disk".into(),
            subject: subject.into(),
            field: field.into(),
            unit: unit.into(),
        };
        let series = vec![key("vda", "r/s", "1/s"), key("vda", "w_await", "ms"), key("", "µ", "%")];
        let rows = (0..rows)
            .map(|i| SampleRow {
                t_ns: 1000 + i / 3,
                series: (i % 3) as u32,
                value: i as f64 / 7.0,
            })
            .collect();
        SampleSet { series, rows }
    }

    #[test]
    fn what_is_written_is_read() {
        for rows in [0, 3, 1000, 100_000] {
            let mut written = set(rows);
            if rows == 0 {
                written.series.clear(); // a series without a row is not kept
            }
            assert_eq!(decode(file(&encode(&written).unwrap())).unwrap(), written);
        }
    }

    #[test]
    fn a_missing_value_stays_missing() {
        let mut written = set(4);
        written.rows[2].value = f64::NAN;
        let read = decode(file(&encode(&written).unwrap())).unwrap();
        let missing: Vec<bool> = read.rows.iter().map(|r| r.value.is_nan()).collect();
        assert_eq!(missing, [false, false, true, false]);
        assert_eq!(read.rows[3], written.rows[3]);
    }

    #[test]
    fn a_row_of_no_series_is_refused() {
        let mut wrong = set(4);
        wrong.rows[1].series = 9;
        assert!(encode(&wrong).is_err());
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            failure_persistence: None, cases: 3000, ..Default::default()
        })]
        #[test]
        fn changed_bytes_never_panic(
            changes in proptest::collection::vec((0usize..100_000, 0u8..), 1..6),
            cut in 0usize..400
        ) {
            let mut bytes = encode(&set(30)).unwrap();
            for (at, byte) in changes {
                let n = bytes.len();
                bytes[at % n] = byte;
            }
            if cut < 40 {
                bytes.truncate(bytes.len() - cut);
            }
            let _ = decode(file(&bytes));
        }

        #[test]
        fn any_bytes_never_panic(mut bytes: Vec<u8>, end: bool) {
            if end {
                bytes.extend((bytes.len() as u32).to_le_bytes());
                bytes.extend(b"PAR1");
            }
            proptest::prop_assert!(decode(file(&bytes)).is_err());
        }
    }
}

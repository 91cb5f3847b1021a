//! Reader of the CSV files. The header is resolved once, and every field is checked while it is
//! read, so that errors name line and column.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use super::{QuotedError, QuotedResult};

/// A column of the file; text and count columns hold an accessor for their field of a result.
#[derive(Clone, Copy)]
enum ResultColumn {
    Id,
    Text(fn(&mut QuotedResult) -> &mut String),
    Words(fn(&mut QuotedResult) -> &mut Option<String>),
    Count(fn(&mut QuotedResult) -> &mut Option<f64>),
    Better,
    Ghz,
    Value,
    AsOf,
    More,
}

const COLUMNS: [(&str, ResultColumn); 26] = [
    ("id", ResultColumn::Id),
    ("source", ResultColumn::Text(|r| &mut r.source)),
    ("benchmark", ResultColumn::Text(|r| &mut r.benchmark)),
    ("metric", ResultColumn::Text(|r| &mut r.metric)),
    ("unit", ResultColumn::Text(|r| &mut r.unit)),
    ("higher_is_better", ResultColumn::Better),
    ("system", ResultColumn::Text(|r| &mut r.system)),
    ("vendor", ResultColumn::Words(|r| &mut r.vendor)),
    ("chips", ResultColumn::Count(|r| &mut r.chips)),
    ("cores", ResultColumn::Count(|r| &mut r.cores)),
    ("threads", ResultColumn::Count(|r| &mut r.threads)),
    ("instances", ResultColumn::Count(|r| &mut r.instances)),
    ("ghz", ResultColumn::Ghz),
    ("processor", ResultColumn::Words(|r| &mut r.processor)),
    ("memory_gb", ResultColumn::Count(|r| &mut r.memory_gb)),
    ("rack_units", ResultColumn::Count(|r| &mut r.rack_units)),
    ("watts", ResultColumn::Count(|r| &mut r.watts)),
    ("price", ResultColumn::Count(|r| &mut r.price)),
    ("currency", ResultColumn::Words(|r| &mut r.currency)),
    ("os", ResultColumn::Words(|r| &mut r.os)),
    ("compiler_or_jvm", ResultColumn::Words(|r| &mut r.compiler_or_jvm)),
    ("config_note", ResultColumn::Words(|r| &mut r.config_note)),
    ("value", ResultColumn::Value),
    ("value_per_jvm", ResultColumn::Count(|r| &mut r.value_per_jvm)),
    ("as_of_date", ResultColumn::AsOf),
    ("result", ResultColumn::Words(|r| &mut r.result)),
];

/// Returns the names of the columns that [`QuotedResult`] has fields for, in the order of the
/// files.
pub fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name)
}

/// Names of the required columns.
const NEEDED: [&str; 6] = ["id", "benchmark", "metric", "unit", "system", "value"];

/// Reads a collection of quoted results from CSV with a header. `name` is used in errors. Bytes
/// that are not UTF-8 are decoded as Latin-1. Memory is bounded by the size of the collection.
///
/// # Errors
/// See [`QuotedError`]: every error names the file, and where it can the line and column.
pub fn read(name: &str, input: impl Read) -> Result<Vec<QuotedResult>, QuotedError> {
    let (results, lines) = rows(name, input)?;
    metrics_agree(name, &results, &lines)?;
    Ok(results)
}

/// Like [`read`], but rows of one metric may differ in unit and direction: for looking up single
/// results, each in its own unit, not for ranking them.
///
/// # Errors
/// Like [`read`], except those for different units and directions.
pub fn read_unranked(name: &str, input: impl Read) -> Result<Vec<QuotedResult>, QuotedError> {
    rows(name, input).map(|(results, _)| results)
}

/// Reads the rows, and the line number of each.
fn rows(name: &str, input: impl Read) -> Result<(Vec<QuotedResult>, Vec<u64>), QuotedError> {
    let mut reader = csv::ReaderBuilder::new().buffer_capacity(1 << 16).from_reader(input);
    let malformed = |error: &csv::Error| QuotedError::Malformed {
        name: name.into(),
        line: error.position().map_or(1, csv::Position::line),
        message: error.to_string(),
    };
    let header: Vec<String> = reader
        .byte_headers()
        .map_err(|e| malformed(&e))?
        .iter()
        .map(|field| text_of(field).trim().trim_start_matches('\u{FEFF}').to_owned())
        .collect();
    for column in NEEDED {
        if !header.iter().any(|h| h == column) {
            return Err(QuotedError::MissingColumn { name: name.into(), column });
        }
    }
    let columns: Vec<ResultColumn> = header
        .iter()
        .map(|h| {
            COLUMNS.iter().find(|(t, _)| t == h).map_or(ResultColumn::More, |(_, column)| *column)
        })
        .collect();
    let mut lines = Vec::new();
    let mut results = Vec::new();
    let mut record = csv::ByteRecord::new();
    while reader.read_byte_record(&mut record).map_err(|e| malformed(&e))? {
        let line = record.position().map_or(0, csv::Position::line);
        let mut result = QuotedResult::default();
        // Fields end at character boundaries, so if a whole line is UTF-8, every field is.
        let whole = std::str::from_utf8(record.as_slice()).ok();
        for (i, (column, title)) in columns.iter().zip(&header).enumerate() {
            let text = whole
                .zip(record.range(i))
                .and_then(|(line, range)| line.get(range))
                .map_or_else(|| text_of(record.get(i).unwrap_or_default()), Cow::Borrowed);
            set(&mut result, *column, title, text.trim()).map_err(|expected| {
                QuotedError::Field {
                    name: name.into(),
                    line,
                    column: title.clone(),
                    text: text.trim().to_owned(),
                    expected,
                }
            })?;
        }
        lines.push(line);
        results.push(result);
    }
    ids_are_unique(name, &results, &lines)?;
    Ok((results, lines))
}

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes)
        .map_or_else(|_| bytes.iter().map(|&b| char::from(b)).collect(), Cow::Borrowed)
}

fn set(
    result: &mut QuotedResult,
    column: ResultColumn,
    title: &str,
    text: &str,
) -> Result<(), &'static str> {
    let words = || (!text.is_empty()).then(|| text.to_owned());
    match column {
        ResultColumn::Id if text.is_empty() => return Err("an id"),
        ResultColumn::Id => text.clone_into(&mut result.id),
        ResultColumn::Text(field) => text.clone_into(field(result)),
        ResultColumn::Words(field) => *field(result) = words(),
        ResultColumn::Count(field) => *field(result) = count(text)?,
        ResultColumn::Better => result.higher_is_better = truth(text)?,
        ResultColumn::Ghz => {
            result.ghz = count(text)?;
            result.ghz_decimals = decimals(text);
        }
        ResultColumn::Value => {
            result.value = number(text).ok_or("a finite number")?;
            result.value_decimals = decimals(text);
        }
        ResultColumn::AsOf if text.is_empty() || is_date(text) => result.as_of_date = words(),
        ResultColumn::AsOf => return Err("a date such as 2009-08-27"),
        ResultColumn::More => {
            if let Some(text) = words() {
                result.more.insert(title.to_owned(), text);
            }
        }
    }
    Ok(())
}

/// Returns true if the text is a calendar date in the form `2009-08-27`. Dates of this form sort as
/// texts.
pub fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    let part = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = bytes.get(range)?;
        digits.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    };
    let (Some(year), Some(month), Some(day)) = (part(0..4), part(5..7), part(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|n| n.is_finite())
}

/// Returns the number of decimals in a written number; 0 if it has an exponent.
fn decimals(text: &str) -> u8 {
    if text.contains(['e', 'E']) {
        return 0;
    }
    text.split_once('.').map_or(0, |(_, after)| after.len().min(15) as u8)
}

fn count(text: &str) -> Result<Option<f64>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    number(text)
        .filter(|n| *n > 0.0)
        .map(Some)
        .ok_or("a positive number (leave it empty if unknown)")
}

fn truth(text: &str) -> Result<Option<bool>, &'static str> {
    match text {
        "" => Ok(None),
        "true" => Ok(Some(true)),
        "false" => Ok(Some(false)),
        _ => Err("`true`, `false` or empty"),
    }
}

fn ids_are_unique(name: &str, results: &[QuotedResult], lines: &[u64]) -> Result<(), QuotedError> {
    let mut seen: HashMap<&str, u64> = HashMap::with_capacity(results.len());
    for (result, &line) in results.iter().zip(lines) {
        if let Some(first) = seen.insert(&result.id, line) {
            let id = result.id.clone();
            return Err(QuotedError::DuplicateId { name: name.into(), line, id, first });
        }
    }
    Ok(())
}

/// Checks that every metric of a benchmark has one unit and one direction.
fn metrics_agree(name: &str, results: &[QuotedResult], lines: &[u64]) -> Result<(), QuotedError> {
    let mut seen: HashMap<(&str, &str), (&QuotedResult, u64)> = HashMap::new();
    let mut last: Option<&QuotedResult> = None;
    for (result, &line) in results.iter().zip(lines) {
        let like_last = last.replace(result).is_some_and(|last| {
            (&last.metric, &last.unit, last.higher_is_better)
                == (&result.metric, &result.unit, result.higher_is_better)
                && last.benchmark == result.benchmark
        });
        if like_last {
            continue;
        }
        let (first, first_line) =
            *seen.entry((&result.benchmark, &result.metric)).or_insert((result, line));
        if first.unit != result.unit {
            return Err(QuotedError::MixedUnits {
                name: name.into(),
                line,
                metric: result.metric.clone(),
                unit: result.unit.clone(),
                first_unit: first.unit.clone(),
                first: first_line,
            });
        }
        if first.higher_is_better != result.higher_is_better {
            return Err(QuotedError::MixedDirection {
                name: name.into(),
                line,
                metric: result.metric.clone(),
                first: first_line,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "id,benchmark,metric,unit,system,cores,value\n";

    fn error(rows: &str) -> String {
        read("x.csv", format!("{HEAD}{rows}").as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_read_and_what_is_missing_is_none() {
        let rows = read("x.csv", format!("{HEAD}a,B,m,u,S,,7\n").as_bytes()).unwrap();
        assert_eq!((rows[0].value, rows[0].cores, rows[0].watts), (7.0, None, None));
    }

    #[test]
    fn numbers_keep_the_decimals_they_were_written_with() {
        let rows = read("x.csv", format!("{HEAD}a,B,m,u,S,,45.0\nb,B,m,u,S,,3.5e9\n").as_bytes());
        let texts: Vec<String> = rows.unwrap().iter().map(QuotedResult::value_text).collect();
        assert_eq!(texts, ["45.0", "3500000000"]);
    }

    #[test]
    fn latin_1_is_understood() {
        let mut bytes = HEAD.as_bytes().to_vec();
        bytes.extend(b"a,B,m,u,M\xfcller,1,7\n");
        assert_eq!(read("x.csv", &bytes[..]).unwrap()[0].system, "Müller");
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        assert_eq!(
            error("a,B,m,u,S,-4,7\n"),
            "x.csv:2:cores: `-4` is not a positive number (leave it empty if unknown)"
        );
        assert_eq!(error("a,B,m,u,S,4,NaN\n"), "x.csv:2:value: `NaN` is not a finite number");
        assert!(error("a,B,m,u,S,4,1\na,B,m,u,S,4,1\n").contains("line 2 has the id `a` already"));
        assert!(error("a,B\n").contains("x.csv:2: not CSV"));
        let missing = read("x.csv", &b"id,benchmark\n"[..]).unwrap_err().to_string();
        assert!(missing.contains("`metric` is missing"));
    }

    #[test]
    fn a_metric_has_one_unit_and_one_direction() {
        let text = error("a,B,m,MB/s,S,4,1\nb,B,n,s,S,4,1\nc,B,m,MiB/s,S,4,1\n");
        assert!(text.starts_with("x.csv:4:unit: mixed units: `m` is in `MiB/s` here"), "{text}");
        assert!(text.contains("`MB/s` in line 2"), "{text}");
        let csv = "id,benchmark,metric,unit,system,value,higher_is_better\n\
                   a,B,m,u,S,1,true\nb,B,m,u,S,1,false\n";
        let text = read("x.csv", csv.as_bytes()).unwrap_err().to_string();
        assert!(text.starts_with("x.csv:3:higher_is_better: `m` is better the other way"));
    }

    #[test]
    fn a_date_is_one_of_the_calendar() {
        for good in ["2009-08-27", "2000-02-29", "2026-12-31"] {
            assert!(is_date(good), "{good}");
        }
        for bad in ["2009-8-27", "2009-02-29", "1900-02-29", "2009-13-01", "27.08.2009", "", "x"] {
            assert!(!is_date(bad), "{bad}");
        }
        let csv = "id,benchmark,metric,unit,system,value,as_of_date\na,B,m,u,S,1,27.8.2009\n";
        let text = read("x.csv", csv.as_bytes()).unwrap_err().to_string();
        assert_eq!(text, "x.csv:2:as_of_date: `27.8.2009` is not a date such as 2009-08-27");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        ) {
            let _ = read("x.csv", &bytes[..]);
            let _ = read("x.csv", [HEAD.as_bytes(), &bytes].concat().as_slice());
        }
    }
}

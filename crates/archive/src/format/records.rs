//! Reads `records.jsonl`: one record per line, the last of which may be torn.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use assay_model::{SCHEMA_VERSION, TrialRecord};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::format::disk::{self, MAX_DATA};
use crate::{Error, Result};

/// Maximum length of a line in bytes, and so of a record that is written.
pub(crate) const MAX_LINE: u64 = disk::MAX_TEXT;

/// Reason why a line is not a valid record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum InvalidLine {
    /// The line has a newer format version.
    Newer(u64),
    /// The line is not a record, or was changed.
    Unreadable(String),
}

/// Result of reading a file of records to its end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RecordsEnd {
    /// Length of the file in bytes, up to and including the last record.
    pub bytes: u64,
    /// True if a tail follows that was being written when the power or the process failed; it holds
    /// no record.
    pub torn: bool,
    /// The first invalid line (from 1) that is not just a torn tail.
    pub wrong: Option<(usize, InvalidLine)>,
}

impl RecordsEnd {
    /// Returns an error if a line in the middle is invalid.
    pub(crate) fn check(&self, path: &Path) -> Result<()> {
        match &self.wrong {
            None => Ok(()),
            Some((_, InvalidLine::Newer(found))) => {
                Err(Error::Newer { path: path.to_owned(), found: *found })
            }
            Some((line, InvalidLine::Unreadable(reason))) => {
                Err(Error::damaged(path, format!("line {line}: {reason}")))
            }
        }
    }
}

/// A type that can be parsed from a line of `records.jsonl`.
pub(crate) trait RecordLine: DeserializeOwned {
    /// Returns the version of the line's format.
    fn schema_version(&self) -> u32;
}

impl RecordLine for TrialRecord {
    fn schema_version(&self) -> u32 {
        self.schema_version
    }
}

/// Trial and attempt of a record. The rest of the line is skipped as JSON, which is enough if its
/// hash is known.
#[derive(Deserialize)]
pub(crate) struct TrialKey {
    schema_version: u32,
    pub number: u32,
    pub attempt: u32,
}

impl RecordLine for TrialKey {
    fn schema_version(&self) -> u32 {
        self.schema_version
    }
}

/// Reads the file at `path`; see [`read`].
pub(crate) fn read_file<L: RecordLine>(
    path: &Path,
    each: impl FnMut(&[u8], L),
) -> Result<RecordsEnd> {
    let (file, _) = disk::open(path, MAX_DATA)?;
    let lines = BufReader::with_capacity(64 << 10, file);
    read(lines, each).map_err(|e| Error::io("read", path, e))
}

/// Passes every record to `each`, in order, with the bytes of its line (without the newline). Holds
/// one line in memory at a time. An invalid line does not end the reading, because only the lines
/// after it show whether it is a torn tail.
pub(crate) fn read<L: RecordLine>(
    mut input: impl BufRead,
    mut each: impl FnMut(&[u8], L),
) -> io::Result<RecordsEnd> {
    let mut end = RecordsEnd::default();
    let (mut line, mut number, mut at) = (Vec::new(), 0, 0);
    // The first line of a tail that holds no record so far.
    let mut tail: Option<(usize, InvalidLine)> = None;
    loop {
        line.clear();
        let read = input.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            break;
        }
        number += 1;
        at += read;
        let found = if line.last() == Some(&b'\n') {
            line.pop();
            parse(&line)
        } else {
            at += input.skip_until(b'\n')? as u64;
            Err(InvalidLine::Unreadable(format!("it has no end within {MAX_LINE} bytes")))
        };
        match found {
            Ok(record) => {
                each(&line, record);
                end.bytes = at;
                // A record follows the invalid lines, so they are damage and not a tail.
                end.wrong = end.wrong.or(tail.take());
            }
            Err(newer @ InvalidLine::Newer(_)) => {
                end.bytes = at;
                end.wrong = end.wrong.or(tail.take()).or(Some((number, newer)));
            }
            Err(wrong) => tail = tail.or(Some((number, wrong))),
        }
    }
    end.torn = tail.is_some();
    Ok(end)
}

#[derive(Deserialize)]
struct Version {
    schema_version: u64,
}

fn parse<L: RecordLine>(line: &[u8]) -> std::result::Result<L, InvalidLine> {
    let newest = u64::from(SCHEMA_VERSION);
    match serde_json::from_slice::<L>(line) {
        Ok(record) if u64::from(record.schema_version()) <= newest => Ok(record),
        Ok(record) => Err(InvalidLine::Newer(record.schema_version().into())),
        Err(e) => match serde_json::from_slice::<Version>(line) {
            Ok(Version { schema_version }) if schema_version > newest => {
                Err(InvalidLine::Newer(schema_version))
            }
            _ => Err(InvalidLine::Unreadable(format!("it is not a record ({e})"))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(number: u32) -> String {
        let record = json!({
            "schema_version": 1, "number": number, "attempt": 1, "block": 0, "treatment": 0,
            "warmup": false, "outcome": "completed", "started_at": "2026-11-21T09:30:00Z",
            "start_ns": 1, "end_ns": 2, "exit": null, "resources": null,
            "validation": {"result": "exit-code-only"},
            "stdout": {"bytes": 0, "kept": 0}, "stderr": {"bytes": 0, "kept": 0},
            "curves": [{"name": "c", "x_unit": "B", "unit": "B/s", "points": [[1.0, 2.0]]}],
        });
        format!("{record}\n")
    }

    fn lines(n: u32) -> String {
        (1..=n).map(line).collect()
    }

    fn numbers(bytes: &[u8]) -> (Vec<u32>, RecordsEnd) {
        let mut found = Vec::new();
        let end = read(bytes, |line, record: TrialRecord| {
            assert_eq!(serde_json::from_slice::<TrialRecord>(line).unwrap(), record);
            found.push(record.number);
        });
        (found, end.unwrap())
    }

    #[test]
    fn every_torn_tail_keeps_the_lines_before() {
        let text = lines(3);
        let two = lines(2).len();
        let whole = RecordsEnd { bytes: text.len() as u64, torn: false, wrong: None };
        assert_eq!(numbers(text.as_bytes()), (vec![1, 2, 3], whole));
        for cut in two + 1..text.len() {
            let torn = RecordsEnd { bytes: two as u64, torn: true, wrong: None };
            assert_eq!(numbers(&text.as_bytes()[..cut]), (vec![1, 2], torn), "cut at {cut}");
        }
        for tail in [&[0; 100][..], b"\n", b"{\"number\":4}\n\n{}\n", b"\xff\n\0"] {
            let (found, end) = numbers(&[text.as_bytes(), tail].concat());
            assert_eq!((found.len(), end.bytes, end.torn), (3, text.len() as u64, true));
            assert_eq!(end.wrong, None);
        }
    }

    #[test]
    fn a_wrong_line_before_others_is_named() {
        let text = format!("{}{}{}", line(1), "{\"number\":2}\n", line(3));
        let (found, end) = numbers(text.as_bytes());
        assert_eq!((found, end.torn), (vec![1, 3], false));
        let error = end.check(Path::new("records.jsonl")).unwrap_err().to_string();
        assert!(error.contains("line 2: it is not a record"), "{error}");
    }

    #[test]
    fn a_newer_line_is_never_a_torn_tail() {
        for newer in
            [line(2).replace("version\":1", "version\":2"), "{\"schema_version\":2}\n".into()]
        {
            let (found, end) = numbers(format!("{}{newer}", line(1)).as_bytes());
            assert_eq!(
                (found, end.torn, end.wrong),
                (vec![1], false, Some((2, InvalidLine::Newer(2))))
            );
        }
    }

    #[test]
    fn an_endless_line_is_not_held_in_memory() {
        let endless = io::repeat(b'x').take(MAX_LINE * 3);
        let after = format!("\n{}", line(2));
        let (mut found, first) = (Vec::new(), line(1));
        let input = first.as_bytes().chain(endless).chain(after.as_bytes());
        let end = read(BufReader::new(input), |_, r: TrialRecord| found.push(r.number)).unwrap();
        assert_eq!((found, end.wrong.unwrap().0), (vec![1, 2], 2));
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config {
            failure_persistence: None, cases: 2000, ..Default::default()
        })]
        #[test]
        fn changed_bytes_never_panic(
            changes in proptest::collection::vec((0usize..10_000, 0u8..), 1..5),
            cut in 0usize..3000
        ) {
            let mut bytes = lines(4).into_bytes();
            for (at, byte) in changes {
                let n = bytes.len();
                bytes[at % n] = byte;
            }
            bytes.truncate(cut);
            let mut found = 0;
            let end = read(&bytes[..], |_, _: TrialRecord| found += 1).unwrap();
            proptest::prop_assert!(end.bytes <= bytes.len() as u64 && found <= 4);
            // A repaired file must be complete.
            let mut again = 0;
            let cut = read(&bytes[..end.bytes as usize], |_, _: TrialRecord| again += 1).unwrap();
            proptest::prop_assert_eq!((again, cut.torn, cut.bytes), (found, false, end.bytes));
        }

        #[test]
        fn any_bytes_never_panic(bytes: Vec<u8>) {
            let end = read(&bytes[..], |_, _: TrialRecord| {}).unwrap();
            proptest::prop_assert_eq!(end.torn, !bytes.is_empty());
        }
    }
}

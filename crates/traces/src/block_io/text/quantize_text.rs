//! Parses histograms printed by DTrace (`quantize`, `lquantize`), so that they can be drawn and
//! compared again.

use std::io::{self, Read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::source::fields::whole_number;
use crate::block_io::source::lines::LineBuffer;

/// Heading that DTrace prints above every histogram.
pub(crate) const RULE: &[u8] = b"------------- Distribution -------------";
/// Maximum number of histograms kept.
const MAX_HISTOGRAMS: usize = 4096;
/// Maximum number of rows per histogram.
const MAX_ROWS: usize = 10_100;

/// One row of a printed histogram.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedRow {
    /// Value as printed: a lower bound, `< N` or `>= N`.
    pub value: String,
    /// Number of values in the row.
    pub count: u64,
}

/// A histogram printed by DTrace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// Line printed above the histogram.
    pub title: String,
    /// Rows of the histogram, including empty ones at both ends.
    pub rows: Vec<PrintedRow>,
    /// Number of values in all rows.
    pub total: u64,
    /// Value of the row that contains the median; `null` for an empty histogram.
    pub median_row: Option<String>,
    /// Value of the row that contains the 90th percentile; `null` unless ten values lie beyond it.
    pub p90_row: Option<String>,
    /// Value of the row that contains the 99th percentile; `null` unless ten values lie beyond it.
    pub p99_row: Option<String>,
}

/// All histograms of a text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrintedHistograms {
    /// Histograms in the order of the text.
    pub histograms: Vec<Printed>,
    /// Rows that could not be parsed, and histograms beyond the number that is kept.
    pub unreadable: u64,
}

#[derive(Debug, Default)]
struct OpenHistogram {
    title: String,
    rows: Vec<PrintedRow>,
}

impl OpenHistogram {
    fn done(self) -> Option<Printed> {
        if self.rows.is_empty() {
            return None;
        }
        let total = self.rows.iter().fold(0u64, |n, r| n.saturating_add(r.count));
        let row_of = |p: f64| {
            let supported =
                p <= 0.5 && total > 0 || assay_stats::percentile::supports(total as f64, p);
            let mut below = 0u64;
            let found = self.rows.iter().find(|r| {
                below = below.saturating_add(r.count);
                r.count > 0 && below as f64 >= p * total as f64
            });
            found.filter(|_| supported).map(|r| r.value.clone())
        };
        Some(Printed {
            total,
            median_row: row_of(0.5),
            p90_row: row_of(0.9),
            p99_row: row_of(0.99),
            title: self.title,
            rows: self.rows,
        })
    }
}

pub(crate) fn read(text: impl Read) -> io::Result<PrintedHistograms> {
    let mut lines = LineBuffer::new(text);
    let mut all = PrintedHistograms { histograms: Vec::new(), unreadable: 0 };
    let mut title = String::new();
    let mut building: Option<OpenHistogram> = None;
    while let Some(line) = lines.next()? {
        if let Some(at) = memchr::memmem::find(line, RULE) {
            keep(&mut all, building.take());
            let mut new = OpenHistogram { title: std::mem::take(&mut title), rows: Vec::new() };
            // A web page may have lost the line break, so that the first row follows on the same
            // line.
            let rest = line[at + RULE.len()..].trim_ascii();
            let rest = rest.strip_prefix(b"count").unwrap_or(rest).trim_ascii();
            new.rows.extend(row(rest));
            building = Some(new);
            continue;
        }
        match &mut building {
            Some(open) if line.contains(&b'|') => match row(line) {
                Some(row) if open.rows.len() < MAX_ROWS => open.rows.push(row),
                _ => all.unreadable += 1,
            },
            Some(_) if line.trim_ascii().is_empty() => {
                keep(&mut all, building.take());
                title.clear();
            }
            _ if line.trim_ascii().is_empty() => {}
            _ => {
                keep(&mut all, building.take());
                title = String::from_utf8_lossy(line.trim_ascii()).chars().take(200).collect();
            }
        }
    }
    keep(&mut all, building);
    all.unreadable += lines.overlong();
    Ok(all)
}

fn keep(all: &mut PrintedHistograms, building: Option<OpenHistogram>) {
    let Some(done) = building.and_then(OpenHistogram::done) else { return };
    if all.histograms.len() < MAX_HISTOGRAMS {
        all.histograms.push(done);
    } else {
        all.unreadable += 1;
    }
}

/// Parses a row such as `          8192 |@@@@@@@@@@                               1324`.
fn row(line: &[u8]) -> Option<PrintedRow> {
    let bar = line.iter().position(|b| *b == b'|')?;
    let value = line[..bar].trim_ascii();
    let number = value.strip_prefix(b"<").or(value.strip_prefix(b">=")).unwrap_or(value);
    let number = number.trim_ascii();
    whole_number(number.strip_prefix(b"-").unwrap_or(number))?;
    let rest = line[bar + 1..].trim_ascii();
    let bar_end = rest.iter().position(|b| *b != b'@').unwrap_or(rest.len());
    let count = whole_number(rest[bar_end..].trim_ascii())?;
    Some(PrintedRow { value: String::from_utf8_lossy(value).into_owned(), count })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output in an article of 24 June 2009, with a line break that its web page lost.
    const TEXT: &str = "
  /devices/pci@0,600000/pci@0/pci@8/pci@0/scsi@1/sd@1,0:h  orasystem
           value  ------------- Distribution ------------- count
               2 |                                         0
               4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1
               8 |                                         0

  control_003
           value  ------------- Distribution ------------- count    0 \
        |                                         0
               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@      70
               2 |@@@@@                                    10
               4 |                                         0
";

    #[test]
    fn what_dtrace_printed() {
        let all = read(TEXT.as_bytes()).unwrap();
        assert_eq!((all.histograms.len(), all.unreadable), (2, 0));
        assert!(all.histograms[0].title.ends_with("orasystem"));
        let second = &all.histograms[1];
        assert_eq!((second.title.as_str(), second.total), ("control_003", 80));
        let values: Vec<&str> = second.rows.iter().map(|r| r.value.as_str()).collect();
        assert_eq!(values, ["0", "1", "2", "4"]);
        assert_eq!((second.median_row.as_deref(), second.p90_row.as_deref()), (Some("1"), None));
    }

    #[test]
    fn linear_rows_and_damage() {
        let text = "\
           value  ------------- Distribution ------------- count
             < 0 |                                         0
               0 |@@@@@@@@@@@@@@@@@@@@                     7
              10 |@@@@@@@@@@@@@@@@@@@@                     x
           >= 20 |                                         0
              -4 |                                         3
";
        let all = read(text.as_bytes()).unwrap();
        assert_eq!((all.histograms[0].rows.len(), all.unreadable), (4, 1));
        assert_eq!(all.histograms[0].rows[0].value, "< 0");
    }
}

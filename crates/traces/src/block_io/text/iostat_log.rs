//! Reads logs of `iostat -x` (Linux) and `iostat -xn` (Solaris): turns one table of devices per
//! interval into one table of intervals per device.

use std::collections::HashMap;
use std::io::{self, Read};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block_io::source::lines::LineBuffer;

/// Maximum number of rows kept; means and maxima include later rows too.
pub const MAX_ROWS: usize = 50_000;
/// Maximum number of devices; rows of further devices are excluded.
const MAX_DEVICES: usize = 4096;
/// Maximum number of columns, with the device's.
const MAX_COLUMNS: usize = 40;

/// Values of one device in one interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IostatRow {
    /// Number of the interval, from 0.
    pub interval: u64,
    /// Index of the device in `devices`.
    pub device: usize,
    /// Values in the order of the columns; `null`: not a number.
    pub values: Vec<Option<f64>>,
}

/// Summary of one device over all intervals.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IostatDevice {
    /// Name of the device.
    pub name: String,
    /// Number of intervals with a row for the device, without the first interval of the log.
    /// `iostat -z` omits intervals without I/O.
    pub intervals: u64,
    /// Mean over these intervals, by column.
    pub mean: Vec<Option<f64>>,
    /// Maximum over these intervals, by column.
    pub max: Vec<Option<f64>>,
}

/// Parsed log of iostat.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IostatLog {
    /// `Solaris` or `Linux`, detected from the column titles.
    pub system: String,
    /// Column titles, without the device's.
    pub columns: Vec<String>,
    /// Number of intervals in the log.
    pub intervals: u64,
    /// Number of an interval and the time at which it was printed, where the log has one.
    pub times: Vec<(u64, String)>,
    /// Devices in order of appearance.
    pub devices: Vec<IostatDevice>,
    /// Rows, up to the number that is kept.
    pub rows: Vec<IostatRow>,
    /// Number of rows that were not kept.
    pub rows_excluded: u64,
    /// Lines that could not be parsed.
    pub unreadable: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum NameColumn {
    #[default]
    First,
    Last,
}

/// Parses a header into its columns and the position of the device name; `None` if it is not a
/// header of iostat.
fn header(words: &[&[u8]]) -> Option<(Vec<String>, NameColumn)> {
    let text = |w: &&[u8]| String::from_utf8_lossy(w).into_owned();
    if words.len() < 4 || words.len() > MAX_COLUMNS || !words.contains(&&b"r/s"[..]) {
        return None;
    }
    match (words[0], words[words.len() - 1]) {
        (_, b"device") => {
            Some((words[..words.len() - 1].iter().map(text).collect(), NameColumn::Last))
        }
        (b"Device" | b"Device:" | b"device", _) => {
            Some((words[1..].iter().map(text).collect(), NameColumn::First))
        }
        _ => None,
    }
}

/// True if a line is the header of an iostat table.
pub(crate) fn is_header(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = words(line).take(MAX_COLUMNS + 1).collect();
    header(&words).is_some()
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}

#[derive(Debug, Default, Clone)]
struct ColumnSums {
    intervals: u64,
    sum: Vec<f64>,
    n: Vec<u64>,
    max: Vec<Option<f64>>,
}

#[derive(Debug, Default)]
struct IostatReader {
    log: IostatLog,
    name_column: NameColumn,
    known: HashMap<Vec<u8>, usize>,
    sums: Vec<ColumnSums>,
    in_table: bool,
    time: Option<String>,
}

pub(crate) fn read(text: impl Read) -> io::Result<IostatLog> {
    let mut lines = LineBuffer::new(text);
    let mut reading = IostatReader::default();
    while let Some(line) = lines.next()? {
        reading.line(line);
    }
    reading.log.unreadable += lines.overlong();
    Ok(reading.done())
}

impl IostatReader {
    fn line(&mut self, line: &[u8]) {
        let found: Vec<&[u8]> = words(line).take(MAX_COLUMNS + 1).collect();
        if let Some((columns, name_column)) = header(&found) {
            self.begin(columns, name_column);
            return;
        }
        match found.as_slice() {
            [] => self.in_table &= self.name_column == NameColumn::Last,
            [b"avg-cpu:", ..] | [b"cpu"] | [b"extended", b"device", b"statistics", ..] => {
                self.in_table = false;
            }
            words if self.in_table => self.row(words),
            _ if looks_like_a_time(line) => {
                self.time = Some(String::from_utf8_lossy(line.trim_ascii()).into_owned());
            }
            // CPU usage, or the name of the machine.
            _ => {}
        }
    }

    fn begin(&mut self, columns: Vec<String>, name_column: NameColumn) {
        if self.log.columns.is_empty() {
            let solaris = columns.iter().any(|c| c == "asvc_t" || c == "svc_t");
            self.log.system = String::from(if solaris { "Solaris" } else { "Linux" });
            self.log.columns = columns;
            self.name_column = name_column;
        } else if self.log.columns != columns {
            // Another kind of table (two logs in one file), whose rows would be misread.
            self.log.unreadable += 1;
            self.in_table = false;
            return;
        }
        if let Some(time) = self.time.take()
            && self.log.times.len() < MAX_ROWS
        {
            self.log.times.push((self.log.intervals, time));
        }
        self.log.intervals += 1;
        self.in_table = true;
    }

    fn row(&mut self, words: &[&[u8]]) {
        let columns = self.log.columns.len();
        if words.len() != columns + 1 {
            // Solaris prints lines about the CPU between the tables.
            self.in_table &= words.len() > columns;
            self.log.unreadable += u64::from(words.len() > columns);
            return;
        }
        let (name, values) = match self.name_column {
            NameColumn::First => (words[0], &words[1..]),
            NameColumn::Last => (words[columns], &words[..columns]),
        };
        let values: Vec<Option<f64>> = values
            .iter()
            .map(|w| {
                // Some locales print a decimal comma.
                let text = String::from_utf8_lossy(w).replace(',', ".");
                text.parse().ok().filter(|v: &f64| v.is_finite())
            })
            .collect();
        if values.iter().all(Option::is_none) {
            self.log.unreadable += 1;
            return;
        }
        let Some(device) = self.device(name) else {
            self.log.rows_excluded += 1;
            return;
        };
        let interval = self.log.intervals - 1;
        if interval > 0 {
            self.sums[device].add(&values);
        }
        if self.log.rows.len() < MAX_ROWS {
            self.log.rows.push(IostatRow { interval, device, values });
        } else {
            self.log.rows_excluded += 1;
        }
    }

    fn device(&mut self, name: &[u8]) -> Option<usize> {
        if let Some(at) = self.known.get(name) {
            return Some(*at);
        }
        let at = self.sums.len();
        if at >= MAX_DEVICES {
            return None;
        }
        self.known.insert(name.to_owned(), at);
        self.sums.push(ColumnSums::default());
        let name = String::from_utf8_lossy(name).into_owned();
        self.log.devices.push(IostatDevice { name, ..IostatDevice::default() });
        Some(at)
    }

    fn done(mut self) -> IostatLog {
        for (device, sums) in self.log.devices.iter_mut().zip(self.sums) {
            device.intervals = sums.intervals;
            device.mean = sums
                .sum
                .iter()
                .zip(&sums.n)
                .map(|(sum, n)| (*n > 0).then(|| sum / *n as f64))
                .collect();
            device.max = sums.max;
        }
        self.log
    }
}

impl ColumnSums {
    fn add(&mut self, values: &[Option<f64>]) {
        self.intervals += 1;
        self.sum.resize(values.len(), 0.0);
        self.n.resize(values.len(), 0);
        self.max.resize(values.len(), None);
        for (i, value) in values.iter().enumerate() {
            let Some(value) = *value else { continue };
            self.sum[i] += value;
            self.n[i] += 1;
            self.max[i] = Some(self.max[i].map_or(value, |m: f64| m.max(value)));
        }
    }
}

/// Recognizes `06/15/2009 01:11:39 PM`, `Mon Jun 15 13:11:39 2009`, `2009-06-15T13:11:39+0000` and
/// seconds since 1970.
fn looks_like_a_time(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let colons = memchr::memchr_iter(b':', line).count();
    line.len() < 64
        && (colons == 2 || colons == 3 || (line.len() == 10 && line.iter().all(u8::is_ascii_digit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `iostat -cnxz 2` from an article of 24 June 2009.
    const SOLARIS: &str = "\
     cpu
 us sy wt id
 58  8  0 34
                    extended device statistics
    r/s    w/s   kr/s    kw/s wait actv wsvc_t asvc_t  %w  %b device
    0.0    3.0    0.0    23.9  0.0  0.0    0.0    4.2   0   1 c0t1d0
    0.0  520.4    0.0 32535.2  0.0  4.9    0.0    9.4   2  98 c2t8d0
     cpu
 us sy wt id
 57  7  0 36
                    extended device statistics
    r/s    w/s   kr/s    kw/s wait actv wsvc_t asvc_t  %w  %b device
    0.0  546.7    0.0 31004.3  0.0  9.3    0.0   16.9   1  98 c2t8d0
";

    const LINUX: &str = "\
Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)

11/21/26 09:00:00
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    0.50    0.10    0.00   98.40

Device            r/s     rkB/s     w/s     wkB/s  w_await  %util
sda              1.00      4.00    2.00     16,00     0.50   0.10

11/21/26 09:00:01
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           2.00    0.00    0.50    0.10    0.00   97.40

Device            r/s     rkB/s     w/s     wkB/s  w_await  %util
sda              3.00      4.00    4.00     18.00     0.70   0.20
sdb              1.00      2.00
";

    #[test]
    fn of_solaris() {
        let log = read(SOLARIS.as_bytes()).unwrap();
        assert_eq!((log.system.as_str(), log.intervals, log.unreadable), ("Solaris", 2, 0));
        let names: Vec<&str> = log.devices.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["c0t1d0", "c2t8d0"]);
        assert_eq!(log.rows.len(), 3);
        let asvc = log.columns.iter().position(|c| c == "asvc_t").unwrap();
        assert_eq!(log.rows[2].values[asvc], Some(16.9));
        assert_eq!((log.devices[1].intervals, log.devices[1].mean[asvc]), (1, Some(16.9)));
        assert_eq!(log.devices[0].intervals, 0, "only in the interval since boot");
    }

    #[test]
    fn of_linux() {
        let log = read(LINUX.as_bytes()).unwrap();
        assert_eq!((log.system.as_str(), log.intervals), ("Linux", 2));
        assert_eq!(log.times[1], (1, "11/21/26 09:00:01".to_owned()));
        assert_eq!(log.rows[0].values[3], Some(16.0), "a decimal comma");
        assert_eq!(log.devices[0].max[0], Some(3.0));
        assert_eq!(log.rows.len(), 2, "the last row was cut");
    }

    #[test]
    fn a_long_log_keeps_its_means() {
        let mut text = LINUX.to_owned();
        for i in 0..60_000 {
            text += "\nDevice            r/s     rkB/s     w/s     wkB/s  w_await  %util\nsda ";
            text += &i.to_string();
            text += " 1 1 1 1 1\n";
        }
        let log = read(text.as_bytes()).unwrap();
        assert_eq!((log.rows.len(), log.rows_excluded), (MAX_ROWS, 60_002 - MAX_ROWS as u64));
        assert_eq!(log.devices[0].max[0], Some(59_999.0));
    }
}

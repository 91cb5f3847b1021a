//! Reads tables with a header and one I/O per line, as biosnoop (bcc, libbpf-tools, bpftrace) and
//! similar scripts print them. Columns are identified by their titles, with units in parentheses.
//! Lines are in the order in which I/Os ended.

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::event::{BLOCK_BYTES, FileFrom, Flags, Io, Op, parse_rwbs};
use crate::block_io::names::{NameCache, NameTable, writes_back};
use crate::block_io::source::fields::{whole_decimal, whole_number};
use crate::block_io::source::rows::{LineReader, ParsedLine};

/// Times count from the start of the tool, so the first I/Os started before 0.
const BEFORE_ZERO_NS: u64 = 1_000_000_000_000;
/// Maximum number of columns.
const MAX_COLUMNS: usize = 24;

/// Meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnoopColumn {
    /// Completion time, in units of 10^n nanoseconds.
    Time(u32),
    Program,
    Pid,
    Device,
    Operation,
    Sector,
    Bytes(u64),
    /// Time from issue (or queueing) to completion, in units of 10^n nanoseconds.
    Latency(u32),
    Queue(u32),
    File,
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns(Vec<SnoopColumn>);

impl Columns {
    /// Parses a header into its columns; `None` if it is not a header of such a table.
    pub(crate) fn from_header(line: &[u8]) -> Option<Columns> {
        let titles: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
        if titles.len() < 3 || titles.len() > MAX_COLUMNS {
            return None;
        }
        let columns: Vec<SnoopColumn> = titles.iter().map(|t| column(t)).collect();
        let once = |what: fn(&SnoopColumn) -> bool| columns.iter().filter(|c| what(c)).count() == 1;
        (once(|c| matches!(c, SnoopColumn::Time(_)))
            && once(|c| matches!(c, SnoopColumn::Latency(_))))
        .then_some(Columns(columns))
    }
}

fn column(title: &[u8]) -> SnoopColumn {
    let upper = title.to_ascii_uppercase();
    let (name, unit) = match upper.iter().position(|b| *b == b'(') {
        Some(open) => (&upper[..open], upper[open + 1..].strip_suffix(b")").unwrap_or(b"")),
        None => (upper.as_slice(), &b""[..]),
    };
    // A unit of 10^-3 s is 10^6 ns.
    let time = |usual| match unit {
        b"S" => 9,
        b"MS" => 6,
        b"US" => 3,
        b"NS" => 0,
        _ => usual,
    };
    match name {
        b"TIME" => SnoopColumn::Time(time(9)),
        b"COMM" | b"PROGRAM" | b"PROCESS" => SnoopColumn::Program,
        b"PID" | b"TID" => SnoopColumn::Pid,
        b"DISK" | b"DEV" | b"DEVICE" => SnoopColumn::Device,
        b"T" | b"TYPE" | b"RWBS" | b"FLAGS" | b"OP" | b"RW" | b"R/W" => SnoopColumn::Operation,
        b"SECTOR" | b"BLOCK" | b"BLKNO" => SnoopColumn::Sector,
        b"BYTES" | b"SIZE" | b"LEN" => SnoopColumn::Bytes(if unit == b"KB" { 1024 } else { 1 }),
        b"KB" | b"KBYTES" => SnoopColumn::Bytes(1024),
        b"SECTORS" => SnoopColumn::Bytes(BLOCK_BYTES),
        b"LAT" | b"LATENCY" => SnoopColumn::Latency(time(6)),
        b"QUE" | b"QUEUE" => SnoopColumn::Queue(time(6)),
        b"FILE" | b"FILENAME" | b"PATH" => SnoopColumn::File,
        _ => SnoopColumn::Ignored,
    }
}

#[derive(Debug)]
pub(crate) struct SnoopReader<'a> {
    names: NameCache<'a>,
    columns: Columns,
    /// True if an operation had more than one letter, which means that hints are recorded.
    hints: bool,
}

impl<'a> SnoopReader<'a> {
    pub(crate) fn new(columns: Columns, names: &'a NameTable) -> Self {
        SnoopReader { names: NameCache::new(names), columns, hints: false }
    }

    fn has(&self, column: SnoopColumn) -> bool {
        self.columns.0.contains(&column)
    }

    fn io(&mut self, line: &[u8]) -> Option<Io> {
        let mut words = [&b""[..]; MAX_COLUMNS];
        let words = split(line, &self.columns.0, &mut words)?;
        let (mut time, mut latency, mut queue) = (None, None, None);
        let mut io = Io::default();
        for (column, word) in self.columns.0.iter().zip(words) {
            match *column {
                SnoopColumn::Time(digits) => time = Some(whole_decimal(word, digits)?),
                SnoopColumn::Latency(digits) => latency = Some(whole_decimal(word, digits)?),
                SnoopColumn::Queue(digits) => queue = Some(whole_decimal(word, digits)?),
                SnoopColumn::Sector => io.sector = whole_number(word).unwrap_or(0),
                SnoopColumn::Bytes(each) => io.bytes = whole_number(word)?.checked_mul(each)?,
                SnoopColumn::Pid => {
                    io.pid = whole_number(word).and_then(|pid| u32::try_from(pid).ok());
                }
                SnoopColumn::Device => io.device = self.names.id(word),
                SnoopColumn::File => {
                    io.file = self.names.id(word);
                    if io.file != NameTable::NONE {
                        io.file_from = FileFrom::Trace;
                    }
                }
                SnoopColumn::Program => {
                    io.program = self.names.id(word);
                    io.flags = io.flags.with_if(writes_back(word), Flags::KERNEL);
                }
                SnoopColumn::Operation => {
                    let (op, flags) = parse_rwbs(word).unwrap_or((Op::Unknown, Flags::default()));
                    self.hints |= word.len() > 1;
                    io.op = op;
                    io.flags = io.flags.with(flags);
                }
                SnoopColumn::Ignored => {}
            }
        }
        // If there is a queue column, the latency starts at the issue.
        let (time, latency) = (time?.checked_add(BEFORE_ZERO_NS)?, latency?);
        io.start_ns = time.saturating_sub(latency);
        io.latency_ns = Some(latency.checked_add(queue.unwrap_or(0))?);
        io.device_ns = queue.map(|_| latency);
        io.queue_ns = queue;
        Some(io)
    }
}

/// Splits a line into one word per column. The program name may contain blanks, so it takes all
/// words that are left over.
fn split<'w, 'l>(
    line: &'l [u8],
    columns: &[SnoopColumn],
    words: &'w mut [&'l [u8]; MAX_COLUMNS],
) -> Option<&'w [&'l [u8]]> {
    let program = columns.iter().position(|c| *c == SnoopColumn::Program).unwrap_or(columns.len());
    let mut rest = line.trim_ascii();
    for word in words.iter_mut().take(program) {
        let end = rest.iter().position(u8::is_ascii_whitespace)?;
        *word = &rest[..end];
        rest = rest[end..].trim_ascii_start();
    }
    if program < columns.len() {
        for word in words[program + 1..columns.len()].iter_mut().rev() {
            let start = rest.iter().rposition(u8::is_ascii_whitespace)? + 1;
            *word = &rest[start..];
            rest = rest[..start].trim_ascii_end();
        }
        words[program] = rest;
    }
    Some(&words[..columns.len()])
}

/// Parses `Lost 12 events` and `Possibly lost 12 samples`.
fn lost(line: &[u8]) -> Option<u64> {
    let mut words =
        line.split(u8::is_ascii_whitespace).skip_while(|w| !w.eq_ignore_ascii_case(b"lost"));
    words.next()?;
    whole_number(words.next()?)
}

impl LineReader for SnoopReader<'_> {
    const BY_END: bool = true;

    fn line(&mut self, line: &[u8]) -> ParsedLine {
        if let Some(io) = self.io(line) {
            return ParsedLine::Io(io);
        }
        if let Some(n) = lost(line) {
            return ParsedLine::Lost(n);
        }
        // Messages of the tool before its header, and the header itself, which may be repeated
        // after a screen of rows.
        let talks = line.is_empty() || Columns::from_header(line).is_some() || talk(line);
        if talks { ParsedLine::Skip } else { ParsedLine::Unreadable }
    }

    fn recorded(&self) -> RecordedFields {
        let queue = self.columns.0.iter().any(|c| matches!(c, SnoopColumn::Queue(_)));
        RecordedFields {
            latency: true,
            queue,
            program: self.has(SnoopColumn::Program),
            pid: self.has(SnoopColumn::Pid),
            file: self.has(SnoopColumn::File),
            sync: self.hints,
            readahead: self.hints,
            ..RecordedFields::default()
        }
    }
}

/// True for messages that tools print before the table.
fn talk(line: &[u8]) -> bool {
    [&b"Attaching "[..], b"Attached ", b"Tracing ", b"#"].iter().any(|p| line.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<ParsedLine>, NameTable, RecordedFields) {
        let names = NameTable::default();
        let columns = text.lines().find_map(|l| Columns::from_header(l.as_bytes())).unwrap();
        let mut reader = SnoopReader::new(columns, &names);
        let lines = text.lines().map(|l| reader.line(l.as_bytes())).collect();
        let recorded = reader.recorded();
        (lines, names, recorded)
    }

    fn io(line: ParsedLine) -> Io {
        match line {
            ParsedLine::Io(io) => io,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn biosnoop_of_bcc_with_queue_times() {
        let (lines, names, recorded) = read(
            "\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)
0.000000    my prog 3      9546    nvme0n1   R 73092528   4096      0.01    0.42
0.000992    ?              0       nvme0n1   W -1         8192      0.02    1.50
",
        );
        let a = io(lines[1]);
        assert_eq!((a.op, a.sector, a.bytes, a.pid), (Op::Read, 73_092_528, 4096, Some(9546)));
        assert_eq!(
            (a.queue_ns, a.device_ns, a.latency_ns),
            (Some(10_000), Some(420_000), Some(430_000))
        );
        assert_eq!(names.text(a.program), "my prog 3");
        assert_eq!(io(lines[2]).sector, 0);
        assert!(recorded.queue && !recorded.sync, "one letter tells no hints");
    }

    #[test]
    fn biosnoop_of_libbpf_and_of_bpftrace() {
        let (lines, _, recorded) = read(
            "\
TIME(s)     COMM           PID     DISK      T      SECTOR     BYTES   LAT(ms)
0.5         fio            7       sda       WS     8          512     0.100
",
        );
        assert_eq!(io(lines[1]).flags, Flags::SYNC);
        assert!(recorded.sync && !recorded.queue);
        let (lines, names, _) = read(
            "\
Attaching 4 probes...
TIME(ms)     DISK    COMM             PID    LAT(ms)
611          nvme0n1 bash             4179        10
Lost 12 events
nonsense
",
        );
        let a = io(lines[2]);
        assert_eq!(
            (a.op, a.latency_ns, names.text(a.device).as_str()),
            (Op::Unknown, Some(10_000_000), "nvme0n1")
        );
        assert_eq!(a.end_ns(), Some(BEFORE_ZERO_NS + 611_000_000));
        assert_eq!(
            (lines[0], lines[3], lines[4]),
            (ParsedLine::Skip, ParsedLine::Lost(12), ParsedLine::Unreadable)
        );
    }

    #[test]
    fn other_tables_are_not_taken_for_it() {
        for header in ["PID COMM TIME", "Device r/s w/s", "TIME LAT", "LAT LAT TIME PID", ""] {
            assert_eq!(Columns::from_header(header.as_bytes()), None, "{header}");
        }
    }
}

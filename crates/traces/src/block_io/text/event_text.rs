//! Writes I/Os as text in time order, for other tools: as blkparse prints events, as fio's latency
//! log, or as CSV with a column for everything that is known.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::{Serialize, Serializer};

use crate::block_io::answers::filter::{Filter, Selector};
use crate::block_io::matching::event::{BLOCK_BYTES, Flags, Io, Op, Sink};
use crate::block_io::names::NameTable;

/// Number of lines that are held back to sort them by time. The order is right unless more lines
/// than this belong between the start and the end of one I/O.
const HELD: usize = 1 << 17;

/// Text format of I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFormat {
    /// As `blkparse` prints events: queued or made (Q or G, if known), issued (D), completed (C).
    Blkparse,
    /// fio's latency log with offsets, ordered by completion: time (ms), latency (ns), direction,
    /// bytes, offset, priority.
    FioLog,
    /// CSV with one row per I/O, ordered by start.
    Csv,
}

const COLUMNS: [&str; 16] = [
    "start_ns",
    "latency_ns",
    "queue_ns",
    "device_ns",
    "device",
    "sector",
    "bytes",
    "operation",
    "rwbs",
    "aio",
    "writeback",
    "pid",
    "program",
    "cgroup",
    "file",
    "file_from",
];

/// Destination of the lines.
enum TextOutput<W: Write> {
    Plain(W),
    Csv(Box<csv::Writer<W>>),
}

/// Event of an I/O that a held line describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IoMoment {
    First,
    Start,
    End,
}

/// A writer of I/Os: pass it every I/O as a [`Sink`], then call [`EventText::finish`].
pub struct EventText<'a, W: Write> {
    out: TextOutput<W>,
    names: &'a NameTable,
    format: EventFormat,
    /// Letter of the first traced event before the issue: Q or G.
    first: char,
    /// Major and minor numbers by device name.
    devices: HashMap<String, (u32, u32)>,
    selector: Selector,
    origin: Option<u64>,
    held: Vec<(u64, IoMoment, Io)>,
    /// Lines that are being written, kept to reuse the allocation.
    due: Vec<(u64, IoMoment, Io)>,
    /// Time of the first line; `last` is the time of the latest line written.
    began: Option<u64>,
    last: u64,
    lines: u64,
    late: u64,
    untimed: u64,
    failure: Option<io::Error>,
}

/// Counts of the lines written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenLines {
    /// Number of lines written.
    pub lines: u64,
    /// Lines that are out of order, because more lines than could be held belonged between the
    /// start and the end of an I/O.
    pub late: u64,
    /// I/Os without a latency, which fio's log cannot represent.
    pub untimed: u64,
}

impl<'a, W: Write> EventText<'a, W> {
    /// Starts a text of the I/Os that `filter` selects. `queued` is true if the time before the
    /// issue starts with the queueing of a bio, not with the making of a request. `devices` are the
    /// known device numbers by name.
    pub fn new(
        out: W,
        names: &'a NameTable,
        format: EventFormat,
        filter: &Filter,
        queued: bool,
        devices: HashMap<String, (u32, u32)>,
    ) -> Self {
        EventText {
            out: match format {
                EventFormat::Csv => {
                    let rows = csv::WriterBuilder::new().has_headers(false).from_writer(out);
                    TextOutput::Csv(Box::new(rows))
                }
                EventFormat::Blkparse | EventFormat::FioLog => TextOutput::Plain(out),
            },
            names,
            format,
            first: if queued { 'Q' } else { 'G' },
            devices,
            selector: Selector::new(filter),
            origin: None,
            held: Vec::new(),
            due: Vec::new(),
            began: None,
            last: 0,
            lines: 0,
            late: 0,
            untimed: 0,
            failure: None,
        }
    }

    /// Writes the held lines and returns the counts.
    ///
    /// # Errors
    /// If the text could not be written.
    pub fn finish(mut self) -> io::Result<WrittenLines> {
        if self.lines == 0 && self.held.is_empty() {
            self.head()?;
        }
        self.write(usize::MAX);
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match &mut self.out {
            TextOutput::Plain(out) => out.flush()?,
            TextOutput::Csv(out) => out.flush()?,
        }
        Ok(WrittenLines { lines: self.lines, late: self.late, untimed: self.untimed })
    }

    fn take(&mut self, io: &Io) {
        let origin = *self.origin.get_or_insert(io.start_ns);
        if self.failure.is_some() || !self.selector.takes(io, origin, self.names) {
            return;
        }
        let end = io.end_ns().filter(|_| io.latency_ns.is_some() || io.device_ns.is_some());
        match self.format {
            EventFormat::Csv => self.held.push((io.start_ns, IoMoment::Start, *io)),
            EventFormat::FioLog => match end {
                Some(end) => self.held.push((end, IoMoment::End, *io)),
                None => self.untimed += 1,
            },
            EventFormat::Blkparse => {
                if let Some(queue) = io.queue_ns {
                    self.held.push((io.start_ns.saturating_sub(queue), IoMoment::First, *io));
                }
                self.held.push((io.start_ns, IoMoment::Start, *io));
                if let Some(end) = end {
                    self.held.push((end, IoMoment::End, *io));
                }
            }
        }
        if self.held.len() >= 2 * HELD {
            self.write(HELD);
        }
    }

    fn write(&mut self, most: usize) {
        self.held.sort_by_key(|(at, ..)| *at);
        let n = most.min(self.held.len());
        let mut due = std::mem::take(&mut self.due);
        due.extend(self.held.drain(..n));
        for (at, moment, io) in due.drain(..) {
            if self.failure.is_none()
                && let Err(failure) = self.line(at, moment, &io)
            {
                self.failure = Some(failure);
            }
        }
        self.due = due;
    }

    fn line(&mut self, at: u64, moment: IoMoment, io: &Io) -> io::Result<()> {
        if self.lines == 0 {
            self.head()?;
        }
        let began = *self.began.get_or_insert(at);
        self.late += u64::from(at < self.last);
        self.last = self.last.max(at);
        self.lines += 1;
        let since = at.saturating_sub(began);
        let names = self.names;
        match (&mut self.out, self.format) {
            (TextOutput::Csv(out), _) => row(out, names, io),
            (TextOutput::Plain(out), EventFormat::FioLog) => {
                let latency = io.latency_ns.or(io.device_ns).unwrap_or(0);
                let direction = match io.op {
                    Op::Read => 0,
                    Op::Discard => 2,
                    _ => 1,
                };
                let (ms, offset) = (since / 1_000_000, io.sector.saturating_mul(BLOCK_BYTES));
                writeln!(out, "{ms}, {latency}, {direction}, {}, {offset}, 0", io.bytes)
            }
            (TextOutput::Plain(_), _) => self.blkparse(since, moment, io),
        }
    }

    fn blkparse(&mut self, since: u64, moment: IoMoment, io: &Io) -> io::Result<()> {
        let TextOutput::Plain(out) = &mut self.out else { return Ok(()) };
        self.names.with(io.device, |name| match self.devices.get(name) {
            Some((major, minor)) => write!(out, "{major:>3},{minor:<3}"),
            None => write!(out, "{name:>7}"),
        })?;
        let action = match moment {
            IoMoment::First => self.first,
            IoMoment::Start => 'D',
            IoMoment::End => 'C',
        };
        let (seconds, rest) = (since / 1_000_000_000, since % 1_000_000_000);
        let (n, pid) = (self.lines, io.pid.unwrap_or(0));
        let mut room = [0; RWBS];
        let rwbs = rwbs(io.op, io.flags, &mut room);
        write!(
            out,
            " {:2} {n:8} {seconds:5}.{rest:09} {pid:5} {action:>2} {rwbs:>3} {} + {} ",
            0,
            io.sector,
            io.bytes / BLOCK_BYTES
        )?;
        match moment {
            IoMoment::End => writeln!(out, "[0]"),
            _ => self.names.with(io.program, |program| writeln!(out, "[{program}]")),
        }
    }

    fn head(&mut self) -> io::Result<()> {
        match &mut self.out {
            TextOutput::Csv(out) => Ok(out.write_record(COLUMNS)?),
            TextOutput::Plain(_) => Ok(()),
        }
    }
}

fn row<W: Write>(out: &mut csv::Writer<W>, names: &NameTable, io: &Io) -> io::Result<()> {
    let mut room = [0; RWBS];
    out.serialize((
        io.start_ns,
        io.latency_ns,
        io.queue_ns,
        io.device_ns,
        CsvName(names, io.device),
        io.sector,
        io.bytes,
        io.op.name(),
        rwbs(io.op, io.flags, &mut room),
        u8::from(io.flags.has(Flags::AIO)),
        u8::from(io.is_writeback()),
        io.pid,
        CsvName(names, io.program),
        CsvName(names, io.cgroup),
        CsvName(names, io.file),
        io.file_from.name(),
    ))?;
    Ok(())
}

/// A name as a CSV field; empty if it was not recorded.
struct CsvName<'a>(&'a NameTable, u32);

impl Serialize for CsvName<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            NameTable::NONE => to.serialize_str(""),
            id => self.0.with(id, |text| to.serialize_str(text)),
        }
    }
}

impl<W: Write> Sink for EventText<'_, W> {
    fn start(&mut self, _: &Io) {}

    fn end(&mut self, io: &Io) {
        self.take(io);
    }

    fn whole(&mut self, io: &Io) {
        self.take(io);
    }
}

/// Maximum number of letters from [`rwbs`].
const RWBS: usize = 6;

/// Writes the operation and flags in the kernel's notation (`blk_fill_rwbs`) to `room` and returns
/// them.
fn rwbs(op: Op, flags: Flags, room: &mut [u8; RWBS]) -> &str {
    let letter = match op {
        Op::Read => b'R',
        Op::Write => b'W',
        Op::Discard => b'D',
        Op::Flush => b'F',
        Op::Other | Op::Unknown => b'N',
    };
    let letters = [
        (flags.has(Flags::PREFLUSH), b'F'),
        (true, letter),
        (flags.has(Flags::FUA), b'F'),
        (flags.has(Flags::READAHEAD), b'A'),
        (flags.has(Flags::SYNC), b'S'),
        (flags.has(Flags::META), b'M'),
    ];
    let mut n = 0;
    for (_, letter) in letters.into_iter().filter(|(there, _)| *there) {
        room[n] = letter;
        n += 1;
    }
    std::str::from_utf8(&room[..n]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::matching::event::FileFrom;

    fn written(format: EventFormat, filter: &Filter) -> String {
        let names = NameTable::default();
        let io = |start_ns, sector, op, queue_ns| Io {
            serial: 0,
            start_ns,
            latency_ns: Some(queue_ns + 700_000),
            queue_ns: Some(queue_ns),
            device_ns: Some(700_000),
            device: names.id(b"sda"),
            sector,
            bytes: 4096,
            op,
            flags: Flags::SYNC,
            pid: Some(42),
            program: names.id(b"my, program"),
            file: NameTable::NONE,
            file_from: FileFrom::Nothing,
            cgroup: NameTable::NONE,
        };
        let mut out = Vec::new();
        let devices = HashMap::from([("sda".to_owned(), (8, 0))]);
        let mut text = EventText::new(&mut out, &names, format, filter, true, devices);
        // In the order of their ends.
        text.end(&io(2_000_000, 16, Op::Write, 1_000));
        text.end(&io(1_500_000, 8, Op::Read, 0));
        let done = text.finish().unwrap();
        assert_eq!((done.late, done.untimed), (0, 0));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_of_blkparse_in_the_order_of_time() {
        let text = written(EventFormat::Blkparse, &Filter::default());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 6);
        assert_eq!(
            lines[1],
            "  8,0    0        2     0.000000000    42  D  RS 8 + 8 [my, program]"
        );
        assert_eq!(lines[5], "  8,0    0        6     0.001200000    42  C  WS 16 + 8 [0]");
    }

    #[test]
    fn fios_log_by_completion_and_rows_by_start() {
        let text = written(EventFormat::FioLog, &Filter::default());
        assert_eq!(text, "0, 700000, 0, 4096, 4096, 0\n0, 701000, 1, 4096, 8192, 0\n");
        let only = Filter { op: Some(Op::Write), ..Filter::default() };
        let text = written(EventFormat::Csv, &only);
        assert_eq!(
            text.lines().nth(1),
            Some(
                "2000000,701000,1000,700000,sda,16,4096,write,WS,0,0,42,\"my, program\",,,nothing"
            )
        );
        assert_eq!(text.lines().count(), 2);
    }
}

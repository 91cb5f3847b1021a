//! Reads texts with one I/O per line. Several threads read a file in parts, each from the start of
//! a line to the start of another.

use std::fs::File;
use std::io::{self, Read};

use crate::block_io::answers::analysis::IoAnalysis;
use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Io, Sink};
use crate::block_io::source::lines::{FileFrom, LineBuffer};

/// Minimum number of bytes per thread.
const MIN_PART: u64 = 4 << 20;

/// Number of I/Os that are held back to restore the order of starts. That works as long as no more
/// I/Os than this end while one of them is in flight.
const HELD: usize = 1 << 16;

/// Sorts I/Os by start that arrive in the order of their ends.
#[derive(Default)]
struct StartSorter {
    held: Vec<Io>,
    given: u64,
}

impl StartSorter {
    fn push(&mut self, io: Io, sink: &mut impl Sink) {
        self.held.push(io);
        if self.held.len() >= 2 * HELD {
            self.give(HELD, sink);
        }
    }

    fn give(&mut self, n: usize, sink: &mut impl Sink) {
        self.held.sort_by_key(|io| io.start_ns);
        for mut io in self.held.drain(..n.min(self.held.len())) {
            io.serial = self.given;
            self.given += 1;
            sink.whole(&io);
        }
    }
}

/// Meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParsedLine {
    /// An I/O that the line describes.
    Io(Io),
    /// An expected line that is not about an I/O, such as a header or an empty line.
    Skip,
    /// A line that cannot be parsed.
    Unreadable,
    /// The tracer reports this number of lost events.
    Lost(u64),
}

/// Parser of the lines of one format.
pub(crate) trait LineReader: Send {
    /// True if lines are in the order in which I/Os ended, not in which they started.
    const BY_END: bool = false;

    fn line(&mut self, line: &[u8]) -> ParsedLine;

    /// Returns the data that the lines so far have recorded.
    fn recorded(&self) -> RecordedFields;
}

/// Result of reading lines.
#[derive(Debug, Default)]
pub(crate) struct RowsSummary {
    pub(crate) completeness: Completeness,
    pub(crate) recorded: RecordedFields,
}

/// Parses lines up to the end of `lines`, or up to the first line that begins at or after `end`.
pub(crate) fn read_part<R: Read, L: LineReader>(
    lines: &mut LineBuffer<R>,
    end: u64,
    reader: &mut L,
    sink: &mut impl Sink,
) -> io::Result<RowsSummary> {
    let mut completeness = Completeness::default();
    let mut last_ns = 0;
    let mut was_unreadable = false;
    let mut by_start = StartSorter::default();
    while lines.position() < end {
        let Some(line) = lines.next()? else { break };
        was_unreadable = false;
        match reader.line(line) {
            ParsedLine::Io(mut io) => {
                let time = if L::BY_END { io.end_ns().unwrap_or(0) } else { io.start_ns };
                completeness.clock_backwards += u64::from(time < last_ns);
                last_ns = time;
                io.serial = completeness.ios;
                completeness.ios += 1;
                completeness.matched += u64::from(io.latency_ns.is_some());
                if L::BY_END { by_start.push(io, sink) } else { sink.whole(&io) }
            }
            ParsedLine::Skip => {}
            ParsedLine::Lost(n) => {
                completeness.dropped = Some(completeness.dropped.unwrap_or(0).saturating_add(n));
            }
            ParsedLine::Unreadable => {
                completeness.unreadable += 1;
                was_unreadable = true;
            }
        }
    }
    by_start.give(usize::MAX, sink);
    // A last line without a newline that cannot be parsed was cut off.
    if was_unreadable && lines.unended() {
        completeness.truncated = true;
        completeness.unreadable -= 1;
    }
    completeness.unreadable += lines.overlong();
    completeness.events = completeness.ios;
    Ok(RowsSummary { completeness, recorded: reader.recorded() })
}

/// Reads a file in parts, in parallel, and joins the results in the order of the file.
pub(crate) fn read_file<'a, L: LineReader>(
    file: &File,
    threads: usize,
    make: impl Fn() -> L + Sync,
    analysis: &mut IoAnalysis<'a>,
) -> io::Result<RowsSummary> {
    let length = file.metadata()?.len();
    // Lines in the order of ends must be sorted by start as a whole, which takes a single thread.
    let threads = if L::BY_END { 1 } else { threads.max(1) };
    let parts = (length / MIN_PART).clamp(1, threads as u64);
    // Every part measures time from the first I/O of the file.
    if parts > 1
        && let Some(start_ns) = first_start(file, &make)?
    {
        analysis.set_origin(start_ns);
    }
    let empty = &*analysis;
    let read = |part: u64| -> io::Result<(IoAnalysis<'a>, RowsSummary)> {
        let (start, end) = (length * part / parts, length * (part + 1) / parts);
        let mut own = empty.clone();
        // Start one byte early, so that a line that begins at `start` is not mistaken for the rest
        // of another.
        let mut lines = LineBuffer::new(FileFrom { file, at: start.saturating_sub(1) });
        let offset = start.saturating_sub(1);
        if part > 0 {
            lines.skip_rest(end - offset)?;
        }
        // The last part includes lines that were appended meanwhile.
        let end = if part + 1 == parts { u64::MAX } else { end - offset };
        let found = read_part(&mut lines, end, &mut make(), &mut own)?;
        Ok((own, found))
    };
    if parts == 1 {
        let mut lines = LineBuffer::new(FileFrom { file, at: 0 });
        return read_part(&mut lines, u64::MAX, &mut make(), analysis);
    }
    let done: Vec<io::Result<(IoAnalysis<'a>, RowsSummary)>> = std::thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> = (0..parts).map(|p| scope.spawn(move || read(p))).collect();
        threads
            .into_iter()
            .map(|t| {
                t.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the reader failed")))
            })
            .collect()
    });
    let mut found = RowsSummary::default();
    for part in done {
        let (own, of_part) = part?;
        analysis.join_later(own);
        found.completeness.merge(&of_part.completeness);
        found.recorded = found.recorded.or(of_part.recorded);
    }
    Ok(found)
}

fn first_start<L: LineReader>(file: &File, make: &impl Fn() -> L) -> io::Result<Option<u64>> {
    let mut lines = LineBuffer::new(FileFrom { file, at: 0 });
    let mut reader = make();
    while let Some(line) = lines.next()? {
        if let ParsedLine::Io(io) = reader.line(line) {
            return Ok(Some(io.start_ns));
        }
    }
    Ok(None)
}

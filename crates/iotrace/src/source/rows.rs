//! Texts with one I/O a line: read in parts by as many threads as there are CPUs, each part from the
//! beginning of a line to the beginning of another.

use std::fs::File;
use std::io::{self, Read};

use crate::analysis::Analysis;
use crate::completeness::Completeness;
use crate::event::{Io, Sink};
use crate::lines::{FileFrom, Lines};
use crate::series::Recorded;

/// The smallest bytes that are worth a thread.
const MIN_PART: u64 = 4 << 20;

/// I/Os that are held so that they can be given in the order in which they started. An order by ends is mended
/// by it as long as no more I/Os ended while one of them was under way.
const HELD: usize = 1 << 16;

/// Brings I/Os that stand in the order of their ends into that of their starts.
#[derive(Default)]
struct ByStart {
    held: Vec<Io>,
    given: u64,
}

impl ByStart {
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

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// An I/O.
    Io(Io),
    /// Something that says nothing about I/Os and is expected (a header, an empty line).
    Skip,
    /// Something that cannot be read.
    Unreadable,
    /// The tracer says that it lost so many events.
    Lost(u64),
}

/// Reads lines of one format.
pub(crate) trait LineReader: Send {
    /// Whether lines stand in the order in which I/Os ended, not in which they started.
    const BY_END: bool = false;

    /// What a line is.
    fn line(&mut self, line: &[u8]) -> Line;

    /// What the lines so far have recorded.
    fn recorded(&self) -> Recorded;
}

/// What reading lines found out.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) completeness: Completeness,
    pub(crate) recorded: Recorded,
}

/// Reads lines from `lines` to its end, or to those that begin at or after `end`.
pub(crate) fn read_part<R: Read, L: LineReader>(
    lines: &mut Lines<R>,
    end: u64,
    reader: &mut L,
    sink: &mut impl Sink,
) -> io::Result<Found> {
    let mut completeness = Completeness::default();
    let mut last_ns = 0;
    let mut was_unreadable = false;
    let mut by_start = ByStart::default();
    while lines.position() < end {
        let Some(line) = lines.next()? else { break };
        was_unreadable = false;
        match reader.line(line) {
            Line::Io(mut io) => {
                let time = if L::BY_END { io.end_ns().unwrap_or(0) } else { io.start_ns };
                completeness.clock_backwards += u64::from(time < last_ns);
                last_ns = time;
                io.serial = completeness.ios;
                completeness.ios += 1;
                completeness.matched += u64::from(io.latency_ns.is_some());
                if L::BY_END { by_start.push(io, sink) } else { sink.whole(&io) }
            }
            Line::Skip => {}
            Line::Lost(n) => {
                completeness.dropped = Some(completeness.dropped.unwrap_or(0).saturating_add(n));
            }
            Line::Unreadable => {
                completeness.unreadable += 1;
                was_unreadable = true;
            }
        }
    }
    by_start.give(usize::MAX, sink);
    // A last line that cannot be read and has no end was cut.
    if was_unreadable && lines.unended() {
        completeness.truncated = true;
        completeness.unreadable -= 1;
    }
    completeness.unreadable += lines.overlong();
    completeness.events = completeness.ios;
    Ok(Found { completeness, recorded: reader.recorded() })
}

/// Reads a file in parts, all at once, and joins what they found in the order of the file.
pub(crate) fn read_file<'a, L: LineReader>(
    file: &File,
    threads: usize,
    make: impl Fn() -> L + Sync,
    analysis: &mut Analysis<'a>,
) -> io::Result<Found> {
    let length = file.metadata()?.len();
    // What stands in the order of ends is brought into that of starts as a whole.
    let threads = if L::BY_END { 1 } else { threads.max(1) };
    let parts = (length / MIN_PART).clamp(1, threads as u64);
    // Every part counts its times from the first I/O of the file.
    if parts > 1
        && let Some(start_ns) = first_start(file, &make)?
    {
        analysis.set_origin(start_ns);
    }
    let empty = &*analysis;
    let read = |part: u64| -> io::Result<(Analysis<'a>, Found)> {
        let (start, end) = (length * part / parts, length * (part + 1) / parts);
        let mut own = empty.clone();
        // One byte early, so that a line that begins at `start` is not taken for the rest of another.
        let mut lines = Lines::new(FileFrom { file, at: start.saturating_sub(1) });
        let offset = start.saturating_sub(1);
        if part > 0 {
            lines.skip_rest(end - offset)?;
        }
        // The last part also takes what was added to the file since.
        let end = if part + 1 == parts { u64::MAX } else { end - offset };
        let found = read_part(&mut lines, end, &mut make(), &mut own)?;
        Ok((own, found))
    };
    if parts == 1 {
        let mut lines = Lines::new(FileFrom { file, at: 0 });
        return read_part(&mut lines, u64::MAX, &mut make(), analysis);
    }
    let done: Vec<io::Result<(Analysis<'a>, Found)>> = std::thread::scope(|scope| {
        let read = &read;
        let threads: Vec<_> = (0..parts).map(|p| scope.spawn(move || read(p))).collect();
        threads
            .into_iter()
            .map(|t| {
                t.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the reader failed")))
            })
            .collect()
    });
    let mut found = Found::default();
    for part in done {
        let (own, of_part) = part?;
        analysis.join_later(own);
        found.completeness.merge(&of_part.completeness);
        found.recorded = found.recorded.or(of_part.recorded);
    }
    Ok(found)
}

fn first_start<L: LineReader>(file: &File, make: &impl Fn() -> L) -> io::Result<Option<u64>> {
    let mut lines = Lines::new(FileFrom { file, at: 0 });
    let mut reader = make();
    while let Some(line) = lines.next()? {
        if let Line::Io(io) = reader.line(line) {
            return Ok(Some(io.start_ns));
        }
    }
    Ok(None)
}

//! Reads texts with one event per line. They are read in one piece, because the events of a request
//! may be far apart.

use std::io::{self, Read};

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Event, Sink};
use crate::block_io::matching::matcher::Matcher;
use crate::block_io::source::lines::LineBuffer;

/// Meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventLine {
    /// An event of a bio or request.
    Event(Event),
    /// The tracer reports this number of lost events.
    Lost(u64),
    /// An expected line that is not about requests.
    Skip,
    /// A line that cannot be parsed.
    Unreadable,
}

/// Parser of the lines of one format.
pub(crate) trait EventReader {
    fn line(&mut self, line: &[u8]) -> EventLine;

    /// Returns the data that the lines so far have recorded, besides latencies.
    fn recorded(&self) -> RecordedFields;
}

/// Reads all lines and matches their requests.
pub(crate) fn read(
    text: impl Read,
    reader: &mut impl EventReader,
    sink: &mut impl Sink,
) -> io::Result<(Completeness, RecordedFields)> {
    let mut lines = LineBuffer::new(text);
    let mut matcher = Matcher::default();
    let (mut unreadable, mut was_unreadable) = (0, false);
    let mut dropped: Option<u64> = None;
    while let Some(line) = lines.next()? {
        was_unreadable = false;
        match reader.line(line) {
            EventLine::Event(event) => matcher.event(&event, sink),
            EventLine::Lost(n) => dropped = Some(dropped.unwrap_or(0).saturating_add(n)),
            EventLine::Skip => {}
            EventLine::Unreadable => {
                unreadable += 1;
                was_unreadable = true;
            }
        }
    }
    let queue = matcher.queue_seen();
    let mut completeness = matcher.finish(sink);
    completeness.dropped = dropped;
    completeness.truncated = was_unreadable && lines.unended();
    completeness.unreadable = unreadable - u64::from(completeness.truncated) + lines.overlong();
    Ok((completeness, RecordedFields { latency: true, queue, ..reader.recorded() }))
}

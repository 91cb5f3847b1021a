//! Texts with one event a line: read in one piece, since requests are put together from lines that may
//! lie far apart.

use std::io::{self, Read};

use crate::completeness::Completeness;
use crate::event::{Event, Sink};
use crate::lines::Lines;
use crate::matcher::Matcher;
use crate::series::Recorded;

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventLine {
    /// An event.
    Event(Event),
    /// The tracer says that it lost so many events.
    Lost(u64),
    /// Something that says nothing about requests and is expected.
    Skip,
    /// Something that cannot be read.
    Unreadable,
}

/// Reads lines of one format.
pub(crate) trait EventReader {
    /// What a line is.
    fn line(&mut self, line: &[u8]) -> EventLine;

    /// What the lines so far have recorded, beside latencies.
    fn recorded(&self) -> Recorded;
}

/// Reads all lines and puts their requests together.
pub(crate) fn read(
    text: impl Read,
    reader: &mut impl EventReader,
    sink: &mut impl Sink,
) -> io::Result<(Completeness, Recorded)> {
    let mut lines = Lines::new(text);
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
    Ok((completeness, Recorded { latency: true, queue, ..reader.recorded() }))
}

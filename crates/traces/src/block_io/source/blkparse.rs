//! Reads the text of blkparse in its default format:
//!
//! ```text
//! 8,0    3       11     0.009507758   697  D   W 223490 + 56 [kjournald]
//! ```
//!
//! The fields are device, CPU, sequence number, seconds, pid, action, operation and details of the
//! action. A summary follows the events.

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::event::{BLOCK_BYTES, Event, Flags, IoAction, parse_rwbs};
use crate::block_io::names::{NameCache, NameTable, writes_back};
use crate::block_io::source::events::{EventLine, EventReader};
use crate::block_io::source::fields::{Cursor, whole_decimal, whole_number};

#[derive(Debug)]
pub(crate) struct BlkparseReader<'a> {
    names: NameCache<'a>,
    program_seen: bool,
    in_summary: bool,
}

impl<'a> BlkparseReader<'a> {
    pub(crate) fn new(names: &'a NameTable) -> Self {
        BlkparseReader { names: NameCache::new(names), program_seen: false, in_summary: false }
    }

    /// Parses a line that begins with a device; `None` if it is malformed.
    fn of_device(&mut self, device: &[u8], mut c: Cursor<'_>) -> Option<EventLine> {
        whole_number(c.word())?;
        whole_number(c.word())?;
        let time_ns = whole_decimal(c.word(), 9)?;
        let pid = whole_number(c.word()).and_then(|pid| u32::try_from(pid).ok())?;
        let action = match c.word() {
            b"Q" => IoAction::Queue,
            b"G" => IoAction::Start,
            b"I" => IoAction::Insert,
            b"M" => IoAction::BackMerge,
            b"F" => IoAction::FrontMerge,
            b"X" => IoAction::Split,
            b"D" => IoAction::Issue,
            b"R" => IoAction::Requeue,
            b"C" => IoAction::Complete,
            b"A" | b"B" | b"P" | b"S" | b"U" | b"T" | b"UT" | b"m" => return Some(EventLine::Skip),
            _ => return None,
        };
        let (op, flags) = parse_rwbs(c.word())?;
        let before_name = c;
        let sector = whole_number(c.word());
        let (mut bytes, mut other_sector) = (0, 0);
        match (sector, c.word()) {
            (Some(_), b"+") => bytes = whole_number(c.word())?.checked_mul(BLOCK_BYTES)?,
            (Some(_), b"/") => other_sector = whole_number(c.word())?,
            // A flush has neither sector nor size.
            _ => c = before_name,
        }
        let name = if action == IoAction::Complete { &b""[..] } else { bracketed(c.rest()) };
        self.program_seen |= !name.is_empty();
        Some(EventLine::Event(Event {
            action,
            time_ns,
            device: self.names.id(device),
            sector: sector.unwrap_or(0),
            bytes,
            op,
            flags: flags.with_if(writes_back(name), Flags::KERNEL),
            pid: Some(pid),
            program: self.names.id(name),
            cgroup: NameTable::NONE,
            other_sector,
        }))
    }
}

/// Returns the text between the first `[` and a `]` at the end, or nothing.
pub(crate) fn bracketed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    match text.iter().position(|b| *b == b'[') {
        Some(open) => text[open + 1..].strip_suffix(b"]").unwrap_or(b""),
        None => b"",
    }
}

/// True if a word is a device: two numbers with a comma between them.
pub(crate) fn is_device(word: &[u8]) -> bool {
    let Some(comma) = word.iter().position(|b| *b == b',') else { return false };
    whole_number(&word[..comma]).is_some() && whole_number(&word[comma + 1..]).is_some()
}

/// Parses `Skips: 3 forward (1,234 -   0.1%)`: the number of events that blkparse missed, counted
/// by their sequence numbers.
fn skips(line: &[u8]) -> Option<u64> {
    let rest = line.trim_ascii_start().strip_prefix(b"Skips:")?;
    let open = rest.iter().position(|b| *b == b'(')?;
    let digits = rest[open + 1..].iter().take_while(|b| b.is_ascii_digit() || **b == b',');
    digits
        .filter(|b| b.is_ascii_digit())
        .try_fold(0u64, |n, b| n.checked_mul(10)?.checked_add(u64::from(b - b'0')))
}

impl EventReader for BlkparseReader<'_> {
    fn line(&mut self, line: &[u8]) -> EventLine {
        let mut c = Cursor::new(line);
        let first = c.word();
        if is_device(first) {
            return self.of_device(first, c).unwrap_or(EventLine::Unreadable);
        }
        // After the events come totals for every CPU and program.
        self.in_summary |= first.starts_with(b"CPU") || first == b"Total" || first == b"Input";
        if let Some(missed) = skips(line) {
            return EventLine::Lost(missed);
        }
        if first.is_empty() || self.in_summary { EventLine::Skip } else { EventLine::Unreadable }
    }

    fn recorded(&self) -> RecordedFields {
        RecordedFields {
            program: self.program_seen,
            pid: true,
            sync: true,
            readahead: true,
            ..RecordedFields::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::IoCollector;
    use crate::block_io::matching::event::Op;

    const TEXT: &str = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kworker/3:1 H]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000002197   697  P   R [kjournald]
  8,0    3        4     0.000005533   697  M   W 223498 + 8 [kjournald]
  8,0    3       11     0.009507758   697  D   W 223490 + 56 (    5000) [kjournald]
  8,0    1        5     0.010000000     0  C   W 223490 + 56 [0]
  8,0    1        6     0.011000000    12  Q FWS [jbd2]
  8,0    1        7     0.012000000     0  C  FN 0 [0]
  8,0    1        8     0.013000000     0  m   N cfq697 insert_request
  8,0    1        9     0.014000000    12  A  RA 1000 + 8 <- (8,1) 900

CPU3 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           7,       28KiB
Total (8,0):
Events (8,0): 1,414 entries
Skips: 2 forward (1,234 -   0.1%)
";

    #[test]
    fn its_own_text() {
        let names = NameTable::default();
        let mut reader = BlkparseReader::new(&names);
        let mut kept = IoCollector::default();
        let (h, recorded) = read_all(TEXT.as_bytes(), &mut reader, &mut kept);
        assert_eq!((h.unreadable, h.dropped, h.matched, h.flush_ends), (0, Some(1234), 1, 1));
        let io = kept.ended[0];
        assert_eq!((io.op, io.sector, io.bytes), (Op::Write, 223_490, 56 * 512));
        assert_eq!(io.device_ns, Some(492_242));
        assert_eq!(names.text(io.program), "kworker/3:1 H", "who queued it");
        assert_eq!((io.pid, io.is_writeback()), (Some(697), true));
        assert!(recorded.queue && recorded.program && recorded.latency);
    }

    fn read_all(
        text: &[u8],
        reader: &mut BlkparseReader<'_>,
        kept: &mut IoCollector,
    ) -> (crate::block_io::Completeness, RecordedFields) {
        crate::block_io::source::events::read(text, reader, kept).unwrap()
    }

    #[test]
    fn what_is_not_its_text_is_unreadable() {
        let names = NameTable::default();
        let mut reader = BlkparseReader::new(&names);
        for line in [
            "8,0 3 1 0.0 697 ? W 1 + 8 [x]",
            "8,0 3 1 zero 697 Q W 1 + 8 [x]",
            "8,0 3 1 0.0 697 Q W 1 + many [x]",
            "8,0 3 1 0.0",
            "hello",
        ] {
            assert_eq!(reader.line(line.as_bytes()), EventLine::Unreadable, "{line}");
        }
    }

    #[test]
    fn a_last_line_that_was_cut_is_not_taken_for_unreadable() {
        let names = NameTable::default();
        let mut kept = IoCollector::default();
        let cut = &TEXT.as_bytes()[..TEXT.find("+ 56 (").unwrap() + 2];
        let (h, _) = read_all(cut, &mut BlkparseReader::new(&names), &mut kept);
        assert_eq!((h.truncated, h.unreadable), (true, 0));
    }
}

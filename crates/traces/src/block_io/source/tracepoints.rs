//! Reads block-layer tracepoints as text: `perf script`, `trace-cmd report`, `trace_pipe`. All
//! print the same text after the name of the tracepoint, but differ in how they print program and
//! time before it:
//!
//! ```text
//! fio  1234 [000]   123.456789: block:block_rq_issue: 8,0 WS 4096 () 1234 + 8 [fio]
//! fio-1234  [000] d..2. 123.456789: block_rq_issue: 8,0 WS 4096 () 1234 + 8 0x2,0,4 [fio]
//! ```

use memchr::memmem::Finder;

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::event::{BLOCK_BYTES, Event, Flags, IoAction, parse_rwbs};
use crate::block_io::names::{NameCache, NameTable, writes_back};
use crate::block_io::source::blkparse::{bracketed, is_device};
use crate::block_io::source::events::{EventLine, EventReader};
use crate::block_io::source::fields::{Cursor, whole_decimal, whole_number};

#[derive(Debug)]
pub(crate) struct TracepointReader<'a> {
    names: NameCache<'a>,
    block: Finder<'static>,
}

impl<'a> TracepointReader<'a> {
    pub(crate) fn new(names: &'a NameTable) -> Self {
        TracepointReader { names: NameCache::new(names), block: Finder::new(b"block_") }
    }

    /// Parses a line with a tracepoint whose name begins at `at`; `None` if it is malformed.
    fn tracepoint(&mut self, line: &[u8], at: usize) -> Option<EventLine> {
        let mut c = Cursor::new(&line[at..]);
        let Some(action) = c.until(b':').and_then(action_of) else {
            return Some(EventLine::Skip);
        };
        let before = &line[..at];
        let (who, time_ns) = time_of(before)?;
        let (program, pid) = who_of(who);
        let device = c.word();
        if !is_device(device) {
            return None;
        }
        let (op, flags) = parse_rwbs(c.word())?;
        // Requests have a size and a command in parentheses before the address.
        if let Some(close) = c.rest().iter().position(|b| *b == b')') {
            let open = c.rest().iter().position(|b| *b == b'(');
            let name = c.rest().iter().position(|b| *b == b'[');
            if open.is_some_and(|o| o < close) && name.is_none_or(|n| n > close) {
                c.skip(close + 1);
            }
        }
        let sector = whole_number(c.word())?;
        let (mut bytes, mut other_sector) = (0, 0);
        match c.word() {
            b"+" => bytes = whole_number(c.word())?.checked_mul(BLOCK_BYTES)?,
            b"/" => other_sector = whole_number(c.word())?,
            _ => return None,
        }
        // The brackets of a completion hold an error, and its program is whichever was interrupted.
        let ends = matches!(action, IoAction::Complete | IoAction::Done | IoAction::Requeue);
        let name = match (ends, bracketed(c.rest())) {
            (true, _) => &b""[..],
            (false, b"") => program,
            (false, name) => name,
        };
        Some(EventLine::Event(Event {
            action,
            time_ns,
            device: self.names.id(device),
            sector,
            bytes,
            op,
            flags: flags.with_if(writes_back(name), Flags::KERNEL),
            pid: if ends { None } else { pid },
            program: self.names.id(name),
            cgroup: NameTable::NONE,
            other_sector,
        }))
    }
}

fn action_of(name: &[u8]) -> Option<IoAction> {
    Some(match name {
        b"block_bio_queue" => IoAction::Queue,
        b"block_io_start" | b"block_getrq" => IoAction::Start,
        b"block_rq_insert" => IoAction::Insert,
        b"block_bio_backmerge" | b"block_rq_merge" => IoAction::BackMerge,
        b"block_bio_frontmerge" => IoAction::FrontMerge,
        b"block_split" => IoAction::Split,
        b"block_rq_issue" => IoAction::Issue,
        b"block_rq_requeue" => IoAction::Requeue,
        b"block_rq_complete" | b"block_bio_complete" => IoAction::Complete,
        b"block_io_done" => IoAction::Done,
        _ => return None,
    })
}

/// Parses the time before a tracepoint's name, and returns the text before it too.
fn time_of(before: &[u8]) -> Option<(&[u8], u64)> {
    // perf puts the subsystem before the name.
    let before = before.strip_suffix(b"block:").unwrap_or(before).trim_ascii_end();
    let start = before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |i| i + 1);
    let word = before[start..].strip_suffix(b":")?;
    Some((&before[..start], whole_decimal(word, 9)?))
}

/// Parses program and pid from the text before the time: `fio  1234 [000]`, `fio 1233/1234 [000]`
/// or `fio-1234  [000] d..2.`.
fn who_of(who: &[u8]) -> (&[u8], Option<u32>) {
    let number = |word: &[u8]| whole_number(word).and_then(|n| u32::try_from(n).ok());
    // The brackets hold the CPU; the flags of ftrace follow them.
    let cpu = who.iter().rposition(|b| *b == b'[').unwrap_or(who.len());
    let who = who[..cpu].trim_ascii();
    // ftrace may add the process of the thread: `fio-1234  (   1233)`.
    let who = match (who.ends_with(b")"), who.iter().rposition(|b| *b == b'(')) {
        (true, Some(open)) => who[..open].trim_ascii_end(),
        _ => who,
    };
    if let Some(blank) = who.iter().rposition(|b| *b == b' ') {
        let word = &who[blank + 1..];
        let pid = word.split(|b| *b == b'/').next().unwrap_or(word);
        if let Some(pid) = number(pid) {
            return (who[..blank].trim_ascii_end(), Some(pid));
        }
    }
    match who.iter().rposition(|b| *b == b'-') {
        Some(dash) => match number(&who[dash + 1..]) {
            Some(pid) => (&who[..dash], Some(pid)),
            None => (who, None),
        },
        None => (who, None),
    }
}

/// Parses the number of lost events from lines such as `CPU:1 [LOST 12 EVENTS]`, `CPU:0 [12 EVENTS
/// DROPPED]`, `PERF_RECORD_LOST lost 12`, `# entries-in-buffer/entries-written: 205/2000`.
fn lost(line: &[u8]) -> Option<u64> {
    if let Some(counts) = line.strip_prefix(b"# entries-in-buffer/entries-written:") {
        let mut c = Cursor::new(counts.trim_ascii_start());
        let kept = c.number()?;
        c.past(b'/')?;
        return c.number()?.checked_sub(kept);
    }
    let says = [&b"[LOST "[..], b" EVENTS DROPPED]", b"PERF_RECORD_LOST"];
    if !says.iter().any(|s| memchr::memmem::find(line, s).is_some()) {
        return None;
    }
    let words = line.split(|b| matches!(b, b' ' | b'[' | b']'));
    words.filter_map(whole_number).next_back()
}

impl EventReader for TracepointReader<'_> {
    fn line(&mut self, line: &[u8]) -> EventLine {
        // The name comes after the time; a program may be called block_something too.
        let mut from = 0;
        while let Some(found) = self.block.find(&line[from..]) {
            let at = from + found;
            if let Some(read) = self.tracepoint(line, at)
                && read != EventLine::Skip
            {
                return read;
            }
            let named = line[at..].split(|b| *b == b':').next().and_then(action_of).is_some();
            if named {
                return EventLine::Unreadable;
            }
            from = at + 1;
        }
        lost(line).map_or(EventLine::Skip, EventLine::Lost)
    }

    fn recorded(&self) -> RecordedFields {
        RecordedFields {
            program: true,
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

    fn one(line: &str) -> (EventLine, String) {
        let names = NameTable::default();
        let read = TracepointReader::new(&names).line(line.as_bytes());
        let program = match read {
            EventLine::Event(e) => names.text(e.program),
            _ => String::new(),
        };
        (read, program)
    }

    fn event(line: &str) -> (Event, String) {
        match one(line) {
            (EventLine::Event(e), program) => (e, program),
            (other, _) => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn perf_and_ftrace_say_the_same() {
        for line in [
            "fio  1234 [000]   123.456789012: block:block_rq_issue: 8,0 WS 4096 () 1234 + 8 [fio \
            x]",
            "fio y  1234/1240 [000] 123.456789012:  block:block_rq_issue: 8,0 WS 4096 () 1234 + 8 \
            0x2,0,4 [fio x]",
            " fio-y-1234    [000] d..2.   123.456789012: block_rq_issue: 8,0 WS 4096 () 1234 + 8 \
            none,0,0 [fio x]",
            " fio-1234 (   1230) [000] d..2.   123.456789012: block_rq_issue: 8,0 WS 4096 (12 00) \
            1234 + 8 [fio x]",
            "block_eater 1234 [000] 123.456789012: block:block_rq_issue: 8,0 WS 4096 () 1234 + 8 \
            [fio x]",
        ] {
            let (e, program) = event(line);
            assert_eq!(
                (e.action, e.op, e.sector, e.bytes),
                (IoAction::Issue, Op::Write, 1234, 4096)
            );
            assert_eq!((e.time_ns, e.pid), (123_456_789_012, Some(1234)), "{line}");
            assert_eq!(program, "fio x");
        }
    }

    #[test]
    fn the_others() {
        let (e, program) =
            event("swapper 0 [001] 1.5: block:block_rq_complete: 8,0 R () 8 + 8 [0]");
        assert_eq!((e.action, e.pid, program.as_str()), (IoAction::Complete, None, "not recorded"));
        let (e, _) = event("a 1 [001] 1.5: block:block_bio_queue: 253,0 RA 8 + 16 [a (b)]");
        assert_eq!((e.action, e.bytes), (IoAction::Queue, 8192));
        let (e, _) = event("a 1 [001] 1.5: block:block_split: 8,0 W 100 / 164 [a]");
        assert_eq!((e.action, e.other_sector), (IoAction::Split, 164));
        let (e, _) =
            event("a 1 [1] 1.5: block:block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [a]");
        assert_eq!((e.op, e.bytes), (Op::Flush, 0));
        for skipped in [
            "a 1 [001] 1.5: block:block_unplug: [a] 3",
            "a 1 [001] 1.5: sched:sched_switch: prev_comm=block_x",
            "# tracer: nop",
            "",
        ] {
            assert_eq!(one(skipped).0, EventLine::Skip, "{skipped}");
        }
        for wrong in [
            "a 1 [001] 1.5: block:block_rq_issue: 8,0 WS 4096 () 12",
            "a 1 [001] noon: block:block_rq_issue: 8,0 WS 4096 () 1234 + 8 [a]",
            "a 1 [001] 1.5: block:block_rq_issue: sda WS 4096 () 1234 + 8 [a]",
        ] {
            assert_eq!(one(wrong).0, EventLine::Unreadable, "{wrong}");
        }
    }

    #[test]
    fn losses_are_counted() {
        for (line, n) in [
            ("CPU:1 [LOST 123 EVENTS]", 123),
            ("CPU:0 [12 EVENTS DROPPED]", 12),
            ("# entries-in-buffer/entries-written: 205/2000   #P:2", 1795),
            ("fio 1 [000] 1.0: PERF_RECORD_LOST lost 587", 587),
        ] {
            assert_eq!(one(line).0, EventLine::Lost(n), "{line}");
        }
    }

    #[test]
    fn from_start_to_done() {
        let text = "\
fio 7 [0] 1.000000: block:block_io_start: 8,0 WS 4096 () 8 + 8 [fio]
kworker/0:1H 9 [0] 1.000100: block:block_rq_issue: 8,0 WS 4096 () 8 + 8 [kworker/0:1H]
swapper 0 [0] 1.000300: block:block_rq_complete: 8,0 WS () 8 + 8 [0]
swapper 0 [0] 1.000301: block:block_io_done: 8,0 WS 0 () 8 + 0 [swapper]
";
        let names = NameTable::default();
        let mut kept = IoCollector::default();
        let mut reader = TracepointReader::new(&names);
        let (h, recorded) =
            crate::block_io::source::events::read(text.as_bytes(), &mut reader, &mut kept).unwrap();
        let io = kept.ended[0];
        assert_eq!((io.queue_ns, io.device_ns), (Some(100_000), Some(200_000)));
        assert_eq!((names.text(io.program).as_str(), io.pid), ("fio", Some(7)));
        assert_eq!((h.matched, h.unmatched_ends), (1, 0));
        assert!(recorded.queue);
    }
}

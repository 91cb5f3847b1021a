//! Reads blktrace: the per-CPU files of a trace, merged by time, or one stream (`blkparse -d`,
//! `blktrace -o -`, the `blk` tracer of ftrace with the option `bin`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{self, Read};

use crate::block_io::answers::series::RecordedFields;
use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Event, Flags, IoAction, Op, Sink};
use crate::block_io::matching::matcher::{Clock, Matcher};
use crate::block_io::names::{NameCache, NameTable, writes_back};
use crate::block_io::source::blktrace_record::{ByteOrder, Record, Records};
use crate::block_io::source::blktrace_tables::{DeviceNames, Processes, SequenceGaps, StreamState};
use crate::block_io::source::pipeline::pipeline;
use crate::block_io::stages::{DeviceStages, PlugEvent, Stages};

/// Category bits, above the 16 bits of the action (`enum blktrace_cat`).
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const SYNC: u32 = 1 << 19;
const PASSED_THROUGH: u32 = 1 << 25;
const NOTIFY: u32 = 1 << 26;
const AHEAD: u32 = 1 << 27;
const META: u32 = 1 << 28;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;
/// Plug actions (`enum blktrace_act`).
const PLUG: u32 = 9;
const UNPLUG: u32 = 10;
const UNPLUG_IMPLICIT: u32 = 11;
/// Flag in the action: the extra bytes begin with the id of a control group.
const HAS_CGROUP: u32 = 1 << 8;
const CGROUP_BYTES: usize = 8;

/// Data about a trace besides its events.
#[derive(Debug)]
pub(crate) struct BlktraceSummary {
    pub(crate) completeness: Completeness,
    pub(crate) recorded: RecordedFields,
    pub(crate) wall_offset_ns: Option<i128>,
}

/// Converts records to events, using data such as program names that earlier records announced.
#[derive(Debug)]
struct Translator<'a> {
    names: NameCache<'a>,
    programs: Processes,
    devices: DeviceNames,
    sequences: SequenceGaps,
    last_cgroup: (u64, u32),
    wall_offset_ns: Option<i128>,
    cgroup_seen: bool,
    program_seen: bool,
}

/// Reads a trace: one stream, or one file per CPU. With more than one thread, a separate thread
/// decodes records while this one matches them, which must be done in order.
pub(crate) fn read<R: Read + Send>(
    readers: Vec<R>,
    order: ByteOrder,
    names: &NameTable,
    threads: usize,
    sink: &mut impl Sink,
) -> io::Result<BlktraceSummary> {
    let mut decoder = Decoder::new(readers, order, names);
    let mut matcher = Matcher::default();
    if threads > 1 {
        pipeline(
            |giver| decoder.run(&mut |event| giver.give(event)),
            |event| matcher.take(event, sink),
        )?;
    } else {
        decoder.run(&mut |event| {
            matcher.take(event, sink);
            Ok(())
        })?;
    }
    let queue = matcher.queue_seen();
    Ok(decoder.found(matcher.finish(sink), queue))
}

/// Returns the stage times of a trace, or `None` if it has no queueing events.
pub(crate) fn stages<R: Read + Send>(
    readers: Vec<R>,
    order: ByteOrder,
    names: &NameTable,
) -> io::Result<Option<Vec<DeviceStages>>> {
    let mut decoder = Decoder::new(readers, order, names);
    decoder.stages = Some(Stages::default());
    decoder.run(&mut |_: &Event| Ok(()))?;
    Ok(decoder.stages.unwrap_or_default().report(names))
}

/// Decodes the records of one or several streams into events, ordered by time.
struct Decoder<'a, R> {
    streams: Vec<(Records<R>, StreamState)>,
    order: ByteOrder,
    translator: Translator<'a>,
    /// By device: whether queueing of bios and making of requests were seen, which come before the
    /// issue.
    seen: Vec<(bool, bool)>,
    clock: Clock,
    /// If set, receives all events instead of the matcher.
    stages: Option<Stages>,
}

impl<'a, R: Read> Decoder<'a, R> {
    fn new(readers: Vec<R>, order: ByteOrder, names: &'a NameTable) -> Self {
        // The buffers of all CPUs together stay small.
        let buffer = ((8 << 20) / readers.len().max(1)).min(256 << 10);
        let streams = readers.into_iter().map(|r| Records::new(r, order, buffer));
        Decoder {
            streams: streams.map(|records| (records, StreamState::default())).collect(),
            order,
            translator: Translator::new(names),
            seen: Vec::new(),
            clock: Clock::default(),
            stages: None,
        }
    }

    /// Passes on every event that the matcher may need. The other events are only counted.
    fn run(&mut self, give: &mut impl FnMut(&Event) -> io::Result<()>) -> io::Result<()> {
        let mut next: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        for (i, (stream, _)) in self.streams.iter_mut().enumerate() {
            next.extend(stream.peek_time()?.map(|time| Reverse((time, i))));
        }
        while let Some(&Reverse((least, i))) = next.peek() {
            // The earliest record of the other streams is one of the two entries below the top of
            // the heap. A stream may step back in time, so it is read until it passes that record.
            let others = next.as_slice().iter().skip(1).take(2).map(|Reverse((time, _))| *time);
            let until = others.min().unwrap_or(u64::MAX).max(least);
            match self.order {
                ByteOrder::Little => self.stream::<false>(i, until, give)?,
                ByteOrder::Big => self.stream::<true>(i, until, give)?,
            }
            match (self.streams[i].0.peek_time()?, next.peek_mut()) {
                (Some(time), Some(mut top)) => *top = Reverse((time, i)),
                (_, top) => drop(top.map(PeekMut::pop)),
            }
        }
        Ok(())
    }

    /// Processes the events of one stream up to a time.
    #[inline]
    fn stream<const BIG: bool>(
        &mut self,
        i: usize,
        until: u64,
        give: &mut impl FnMut(&Event) -> io::Result<()>,
    ) -> io::Result<()> {
        let Decoder { streams, order, translator, seen, clock, stages } = self;
        let (stream, turn) = &mut streams[i];
        while let Some(record) = stream.next_until::<BIG>(until)? {
            let Translator { sequences, devices, names, .. } = translator;
            sequences.next(turn, &record, devices, names.names());
            let Some(action) = action(record.action) else {
                if record.action & NOTIFY != 0 {
                    translator.notice(&record, *order);
                } else if let (Some(stages), Some(plug)) = (&mut *stages, translator.plug(&record))
                {
                    stages.plug(turn.device, plug);
                }
                continue;
            };
            if let Some(stages) = stages {
                stages.event(&translator.event(&record, action, turn.device));
                continue;
            }
            clock.tick(record.time_ns);
            if !passes_over(seen, turn.device, action) {
                give(&translator.event(&record, action, turn.device))?;
            }
        }
        Ok(())
    }

    /// Combines the results of decoding with those of the matcher.
    fn found(self, mut completeness: Completeness, queue: bool) -> BlktraceSummary {
        self.clock.add_to(&mut completeness);
        completeness.dropped = self.translator.sequences.lost();
        for (stream, _) in &self.streams {
            completeness.skipped_bytes += stream.skipped;
            completeness.truncated |= stream.truncated;
        }
        let recorded = RecordedFields {
            latency: true,
            queue,
            program: self.translator.program_seen,
            pid: true,
            cgroup: self.translator.cgroup_seen,
            sync: true,
            readahead: true,
            ..RecordedFields::default()
        };
        BlktraceSummary { completeness, recorded, wall_offset_ns: self.translator.wall_offset_ns }
    }
}

/// True if only the time of an event matters, because it makes or schedules a request on a device
/// where an earlier step is traced.
#[inline]
fn passes_over(seen: &mut Vec<(bool, bool)>, device: u32, action: IoAction) -> bool {
    let at = device as usize;
    if at >= seen.len() {
        seen.resize(at + 1, (false, false));
    }
    let (queue, start) = &mut seen[at];
    match action {
        IoAction::Queue => *queue = true,
        IoAction::Start if *queue => return true,
        IoAction::Start => *start = true,
        IoAction::Insert => return *queue || *start,
        _ => {}
    }
    false
}

impl<'a> Translator<'a> {
    fn new(names: &'a NameTable) -> Self {
        Translator {
            names: NameCache::new(names),
            programs: Processes::default(),
            devices: DeviceNames::default(),
            sequences: SequenceGaps::default(),
            last_cgroup: (0, NameTable::NONE),
            wall_offset_ns: None,
            cgroup_seen: false,
            program_seen: false,
        }
    }

    #[inline]
    fn event(&mut self, record: &Record<'_>, action: IoAction, device: u32) -> Event {
        let what = record.action;
        let (program, kernel) = self.programs.get(record.pid);
        let flags = Flags::default()
            .with_if(what & SYNC != 0, Flags::SYNC)
            .with_if(what & AHEAD != 0, Flags::READAHEAD)
            .with_if(what & META != 0, Flags::META)
            .with_if(what & FLUSH != 0, Flags::PREFLUSH)
            .with_if(what & FUA != 0, Flags::FUA)
            .with_if(kernel, Flags::KERNEL);
        let (cgroup, extra) = self.cgroup(record);
        let other_sector = match action {
            IoAction::Split => extra.get(..8).map_or(0, |b| {
                // Big-endian in every trace.
                u64::from_be_bytes(b.try_into().expect("eight bytes"))
            }),
            _ => 0,
        };
        Event {
            action,
            time_ns: record.time_ns,
            device,
            sector: record.sector,
            bytes: u64::from(record.bytes),
            op: operation(what, record.bytes),
            flags,
            pid: Some(record.pid),
            program,
            cgroup,
            other_sector,
        }
    }

    #[inline]
    fn cgroup<'r>(&mut self, record: &Record<'r>) -> (u32, &'r [u8]) {
        if record.action & HAS_CGROUP == 0 {
            return (NameTable::NONE, record.extra);
        }
        let Some((id, extra)) = record.extra.split_at_checked(CGROUP_BYTES) else {
            return (NameTable::NONE, record.extra);
        };
        let id = u64::from_le_bytes(id.try_into().expect("eight bytes"));
        if id != self.last_cgroup.0 {
            // blkparse prints the inode and the generation.
            let name = format!("{:x},{:x}", id as u32, id >> 32);
            self.last_cgroup = (id, self.names.id(name.as_bytes()));
        }
        self.cgroup_seen = true;
        (self.last_cgroup.1, extra)
    }

    /// Parses the record of a task that holds back its requests or sends them.
    fn plug(&mut self, record: &Record<'_>) -> Option<PlugEvent> {
        let number = record.action & 0xFF;
        if number == PLUG {
            return Some(PlugEvent::Plugged);
        }
        if !matches!(number, UNPLUG | UNPLUG_IMPLICIT) {
            return None;
        }
        let (_, extra) = self.cgroup(record);
        // Big-endian in every trace.
        let depth = extra.get(..8).and_then(|b| b.try_into().ok()).map(u64::from_be_bytes);
        Some(PlugEvent::Unplugged { requests: depth, implicit: number == UNPLUG_IMPLICIT })
    }

    /// Processes a record that is not about a request: a process name, or the wall-clock time.
    fn notice(&mut self, record: &Record<'_>, order: ByteOrder) {
        match record.action & 0xFF {
            0 => {
                let end = record.extra.iter().position(|b| *b == 0).unwrap_or(record.extra.len());
                let name = &record.extra[..end];
                self.program_seen = true;
                self.programs.set(record.pid, self.names.id(name), writes_back(name));
            }
            1 => {
                let seconds = order.u32(record.extra);
                let nanoseconds = record.extra.get(4..).and_then(|b| order.u32(b));
                if let (Some(s), Some(ns), None) = (seconds, nanoseconds, self.wall_offset_ns) {
                    let wall = i128::from(s) * 1_000_000_000 + i128::from(ns);
                    self.wall_offset_ns = Some(wall - i128::from(record.time_ns));
                }
            }
            _ => {}
        }
    }
}

/// Returns the action that a record describes, or `None` if it is not about a request.
#[inline]
fn action(what: u32) -> Option<IoAction> {
    if what & NOTIFY != 0 {
        return None;
    }
    Some(match what & 0xFF {
        1 => IoAction::Queue,
        2 => IoAction::BackMerge,
        3 => IoAction::FrontMerge,
        4 => IoAction::Start,
        6 => IoAction::Requeue,
        7 => IoAction::Issue,
        8 => IoAction::Complete,
        12 => IoAction::Insert,
        13 => IoAction::Split,
        _ => return None,
    })
}

#[inline]
fn operation(what: u32, bytes: u32) -> Op {
    if what & PASSED_THROUGH != 0 {
        Op::Other
    } else if what & DISCARD != 0 {
        Op::Discard
    } else if what & FLUSH != 0 && bytes == 0 {
        Op::Flush
    } else if what & WRITE != 0 {
        Op::Write
    } else if what & READ != 0 {
        Op::Read
    } else {
        Op::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::{IoCollector, record};

    const ISSUE: u32 = 7;
    const COMPLETE: u32 = 8;

    fn run(files: &[Vec<u8>]) -> (IoCollector, BlktraceSummary, NameTable) {
        let names = NameTable::default();
        let mut kept = IoCollector::default();
        let readers = files.iter().map(Vec::as_slice).collect();
        let found = read(readers, ByteOrder::Little, &names, 1, &mut kept).unwrap();
        (kept, found, names)
    }

    #[test]
    fn files_of_cpus_are_merged_by_time() {
        let a = [record(10, ISSUE, 8, 512, b""), record(30, ISSUE, 16, 512, b"")].concat();
        let b = [record(20, COMPLETE, 8, 512, b""), record(45, COMPLETE, 16, 512, b"")].concat();
        let (kept, found, names) = run(&[a, b]);
        let latencies: Vec<_> = kept.ended.iter().map(|io| io.latency_ns).collect();
        assert_eq!(latencies, [Some(10), Some(15)]);
        assert_eq!(found.completeness.matched, 2);
        assert_eq!(found.completeness.dropped, None, "no sequence numbers");
        assert_eq!(names.text(kept.ended[0].device), "8,0");
    }

    #[test]
    fn names_and_the_wall_clock_come_from_notices() {
        let mut process = record(1, 0, 0, 0, b"oracle\0\0garbage");
        process[28..32].copy_from_slice(&NOTIFY.to_le_bytes());
        let mut clock = record(5, 0, 0, 0, &[1u32.to_le_bytes(), 7u32.to_le_bytes()].concat());
        clock[28..32].copy_from_slice(&(NOTIFY | 1).to_le_bytes());
        let (kept, found, names) = run(&[[process, clock, record(9, ISSUE, 8, 512, b"")].concat()]);
        assert_eq!(names.text(kept.started[0].program), "oracle");
        assert_eq!(found.wall_offset_ns, Some(1_000_000_002));
        assert_eq!((found.completeness.ios, found.completeness.in_flight), (1, 1));
        assert_eq!(kept.ended[0].latency_ns, None);
    }

    #[test]
    fn gaps_in_the_sequence_are_lost_events() {
        let mut records = Vec::new();
        for sequence in [1u32, 2, 5, 6, 4, 7] {
            let mut r = record(u64::from(sequence), 9, 0, 0, b"");
            r[4..8].copy_from_slice(&sequence.to_le_bytes());
            records.push(r);
        }
        let (_, found, _) = run(&[records.concat()]);
        assert_eq!(found.completeness.dropped, Some(4), "3 and 4, and once more 5 and 6");
    }

    #[test]
    fn operations() {
        assert_eq!(operation(WRITE | DISCARD, 4096), Op::Discard);
        assert_eq!(operation(READ | FLUSH, 0), Op::Flush);
        assert_eq!(operation(WRITE | FLUSH, 4096), Op::Write);
        assert_eq!(operation(READ | PASSED_THROUGH, 36), Op::Other);
    }
}

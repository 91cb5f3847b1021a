//! blktrace: the files of all CPUs of a trace merged by time, or one stream (`blkparse -d`, `blktrace
//! -o -`, the `blk` tracer of ftrace with `bin`).

use std::io::{self, Read};

use crate::event::{Action, Event, Flags, Op, Sink};
use crate::honesty::Honesty;
use crate::matcher::Matcher;
use crate::names::{NameCache, Names, writes_back};
use crate::series::Recorded;
use crate::source::blktrace_record::{Order, Record, Records};

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
/// In the action: the extra bytes begin with the id of a control group.
const HAS_CGROUP: u32 = 1 << 8;
const CGROUP_BYTES: usize = 8;

/// What is found out from a trace beside its events.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) honesty: Honesty,
    pub(crate) recorded: Recorded,
    pub(crate) wall_offset_ns: Option<i128>,
}

/// Turns records into events, and remembers what records say once for all later ones.
#[derive(Debug)]
struct Translator<'a> {
    names: NameCache<'a>,
    programs: Processes,
    devices: DeviceNames,
    sequences: Sequences,
    last_cgroup: (u64, u32),
    wall_offset_ns: Option<i128>,
    cgroup_seen: bool,
    program_seen: bool,
}

/// Reads a trace: one stream, or the files of its CPUs.
pub(crate) fn read<R: Read>(
    readers: Vec<R>,
    order: Order,
    names: &Names,
    sink: &mut impl Sink,
) -> io::Result<Found> {
    // All buffers together stay small however many CPUs there are.
    let buffer = (8 << 20) / readers.len().max(1);
    let mut streams: Vec<_> =
        readers.into_iter().map(|r| Records::new(r, order, buffer.min(256 << 10))).collect();
    let mut translator = Translator::new(names);
    let mut matcher = Matcher::default();
    while let Some((next, until)) = earliest(&mut streams)? {
        let stream = &mut streams[next];
        while stream.peek_time()?.is_some_and(|t| t <= until) {
            let Some(record) = stream.next()? else { break };
            if let Some(event) = translator.event(&record, order) {
                matcher.event(&event, sink);
            }
        }
    }
    let queue = matcher.queue_seen();
    let mut honesty = matcher.finish(sink);
    honesty.dropped = translator.sequences.lost();
    for stream in &streams {
        honesty.skipped_bytes += stream.skipped;
        honesty.truncated |= stream.truncated;
    }
    let recorded = Recorded {
        latency: true,
        queue,
        program: translator.program_seen,
        pid: true,
        cgroup: translator.cgroup_seen,
        sync: true,
        readahead: true,
        ..Recorded::default()
    };
    Ok(Found { honesty, recorded, wall_offset_ns: translator.wall_offset_ns })
}

/// The stream whose next record is the earliest, and the time up to which it stays so.
fn earliest<R: Read>(streams: &mut [Records<R>]) -> io::Result<Option<(usize, u64)>> {
    let mut best: Option<(u64, usize)> = None;
    let mut second = u64::MAX;
    for (i, stream) in streams.iter_mut().enumerate() {
        let Some(time) = stream.peek_time()? else { continue };
        match best {
            Some((least, _)) if least <= time => second = second.min(time),
            _ => {
                if let Some((least, _)) = best {
                    second = second.min(least);
                }
                best = Some((time, i));
            }
        }
    }
    // A stream may step back in time; it is read on until it passes the next one.
    Ok(best.map(|(least, i)| (i, second.max(least))))
}

impl<'a> Translator<'a> {
    fn new(names: &'a Names) -> Self {
        Translator {
            names: NameCache::new(names),
            programs: Processes::default(),
            devices: DeviceNames::default(),
            sequences: Sequences::default(),
            last_cgroup: (0, Names::NONE),
            wall_offset_ns: None,
            cgroup_seen: false,
            program_seen: false,
        }
    }

    fn event(&mut self, record: &Record<'_>, order: Order) -> Option<Event> {
        let what = record.action;
        self.sequences.next(record);
        if what & NOTIFY != 0 {
            self.notice(record, order);
            return None;
        }
        let action = match what & 0xFF {
            1 => Action::Queue,
            2 => Action::BackMerge,
            3 => Action::FrontMerge,
            4 => Action::Start,
            6 => Action::Requeue,
            7 => Action::Issue,
            8 => Action::Complete,
            12 => Action::Insert,
            13 => Action::Split,
            _ => return None,
        };
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
            Action::Split => extra.get(..8).map_or(0, |b| {
                // Always of big-endian order.
                u64::from_be_bytes(b.try_into().expect("eight bytes"))
            }),
            _ => 0,
        };
        Some(Event {
            action,
            time_ns: record.time_ns,
            device: self.devices.id(record.device, self.names.names()),
            sector: record.sector,
            bytes: u64::from(record.bytes),
            op: operation(what, record.bytes),
            flags,
            pid: Some(record.pid),
            program,
            cgroup,
            other_sector,
        })
    }

    fn cgroup<'r>(&mut self, record: &Record<'r>) -> (u32, &'r [u8]) {
        if record.action & HAS_CGROUP == 0 {
            return (Names::NONE, record.extra);
        }
        let Some((id, extra)) = record.extra.split_at_checked(CGROUP_BYTES) else {
            return (Names::NONE, record.extra);
        };
        let id = u64::from_le_bytes(id.try_into().expect("eight bytes"));
        if id != self.last_cgroup.0 {
            // As blkparse writes it: inode and generation.
            let name = format!("{:x},{:x}", id as u32, id >> 32);
            self.last_cgroup = (id, self.names.id(name.as_bytes()));
        }
        self.cgroup_seen = true;
        (self.last_cgroup.1, extra)
    }

    /// A record that tells of no request.
    fn notice(&mut self, record: &Record<'_>, order: Order) {
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

/// The programs of processes, by pages of 1024 pids that are made when they are needed. Linux has at
/// most 2^22 pids.
#[derive(Debug, Default)]
struct Processes {
    pages: Vec<Option<Box<[u32; 1024]>>>,
}

/// Marks the id of a program that writes back.
const KERNEL: u32 = 1 << 31;

impl Processes {
    fn get(&self, pid: u32) -> (u32, bool) {
        match self.pages.get(pid as usize / 1024) {
            Some(Some(page)) => {
                let entry = page[pid as usize % 1024];
                (entry & !KERNEL, entry & KERNEL != 0)
            }
            _ => (Names::NONE, false),
        }
    }

    fn set(&mut self, pid: u32, program: u32, kernel: bool) {
        let at = pid as usize / 1024;
        if at >= 4096 {
            return;
        }
        if at >= self.pages.len() {
            self.pages.resize_with(at + 1, || None);
        }
        let page = self.pages[at].get_or_insert_with(|| Box::new([Names::NONE; 1024]));
        page[pid as usize % 1024] = program | if kernel { KERNEL } else { 0 };
    }
}

/// The ids of devices by their numbers.
#[derive(Debug)]
struct DeviceNames {
    slots: [(u32, u32); 64],
}

impl Default for DeviceNames {
    fn default() -> Self {
        DeviceNames { slots: [(0, Names::NONE); 64] }
    }
}

impl DeviceNames {
    fn id(&mut self, device: u32, names: &Names) -> u32 {
        let at = (device ^ device >> 20 ^ device >> 4) as usize % self.slots.len();
        let (number, id) = self.slots[at];
        if number == device && id != Names::NONE {
            return id;
        }
        // The kernel's own numbers: 12 bits of major, 20 bits of minor.
        let name = format!("{},{}", device >> 20, device & 0xF_FFFF);
        let id = names.id(name.as_bytes());
        self.slots[at] = (device, id);
        id
    }
}

/// Gaps in the sequence numbers that a CPU gives its records for a device. A gap is a record that is
/// not in the trace.
#[derive(Debug)]
struct Sequences {
    slots: Vec<(u64, u32)>,
    gaps: u64,
    seen: bool,
}

impl Default for Sequences {
    fn default() -> Self {
        Sequences { slots: vec![(u64::MAX, 0); 4096], gaps: 0, seen: false }
    }
}

impl Sequences {
    #[inline]
    fn next(&mut self, record: &Record<'_>) {
        let key = u64::from(record.device) << 32 | u64::from(record.cpu);
        let at = (record.cpu ^ record.device.wrapping_mul(0x9E37_79B9) >> 16) as usize;
        let at = at % self.slots.len();
        let slot = &mut self.slots[at];
        let (before, last) = *slot;
        *slot = (key, record.sequence);
        // The stream of ftrace has no numbers: all are 0.
        self.seen |= record.sequence != 0;
        if before == key {
            let step = record.sequence.wrapping_sub(last);
            // Half of all numbers back is a step back, not a gap.
            if step > 1 && step < 1 << 31 {
                self.gaps += u64::from(step - 1);
            }
        }
    }

    fn lost(&self) -> Option<u64> {
        self.seen.then_some(self.gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Kept, record};

    const ISSUE: u32 = 7;
    const COMPLETE: u32 = 8;

    fn run(files: &[Vec<u8>]) -> (Kept, Found, Names) {
        let names = Names::default();
        let mut kept = Kept::default();
        let readers = files.iter().map(Vec::as_slice).collect();
        let found = read(readers, Order::Little, &names, &mut kept).unwrap();
        (kept, found, names)
    }

    #[test]
    fn files_of_cpus_are_merged_by_time() {
        let a = [record(10, ISSUE, 8, 512, b""), record(30, ISSUE, 16, 512, b"")].concat();
        let b = [record(20, COMPLETE, 8, 512, b""), record(45, COMPLETE, 16, 512, b"")].concat();
        let (kept, found, names) = run(&[a, b]);
        let latencies: Vec<_> = kept.ended.iter().map(|io| io.latency_ns).collect();
        assert_eq!(latencies, [Some(10), Some(15)]);
        assert_eq!(found.honesty.matched, 2);
        assert_eq!(found.honesty.dropped, None, "no sequence numbers");
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
        assert_eq!((found.honesty.ios, found.honesty.in_flight), (1, 1));
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
        assert_eq!(found.honesty.dropped, Some(4), "3 and 4, and once more 5 and 6");
    }

    #[test]
    fn operations() {
        assert_eq!(operation(WRITE | DISCARD, 4096), Op::Discard);
        assert_eq!(operation(READ | FLUSH, 0), Op::Flush);
        assert_eq!(operation(WRITE | FLUSH, 4096), Op::Write);
        assert_eq!(operation(READ | PASSED_THROUGH, 36), Op::Other);
    }
}

//! Reads single I/Os from the probes' ring.

use assay_traces::block_io::{FileFrom, Flags, Io, NameCache, NameTable, Op, Sink};
use aya::maps::{MapData, RingBuf};

use super::abi::{COMM, RingEvent};
use crate::ebpf::record;

/// Number of I/Os read from the ring before they are passed on.
const BATCH: usize = 65_536;

/// Reader of the ring of single I/Os.
pub(super) struct Ring {
    queue: RingBuf<MapData>,
    batch: Vec<Io>,
    by_start: Vec<u32>,
    serial: u64,
    /// Number of I/Os read.
    pub read: u64,
}

/// Looks up the names for the numbers in a record.
pub(super) trait Labelling {
    fn device(&mut self, dev: u32) -> u32;
    fn file(&mut self, event: &RingEvent, flags: Flags) -> (u32, FileFrom);
    fn cgroup(&mut self, id: u64) -> u32;
}

impl Ring {
    pub fn new(ring: RingBuf<MapData>) -> Self {
        Ring { queue: ring, batch: Vec::new(), by_start: Vec::new(), serial: 0, read: 0 }
    }

    /// Passes the I/Os in the ring to `sinks`. Starts are ordered within a batch; a start is
    /// reported late if its I/O ended in a later batch than an I/O that started after it.
    pub fn drain(
        &mut self,
        names: &mut NameCache<'_>,
        labels: &mut impl Labelling,
        sinks: &mut [&mut dyn Sink],
    ) {
        loop {
            self.batch.clear();
            while self.batch.len() < BATCH {
                let Some(item) = self.queue.next() else { break };
                if let Some(event) = record(&item) {
                    self.batch.push(io_of(&event, names, labels));
                }
            }
            let taken = self.batch.len();
            self.give(sinks);
            if taken < BATCH {
                return;
            }
        }
    }

    /// Passes on I/Os that did not come through the ring.
    pub fn give_left(
        &mut self,
        events: impl Iterator<Item = RingEvent>,
        names: &mut NameCache<'_>,
        labels: &mut impl Labelling,
        sinks: &mut [&mut dyn Sink],
    ) {
        self.batch.clear();
        self.batch.extend(events.map(|event| io_of(&event, names, labels)));
        let n = self.batch.len() as u64;
        self.give(sinks);
        self.read -= n;
    }

    fn give(&mut self, sinks: &mut [&mut dyn Sink]) {
        self.by_start.clear();
        self.by_start.extend(0..self.batch.len() as u32);
        let batch = &mut self.batch;
        self.by_start.sort_unstable_by_key(|i| batch[*i as usize].start_ns);
        for i in &self.by_start {
            let io = &mut batch[*i as usize];
            io.serial = self.serial;
            self.serial += 1;
            for s in sinks.iter_mut() {
                s.start(io);
            }
        }
        for io in batch.iter() {
            for s in sinks.iter_mut() {
                s.end(io);
            }
        }
        self.read += batch.len() as u64;
    }
}

pub(super) fn io_of(
    event: &RingEvent,
    names: &mut NameCache<'_>,
    labels: &mut impl Labelling,
) -> Io {
    let flags = Flags(event.flags);
    // An I/O without a reported end has no times.
    let since =
        |from: u64| (from > 0 && event.end_ns > 0).then(|| event.end_ns.saturating_sub(from));
    let (file, file_from) = labels.file(event, flags);
    Io {
        serial: 0,
        start_ns: if event.issue_ns > 0 { event.issue_ns } else { event.start_ns },
        latency_ns: since(event.start_ns),
        queue_ns: (event.start_ns > 0 && event.issue_ns > 0)
            .then(|| event.issue_ns.saturating_sub(event.start_ns)),
        device_ns: since(event.issue_ns),
        device: labels.device(event.dev),
        sector: event.sector,
        bytes: u64::from(event.bytes),
        op: Op::ALL.get(usize::from(event.op)).copied().unwrap_or(Op::Other),
        flags,
        pid: (event.known > 0).then_some(event.tgid),
        program: program(&event.comm, names),
        file,
        file_from,
        cgroup: if event.cgroup > 0 { labels.cgroup(event.cgroup) } else { NameTable::NONE },
    }
}

/// Returns the id of a program's name.
pub(super) fn program(comm: &[u8; COMM], names: &mut NameCache<'_>) -> u32 {
    let end = comm.iter().position(|b| *b == 0).unwrap_or(COMM);
    names.id(&comm[..end])
}

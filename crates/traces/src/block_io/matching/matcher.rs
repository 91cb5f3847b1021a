//! Assembles I/Os from the events of their requests. A request is identified by device, block, size
//! and operation. Among requests with the same key the first in is the first out, and such matches
//! are counted as ambiguous. Without the size in the key, or with a table that holds one request
//! per key, a fifth of the requests is lost on workloads that access the same blocks again and
//! again.

use crate::block_io::matching::completeness::Completeness;
use crate::block_io::matching::event::{Event, Flags, Io, IoAction, Op, Sink};
use crate::block_io::matching::inflight::{InFlight, RequestKey};
use crate::block_io::names::NameTable;

/// Maximum number of requests in flight that are kept.
pub const MAX_IN_FLIGHT: usize = 1 << 18;

/// A bio or request that has not been issued yet.
#[derive(Debug, Clone, Copy)]
struct WaitingRequest {
    io: Io,
    queued_ns: u64,
    /// True if the sink has received its start.
    started: bool,
}

/// Kinds of event seen of a device so far.
#[derive(Debug, Clone, Copy, Default)]
struct ObservedEvents {
    queue: bool,
    start: bool,
    insert: bool,
    issue: bool,
    complete: bool,
    merge: bool,
    /// True if the device completed a bio that was never issued: bios pass through it without a
    /// request.
    passes_on: bool,
}

/// Counts events, and events with a time before that of the preceding event.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    events: u64,
    backwards: u64,
    last_ns: u64,
}

impl Clock {
    /// Counts an event at `time_ns`.
    #[inline]
    pub(crate) fn tick(&mut self, time_ns: u64) {
        self.events += 1;
        self.backwards += u64::from(time_ns < self.last_ns);
        self.last_ns = time_ns;
    }

    /// Adds the counts to `completeness`.
    pub(crate) fn add_to(&self, completeness: &mut Completeness) {
        completeness.events += self.events;
        completeness.clock_backwards += self.backwards;
    }
}

/// Table of requests in flight, and the completeness counts of their trace.
#[derive(Debug)]
pub struct Matcher {
    waiting: InFlight<WaitingRequest>,
    issued: InFlight<Io>,
    seen: Vec<ObservedEvents>,
    serial: u64,
    clock: Clock,
    queue_seen: bool,
    completeness: Completeness,
}

impl Default for Matcher {
    fn default() -> Self {
        Matcher::new(MAX_IN_FLIGHT)
    }
}

impl Matcher {
    /// Creates a matcher that keeps at most `most` waiting and `most` issued requests.
    pub fn new(most: usize) -> Self {
        Matcher {
            waiting: InFlight::new(most.max(2)),
            issued: InFlight::new(most.max(2)),
            seen: Vec::new(),
            serial: 0,
            clock: Clock::default(),
            queue_seen: false,
            completeness: Completeness { from_events: true, ..Completeness::default() },
        }
    }

    /// True if queueing was traced separately from issuing, so that queue and device time are
    /// known.
    pub fn queue_seen(&self) -> bool {
        self.queue_seen
    }

    /// Processes the next event.
    pub fn event(&mut self, event: &Event, sink: &mut impl Sink) {
        self.clock.tick(event.time_ns);
        self.take(event, sink);
    }

    /// Processes the next event without counting it, for callers that count it themselves.
    #[inline]
    pub(crate) fn take(&mut self, event: &Event, sink: &mut impl Sink) {
        if event.bytes == 0 || event.op == Op::Flush {
            self.act(&normal(event), sink);
        } else {
            self.act(event, sink);
        }
    }

    fn act(&mut self, event: &Event, sink: &mut impl Sink) {
        match event.action {
            IoAction::Issue => self.issue(event, sink),
            IoAction::Complete => {
                self.seen(event.device).complete = true;
                self.complete(event, sink);
            }
            IoAction::Done if !self.seen(event.device).complete => self.complete(event, sink),
            IoAction::Done => {}
            IoAction::Queue => {
                self.seen(event.device).queue = true;
                self.queue(event, sink);
            }
            IoAction::Start => {
                let seen = self.seen(event.device);
                seen.start = true;
                if !seen.queue {
                    self.queue(event, sink);
                }
            }
            IoAction::Insert => {
                let seen = self.seen(event.device);
                seen.insert = true;
                if !seen.queue && !seen.start {
                    self.queue(event, sink);
                }
            }
            IoAction::BackMerge => {
                self.seen(event.device).merge = true;
                let joined = self.waiting.take_youngest(&waiting_key(event, event.sector));
                self.forget(joined, sink);
            }
            IoAction::FrontMerge => self.front_merge(event, sink),
            IoAction::Split => self.split(event, sink),
            IoAction::Requeue => self.requeue(event, sink),
        }
    }

    /// Ends the trace: passes the I/Os still in flight to the sink, without latencies.
    pub fn finish(mut self, sink: &mut impl Sink) -> Completeness {
        let mut left = self.issued.take_all(|_| true);
        left.extend(self.waiting.take_all(|_| true).iter().filter(|w| w.started).map(|w| w.io));
        left.sort_unstable_by_key(|io| io.serial);
        for io in &left {
            sink.end(io);
        }
        self.completeness.in_flight = left.len() as u64;
        self.completeness.ios = self.serial;
        self.clock.add_to(&mut self.completeness);
        self.completeness
    }

    #[inline]
    fn seen(&mut self, device: u32) -> &mut ObservedEvents {
        let at = device as usize;
        if at >= self.seen.len() {
            self.seen.resize(at + 1, ObservedEvents::default());
        }
        &mut self.seen[at]
    }

    fn begin(&mut self, io: &mut Io, sink: &mut impl Sink) {
        io.serial = self.serial;
        self.serial += 1;
        sink.start(io);
    }

    fn queue(&mut self, event: &Event, sink: &mut impl Sink) {
        let mut io = io_of(event);
        let started = self.seen(event.device).passes_on;
        if started {
            self.begin(&mut io, sink);
        }
        self.wait(
            event.sector,
            event,
            WaitingRequest { io, queued_ns: event.time_ns, started },
            sink,
        );
    }

    /// Adds a waiting request at `sector`, giving up the older half if the table is full.
    fn wait(&mut self, sector: u64, event: &Event, waiting: WaitingRequest, sink: &mut impl Sink) {
        if self.waiting.is_full() {
            let gone = older_half(&mut self.waiting, |w| w.queued_ns);
            // Bios that were merged without an event end up here too; forgetting them loses
            // nothing.
            for w in gone.iter().filter(|w| w.started) {
                self.completeness.given_up += 1;
                sink.end(&w.io);
            }
        }
        self.waiting.push(waiting_key(event, sector), waiting);
    }

    fn issue(&mut self, event: &Event, sink: &mut impl Sink) {
        let seen = *self.seen(event.device);
        self.seen(event.device).issue = true;
        let mut io = io_of(event);
        let mut started = false;
        if seen.queue || seen.start || seen.insert || self.waiting.len() > 0 {
            match self.waiting.take_oldest(&waiting_key(event, event.sector)) {
                Some(taken) => {
                    started = taken.value.started;
                    if seen.queue && !seen.merge {
                        self.take_joined(event, taken.value.io.bytes, sink);
                    }
                    self.join(&mut io, event, &taken.value);
                }
                // Every request is made before it is issued, so this one was returned by the
                // driver and is issued again. Not every trace has the events of a requeue.
                None if (seen.queue || seen.start)
                    && event.op != Op::Flush
                    && self.issued.oldest(&issued_key(event)).is_some() =>
                {
                    self.completeness.requeued += 1;
                    return;
                }
                None if (seen.queue || seen.start) && event.op != Op::Flush => {
                    self.completeness.queue_unknown += 1;
                }
                None => {}
            }
        }
        if !started {
            self.begin(&mut io, sink);
        }
        if self.issued.is_full() {
            self.give_up(sink);
        }
        self.issued.push(issued_key(event), io);
    }

    /// Forgets the bios that were merged behind the first one of a request, where merges are not
    /// traced. Otherwise they would be matched to later requests at their blocks.
    fn take_joined(&mut self, event: &Event, first_bytes: u64, sink: &mut impl Sink) {
        let mut covered = first_bytes;
        // 2^18 bios of 4 KiB are a request of 1 GiB; no request is that large.
        for _ in 0..1 << 18 {
            if covered == 0 || covered >= event.bytes {
                return;
            }
            let sector = event
                .sector
                .saturating_add(covered / crate::block_io::matching::event::BLOCK_BYTES);
            let Some(bio) = self.waiting.take_oldest(&waiting_key(event, sector)) else { return };
            self.forget(Some(bio.value), sink);
            if bio.value.io.bytes == 0 {
                return;
            }
            covered = covered.saturating_add(bio.value.io.bytes);
        }
    }

    /// Fills in the submitter and the queue time from the queueing event; size and issue time are
    /// those of the issue event.
    fn join(&mut self, io: &mut Io, event: &Event, waiting: &WaitingRequest) {
        let before = waiting.io;
        io.serial = before.serial;
        io.pid = before.pid.or(event.pid);
        io.cgroup = if before.cgroup == NameTable::NONE { event.cgroup } else { before.cgroup };
        if before.program != NameTable::NONE {
            io.program = before.program;
            let kernel = before.flags.has(Flags::KERNEL);
            io.flags = Flags(event.flags.0 & !Flags::KERNEL.0).with_if(kernel, Flags::KERNEL);
        }
        io.flags = io.flags.with_if(before.flags.has(Flags::AIO), Flags::AIO);
        io.queue_ns = event.time_ns.checked_sub(waiting.queued_ns);
        self.queue_seen = true;
        if io.queue_ns.is_none() {
            self.completeness.clock_backwards += 1;
        }
    }

    fn complete(&mut self, event: &Event, sink: &mut impl Sink) {
        if let Some(taken) = self.issued.take_oldest(&issued_key(event)) {
            let mut io = taken.value;
            io.device_ns = event.time_ns.checked_sub(io.start_ns);
            io.latency_ns = io.device_ns.map(|d| d + io.queue_ns.unwrap_or(0));
            self.matched(&io, taken.ambiguous, sink);
            return;
        }
        if !self.seen(event.device).issue {
            let key = waiting_key(event, event.sector);
            if let Some(taken) = self.waiting.take_oldest(&key) {
                self.seen(event.device).passes_on = true;
                let mut io = taken.value.io;
                if !taken.value.started {
                    self.begin(&mut io, sink);
                }
                io.latency_ns = event.time_ns.checked_sub(io.start_ns);
                self.matched(&io, taken.ambiguous, sink);
                return;
            }
        }
        let flush = event.op == Op::Flush
            || event.flags.has(Flags::PREFLUSH)
            || event.flags.has(Flags::FUA);
        if flush {
            self.completeness.flush_ends += 1;
        } else if event.op != Op::Other {
            self.completeness.unmatched_ends += 1;
        }
    }

    fn matched(&mut self, io: &Io, ambiguous: bool, sink: &mut impl Sink) {
        self.completeness.matched += 1;
        self.completeness.ambiguous += u64::from(ambiguous);
        self.completeness.clock_backwards += u64::from(io.latency_ns.is_none());
        sink.end(io);
    }

    /// Drops a bio that was merged into another request: it is no I/O of its own. If the sink has
    /// received its start (it was requeued, or its device passes bios on), it counts as given up.
    fn forget(&mut self, joined: Option<WaitingRequest>, sink: &mut impl Sink) {
        if let Some(waiting) = joined.filter(|w| w.started) {
            self.completeness.given_up += 1;
            sink.end(&waiting.io);
        }
    }

    /// Merges a bio into the front of a request: the result begins with the bio and has the
    /// queueing time of the older of the two.
    fn front_merge(&mut self, event: &Event, sink: &mut impl Sink) {
        self.seen(event.device).merge = true;
        let behind = event
            .sector
            .saturating_add(event.bytes / crate::block_io::matching::event::BLOCK_BYTES);
        let front = self.waiting.take_youngest(&waiting_key(event, event.sector));
        let request = self.waiting.take_oldest(&waiting_key(event, behind)).map(|t| t.value);
        if request.is_some() {
            self.forget(front, sink);
        }
        if let Some(older) = request.or(front) {
            self.wait(event.sector, event, older, sink);
        }
    }

    /// Adds the second part of a split bio, with the queueing time of the whole.
    fn split(&mut self, event: &Event, sink: &mut impl Sink) {
        if event.other_sector == 0 {
            return;
        }
        if let Some(mut whole) = self.waiting.oldest(&waiting_key(event, event.sector)) {
            // The part is a request of its own, and the sink has not received its start.
            whole.started = false;
            whole.io.sector = event.other_sector;
            self.wait(event.other_sector, event, whole, sink);
        }
    }

    /// Returns an issued request to the queue. It will be issued again, but has started only once.
    fn requeue(&mut self, event: &Event, sink: &mut impl Sink) {
        if let Some(taken) = self.issued.take_oldest(&issued_key(event)) {
            self.completeness.requeued += 1;
            let io = taken.value;
            let queued_ns = io.start_ns.saturating_sub(io.queue_ns.unwrap_or(0));
            self.wait(event.sector, event, WaitingRequest { io, queued_ns, started: true }, sink);
        }
    }

    /// Gives up the older half of the issued requests, whose completions were most likely lost.
    #[cold]
    fn give_up(&mut self, sink: &mut impl Sink) {
        let mut gone = older_half(&mut self.issued, |io| io.start_ns);
        gone.sort_unstable_by_key(|io| io.serial);
        self.completeness.given_up += gone.len() as u64;
        for io in &gone {
            sink.end(io);
        }
    }
}

/// Removes the entries whose time is at or before the median.
fn older_half<T: Copy>(table: &mut InFlight<T>, time: impl Fn(&T) -> u64) -> Vec<T> {
    let mut times = Vec::with_capacity(table.len());
    table.take_all(|one| {
        times.push(time(one));
        false
    });
    let at = times.len() / 2;
    let middle = if times.is_empty() { 0 } else { *times.select_nth_unstable(at).1 };
    table.take_all(|one| time(one) <= middle)
}

/// Clears the address and size of a flush, whatever the trace says, and turns a zero-byte request
/// into a flush (if it has REQ_PREFLUSH) or another operation.
fn normal(event: &Event) -> Event {
    let mut event = *event;
    // `block_io_done` always reports size 0, because the request has no bytes left by then.
    if event.action == IoAction::Done && event.op != Op::Flush {
        return event;
    }
    if event.bytes == 0 && event.op != Op::Flush {
        event.op = if event.flags.has(Flags::PREFLUSH) { Op::Flush } else { Op::Other };
    }
    if event.op == Op::Flush {
        event.sector = 0;
        event.bytes = 0;
    }
    event
}

fn issued_key(event: &Event) -> RequestKey {
    RequestKey::new(event.device, event.op as u8, event.sector, event.bytes)
}

/// A bio grows by merges before it is issued, so its key has no size.
fn waiting_key(event: &Event, sector: u64) -> RequestKey {
    RequestKey::new(event.device, event.op as u8, sector, 0)
}

fn io_of(event: &Event) -> Io {
    Io {
        start_ns: event.time_ns,
        device: event.device,
        sector: event.sector,
        bytes: event.bytes,
        op: event.op,
        flags: event.flags,
        pid: event.pid,
        program: event.program,
        cgroup: event.cgroup,
        ..Io::default()
    }
}

#[cfg(test)]
mod tests;

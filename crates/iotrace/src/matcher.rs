//! Puts I/Os together from the events of their requests. Requests are identified by device, block,
//! size and operation; of equal ones the first in is the first out, and such matches are counted as
//! ambiguous. A key without the size, or a table with room for one request a key, loses a fifth of the
//! requests where the same blocks are asked for again and again.

use crate::completeness::Completeness;
use crate::event::{Action, Event, Flags, Io, Op, Sink};
use crate::inflight::{InFlight, Key};
use crate::names::Names;

/// The most requests under way at once that are kept.
pub const MAX_IN_FLIGHT: usize = 1 << 18;

/// A bio or request before it is issued.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    io: Io,
    queued_ns: u64,
    /// Whether the sink knows it.
    started: bool,
}

/// What is known of a device by its events so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    queue: bool,
    start: bool,
    insert: bool,
    issue: bool,
    complete: bool,
    merge: bool,
    /// It completes what was never issued: bios go through it without a request of its own.
    passes_on: bool,
}

/// Counts events, and those that step back in time.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    events: u64,
    backwards: u64,
    last_ns: u64,
}

impl Clock {
    /// An event of this time.
    #[inline]
    pub(crate) fn tick(&mut self, time_ns: u64) {
        self.events += 1;
        self.backwards += u64::from(time_ns < self.last_ns);
        self.last_ns = time_ns;
    }

    /// Adds what was counted.
    pub(crate) fn add_to(&self, completeness: &mut Completeness) {
        completeness.events += self.events;
        completeness.clock_backwards += self.backwards;
    }
}

/// The requests under way.
#[derive(Debug)]
pub struct Matcher {
    waiting: InFlight<Waiting>,
    issued: InFlight<Io>,
    seen: Vec<Seen>,
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
    /// One that keeps at most `most` requests before and `most` after they are issued.
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

    /// Whether queueing was seen apart from issuing, so that the two parts of latency are known.
    pub fn queue_seen(&self) -> bool {
        self.queue_seen
    }

    /// Takes the next event.
    pub fn event(&mut self, event: &Event, sink: &mut impl Sink) {
        self.clock.tick(event.time_ns);
        self.take(event, sink);
    }

    /// Takes the next event, which has been counted.
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
            Action::Issue => self.issue(event, sink),
            Action::Complete => {
                self.seen(event.device).complete = true;
                self.complete(event, sink);
            }
            Action::Done if !self.seen(event.device).complete => self.complete(event, sink),
            Action::Done => {}
            Action::Queue => {
                self.seen(event.device).queue = true;
                self.queue(event, sink);
            }
            Action::Start => {
                let seen = self.seen(event.device);
                seen.start = true;
                if !seen.queue {
                    self.queue(event, sink);
                }
            }
            Action::Insert => {
                let seen = self.seen(event.device);
                seen.insert = true;
                if !seen.queue && !seen.start {
                    self.queue(event, sink);
                }
            }
            Action::BackMerge => {
                self.seen(event.device).merge = true;
                let joined = self.waiting.take_youngest(&waiting_key(event, event.sector));
                self.forget(joined, sink);
            }
            Action::FrontMerge => self.front_merge(event, sink),
            Action::Split => self.split(event, sink),
            Action::Requeue => self.requeue(event, sink),
        }
    }

    /// Ends the trace: what is still under way is given to the sink without latencies.
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
    fn seen(&mut self, device: u32) -> &mut Seen {
        let at = device as usize;
        if at >= self.seen.len() {
            self.seen.resize(at + 1, Seen::default());
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
        self.wait(event.sector, event, Waiting { io, queued_ns: event.time_ns, started }, sink);
    }

    /// Lets a request wait at `sector`.
    fn wait(&mut self, sector: u64, event: &Event, waiting: Waiting, sink: &mut impl Sink) {
        if self.waiting.is_full() {
            let gone = older_half(&mut self.waiting, |w| w.queued_ns);
            // Bios that were joined to others without an event are forgotten here without loss.
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
                // Every request is made before it is issued, so this one came back from the driver
                // and goes there again; not every trace has the events of that.
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

    /// Where joining is not traced, the bios behind the first one of a request are forgotten with it;
    /// else they would lie in wait for later requests at their blocks.
    fn take_joined(&mut self, event: &Event, first_bytes: u64, sink: &mut impl Sink) {
        let mut covered = first_bytes;
        // A request of 1 GiB in bios of 4 KiB; none is that large.
        for _ in 0..1 << 18 {
            if covered == 0 || covered >= event.bytes {
                return;
            }
            let sector = event.sector.saturating_add(covered / crate::event::BLOCK_BYTES);
            let Some(bio) = self.waiting.take_oldest(&waiting_key(event, sector)) else { return };
            self.forget(Some(bio.value), sink);
            if bio.value.io.bytes == 0 {
                return;
            }
            covered = covered.saturating_add(bio.value.io.bytes);
        }
    }

    /// Who asked and since when is known from the queue; size and time of issue from the issue.
    fn join(&mut self, io: &mut Io, event: &Event, waiting: &Waiting) {
        let before = waiting.io;
        io.serial = before.serial;
        io.pid = before.pid.or(event.pid);
        io.cgroup = if before.cgroup == Names::NONE { event.cgroup } else { before.cgroup };
        if before.program != Names::NONE {
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

    /// What was joined to another is no I/O of its own. One that the sink knows all the same (it
    /// came back from the driver, or its device passes bios on) is given up.
    fn forget(&mut self, joined: Option<Waiting>, sink: &mut impl Sink) {
        if let Some(waiting) = joined.filter(|w| w.started) {
            self.completeness.given_up += 1;
            sink.end(&waiting.io);
        }
    }

    /// The joined request begins with the bio in front, and waits since the older of both.
    fn front_merge(&mut self, event: &Event, sink: &mut impl Sink) {
        self.seen(event.device).merge = true;
        let behind = event.sector.saturating_add(event.bytes / crate::event::BLOCK_BYTES);
        let front = self.waiting.take_youngest(&waiting_key(event, event.sector));
        let request = self.waiting.take_oldest(&waiting_key(event, behind)).map(|t| t.value);
        if request.is_some() {
            self.forget(front, sink);
        }
        if let Some(older) = request.or(front) {
            self.wait(event.sector, event, older, sink);
        }
    }

    /// The second part waits since when the whole did.
    fn split(&mut self, event: &Event, sink: &mut impl Sink) {
        if event.other_sector == 0 {
            return;
        }
        if let Some(mut whole) = self.waiting.oldest(&waiting_key(event, event.sector)) {
            // The part is a request of its own, which the sink does not know.
            whole.started = false;
            whole.io.sector = event.other_sector;
            self.wait(event.other_sector, event, whole, sink);
        }
    }

    /// Back into the queue; it will be issued again, and has started only once.
    fn requeue(&mut self, event: &Event, sink: &mut impl Sink) {
        if let Some(taken) = self.issued.take_oldest(&issued_key(event)) {
            self.completeness.requeued += 1;
            let io = taken.value;
            let queued_ns = io.start_ns.saturating_sub(io.queue_ns.unwrap_or(0));
            self.wait(event.sector, event, Waiting { io, queued_ns, started: true }, sink);
        }
    }

    /// Gives up the older half of what was issued: most likely their ends were lost.
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

/// Takes those out of a table whose time is not after the middle one.
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

/// A flush has no address, whatever the trace says; a write of nothing that flushes is a flush.
fn normal(event: &Event) -> Event {
    let mut event = *event;
    // `block_io_done` tells no size: nothing of the request is left then.
    if event.action == Action::Done && event.op != Op::Flush {
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

fn issued_key(event: &Event) -> Key {
    Key::new(event.device, event.op as u8, event.sector, event.bytes)
}

/// Bios grow before they are issued, so only where they begin tells them apart.
fn waiting_key(event: &Event, sector: u64) -> Key {
    Key::new(event.device, event.op as u8, sector, 0)
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

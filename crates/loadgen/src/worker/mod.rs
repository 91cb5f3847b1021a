//! One thread of the generator: an epoll loop over its connections. The loop does not block or
//! print, and does not allocate once the connections' buffers have grown to the size of the batches
//! (TLS excepted).

mod ask;
mod chores;
mod receive;
mod recover;

use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::Error;
use crate::clock::{now_ns, thread_cpu_ns, timespec};
use crate::config::{Config, LAST_KEY, Mode};
use crate::connection::{Conn, ConnectionStage};
use crate::end::EarlyEnd;
use crate::latency::report::{ErrorKind, ThreadUse};
use crate::latency::worker_stats::{Timeline, WorkerStats};
use crate::link::{Link, ServerEndpoint};
use crate::protocol::Encoder;
use crate::send::content::Content;
use crate::send::mix::OperationSource;
use crate::send::pace::Pace;

/// State that all threads share read-only.
pub struct Common<'a> {
    pub config: &'a Config,
    pub server: &'a ServerEndpoint,
    pub content: &'a Content,
    pub encoder: &'a Encoder,
    /// Early end of the run.
    pub end: &'a EarlyEnd,
}

/// Results of one thread.
pub struct WorkerResults {
    pub stats: WorkerStats,
    /// Pace of the thread, with the lateness of an open loop.
    pub pace: Pace,
    /// CPU use in the measurement window.
    pub used: ThreadUse,
}

/// Size of the receive buffer; a low-water mark never exceeds it.
const INPUT: usize = 256 << 10;
/// Maximum readiness events per `epoll_wait`.
const EVENTS: usize = 256;
/// Event tags of the two timers; all other tags are connection indexes.
const TICK: u64 = u64::MAX;
const DUE: u64 = u64::MAX - 1;
/// Interval of the chores in ns.
const CHORES: u64 = 1_000_000;
/// Pause of low-water marks after one was too high, in ns; doubled each time.
const MARK_PAUSE: u64 = 250_000_000;
/// Assumed time of a batch before one was measured, in ns.
const BATCH_GUESS: u64 = 25_000_000;

/// State of a worker thread.
pub struct Worker<'a> {
    common: &'a Common<'a>,
    line: Timeline,
    epoll: OwnedFd,
    tick: OwnedFd,
    due: OwnedFd,
    conns: Vec<Conn>,
    source: OperationSource,
    /// True if the source has no more operations.
    dry: bool,
    pace: Pace,
    stats: WorkerStats,
    output: Vec<u8>,
    input: Box<[u8]>,
    /// Outstanding operations of all connections.
    outstanding: usize,
    received_at: u64,
    /// Connections lost since the last response.
    losses: usize,
    marks_from: u64,
    mark_pause: u64,
    marks: bool,
    batch_bytes: usize,
    /// Exponentially weighted mean time of a batch, ns.
    batch_ns: u64,
    next_chores: u64,
    /// Timer interval that wakes the thread when no other event does, in ns.
    tick_ns: u64,
    next_timeouts: u64,
    cpu: Option<usize>,
    /// Wall and CPU time at the start and the end of the window, in ns.
    readings: [Option<(u64, u64)>; 2],
}

fn kernel(call: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |e| Error::Kernel { call, source: e.into() }
}

/// Sets the interval of the chores timer.
fn wake_every(tick: &OwnedFd, ns: u64) -> rustix::io::Result<()> {
    let timer = Itimerspec { it_interval: timespec(ns), it_value: timespec(ns) };
    timerfd_settime(tick, TimerfdTimerFlags::empty(), &timer).map(|_| ())
}

/// Size of the requests at which a batch is cut short, in bytes.
const BATCH_BYTES: usize = 4 << 20;
/// The same for memcached with TLS. It (1.6.18 at least) does not process data that TLS has
/// decrypted beyond its read buffer of 16 KiB until more arrives, so a longer batch would wait
/// forever. The last request of a batch may be longer, because the rest of a value is read at once.
const TLS_BATCH_BYTES: usize = 8 << 10;

impl<'a> Worker<'a> {
    /// Creates a worker over open connections.
    pub fn new(
        common: &'a Common<'a>,
        line: Timeline,
        links: Vec<Link>,
        source: OperationSource,
        (index, cpu): (usize, Option<usize>),
    ) -> Result<Self, Error> {
        let config = common.config;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(kernel("epoll_create"))?;
        let timer = || {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            timerfd_create(TimerfdClockId::Monotonic, flags).map_err(kernel("timerfd_create"))
        };
        let (tick, due) = (timer()?, timer()?);
        for (fd, tag) in [(&tick, TICK), (&due, DUE)] {
            let flags = epoll::EventFlags::IN | epoll::EventFlags::ET;
            epoll::add(&epoll, fd, epoll::EventData::new_u64(tag), flags)
                .map_err(kernel("epoll_ctl"))?;
        }
        let marks = config.depth > 1
            && common.server.has_low_water()
            && matches!(config.mode, Mode::Closed { .. });
        let tick_ns = if marks { CHORES } else { 10 * CHORES };
        wake_every(&tick, tick_ns).map_err(kernel("timerfd_settime"))?;
        let part = (index, config.threads);
        let pace = Pace::new(config.mode, line.start, part, links.len(), config.seed);
        let cut = common.server.is_tls() && !config.protocol.is_resp();
        // A multi-get has a request for each of its keys.
        let multi = config.mix.multi_get_share > 0.0;
        let parts = if multi { 1 + config.mix.multi_get_keys as usize } else { 1 };
        let conns: Vec<Conn> = links
            .into_iter()
            .zip(config.connections * index / config.threads..)
            .map(|(link, number)| {
                let parser = common.encoder.parser();
                Conn::new(link, parser, config.depth * parts, LAST_KEY - number as u64)
            })
            .collect();
        for (i, conn) in conns.iter().enumerate() {
            let ConnectionStage::Up(link) = &conn.stage else { continue };
            let data = epoll::EventData::new_u64(i as u64);
            epoll::add(&epoll, link, data, READING).map_err(kernel("epoll_ctl"))?;
        }
        Ok(Worker {
            common,
            line,
            epoll,
            tick,
            due,
            conns,
            source,
            dry: false,
            pace,
            stats: WorkerStats::new(line, config.mix.classes.len()),
            output: Vec::with_capacity(64 << 10),
            input: vec![0; INPUT].into_boxed_slice(),
            outstanding: 0,
            received_at: line.start,
            losses: 0,
            marks_from: 0,
            mark_pause: MARK_PAUSE,
            marks,
            batch_bytes: if cut { TLS_BATCH_BYTES } else { BATCH_BYTES },
            batch_ns: BATCH_GUESS,
            next_chores: 0,
            tick_ns,
            next_timeouts: 0,
            cpu,
            readings: [None; 2],
        })
    }

    /// Runs until the end of the timeline, of the source, or of the run.
    pub fn work(mut self) -> Result<WorkerResults, Error> {
        let mut events = vec![
            epoll::Event {
                flags: epoll::EventFlags::empty(),
                data: epoll::EventData::new_u64(0)
            };
            EVENTS
        ];
        let mut now = self.begin();
        loop {
            if now >= self.next_chores {
                self.chores(now);
            }
            if self.common.end.is_now() || self.is_done(now) {
                break;
            }
            // `received_at` is later than `now` if this thread was not scheduled for a while:
            // nothing is sent after the end.
            self.ask_due(now.max(self.received_at))?;
            let count = match epoll::wait(&self.epoll, events.as_mut_slice(), None) {
                Ok(n) => n,
                Err(rustix::io::Errno::INTR) => 0,
                Err(e) => return Err(kernel("epoll_wait")(e)),
            };
            now = now_ns();
            for event in &events[..count] {
                match event.data.u64() {
                    DUE => {}
                    TICK => {
                        // The kernel re-arms a periodic timer only when its count is read.
                        let mut count = [0u8; 8];
                        rustix::io::read(&self.tick, &mut count).ok();
                    }
                    i => self.event(i as usize, event.flags),
                }
            }
        }
        Ok(self.finish())
    }

    /// Waits for the start, then sends the first operations.
    fn begin(&mut self) -> u64 {
        let wait = self.line.start.saturating_sub(now_ns());
        std::thread::sleep(std::time::Duration::from_nanos(wait));
        let now = now_ns();
        for i in 0..self.conns.len() {
            self.conns[i].received_at = now;
            self.greet(i);
            self.free(i, now);
        }
        now
    }

    fn is_done(&self, now: u64) -> bool {
        let timeout = self.common.config.op_timeout.as_nanos() as u64;
        if now >= self.line.end {
            return self.outstanding == 0 || now >= self.line.end.saturating_add(timeout);
        }
        self.dry && self.outstanding == 0
    }

    /// Completes the statistics and counts the operations that got no response.
    fn finish(mut self) -> WorkerResults {
        let complete = !self.common.end.is_now();
        let now = now_ns();
        let until = if complete { self.line.down } else { self.line.down.min(now) };
        self.readings[1] = self.readings[1].or(self.readings[0].map(|_| (now, thread_cpu_ns())));
        self.stats.at(now);
        for conn in &self.conns {
            for from in conn.outstanding() {
                self.stats.give_up(from);
                if complete {
                    self.stats.error(ErrorKind::TimedOut, || "no answer after the end".to_owned());
                }
            }
        }
        if let Pace::Open(open) = &mut self.pace {
            while open.schedule.peek() < until {
                let due = open.schedule.take();
                open.unsent += u64::from(self.line.measures(due));
            }
        }
        let (wall_s, cpu_s) = match self.readings {
            [Some((w0, c0)), Some((w1, c1))] => ((w1 - w0) as f64 / 1e9, (c1 - c0) as f64 / 1e9),
            _ => (0.0, 0.0),
        };
        WorkerResults {
            stats: self.stats,
            pace: self.pace,
            used: ThreadUse { cpu: self.cpu, cpu_s, wall_s },
        }
    }
}

const READING: epoll::EventFlags =
    epoll::EventFlags::IN.union(epoll::EventFlags::RDHUP).union(epoll::EventFlags::ET);

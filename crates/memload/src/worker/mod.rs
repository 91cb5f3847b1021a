//! One thread of the generator: an epoll loop over its connections. Nothing in the loop allocates once
//! the connections' buffers have grown to what the batches need (TLS excepted), blocks, or prints.

mod ask;
mod chores;
mod hear;
mod recover;

use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

use crate::Error;
use crate::clock::{now_ns, thread_cpu_ns, timespec};
use crate::config::{Config, Mode};
use crate::conn::{Conn, Stage};
use crate::content::Content;
use crate::end::End;
use crate::link::{Link, Server};
use crate::mix::Source;
use crate::pace::Pace;
use crate::protocol::{Encoder, Parser};
use crate::report::{ErrorKind, ThreadUse};
use crate::worker_stats::{Timeline, WorkerStats};

/// What all threads share and none changes.
pub struct Common<'a> {
    /// What was asked for.
    pub config: &'a Config,
    /// The server.
    pub server: &'a Server,
    /// What values hold.
    pub content: &'a Content,
    /// How requests are written.
    pub encoder: &'a Encoder,
    /// Who ends the run, and why.
    pub end: &'a End,
}

/// What a thread brings home.
pub struct Harvest {
    /// Its stats.
    pub stats: WorkerStats,
    /// Its pace, with the lateness of an open loop.
    pub pace: Pace,
    /// What it used in the window.
    pub used: ThreadUse,
}

/// The buffer of one read; a low-water mark is never above it.
const INPUT: usize = 256 << 10;
/// Readiness events taken at once.
const EVENTS: usize = 256;
/// Tags of the two timers among the connections' numbers.
const TICK: u64 = u64::MAX;
const DUE: u64 = u64::MAX - 1;
/// How often the chores are done, ns.
const CHORES: u64 = 1_000_000;
/// How long low-water marks are left alone after one was too high, ns; each time twice as long.
const MARK_PAUSE: u64 = 250_000_000;
/// What a batch is thought to take before one has been seen, ns.
const BATCH_GUESS: u64 = 25_000_000;

/// A thread's state.
pub struct Worker<'a> {
    common: &'a Common<'a>,
    line: Timeline,
    epoll: OwnedFd,
    tick: OwnedFd,
    due: OwnedFd,
    conns: Vec<Conn>,
    source: Source,
    /// Whether the source has run dry.
    dry: bool,
    pace: Pace,
    stats: WorkerStats,
    output: Vec<u8>,
    input: Box<[u8]>,
    /// Operations in all rings.
    outstanding: usize,
    received_at: u64,
    /// Connections lost since an answer came.
    losses: usize,
    marks_from: u64,
    mark_pause: u64,
    marks: bool,
    batch_bytes: usize,
    /// Exponentially weighted mean time of a batch, ns.
    batch_ns: u64,
    next_chores: u64,
    /// How often the timer wakes a thread that nothing else does, ns.
    tick_ns: u64,
    next_timeouts: u64,
    cpu: Option<usize>,
    /// Wall and CPU time at the begin and the end of the window.
    readings: [Option<(u64, u64)>; 2],
}

fn kernel(call: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |e| Error::Kernel { call, source: e.into() }
}

/// Sets the timer of the chores.
fn wake_every(tick: &OwnedFd, ns: u64) -> rustix::io::Result<()> {
    let timer = Itimerspec { it_interval: timespec(ns), it_value: timespec(ns) };
    timerfd_settime(tick, TimerfdTimerFlags::empty(), &timer).map(|_| ())
}

/// A batch is cut short when its requests have reached so many bytes.
const BATCH_BYTES: usize = 4 << 20;
/// The same for TLS. memcached (1.6.18 at least) forgets what TLS has decrypted beyond its read buffer
/// of 16 KiB until more comes, so that a longer batch would wait for ever. The last request of a batch
/// may be longer, because a value's rest is read straight away.
const TLS_BATCH_BYTES: usize = 8 << 10;

impl<'a> Worker<'a> {
    /// A thread over open connections.
    pub fn new(
        common: &'a Common<'a>,
        line: Timeline,
        links: Vec<Link>,
        source: Source,
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
        let conns: Vec<Conn> = links
            .into_iter()
            .map(|link| Conn::new(link, Parser::new(config.protocol), config.depth))
            .collect();
        for (i, conn) in conns.iter().enumerate() {
            let Stage::Up(link) = &conn.stage else { continue };
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
            batch_bytes: if common.server.is_tls() { TLS_BATCH_BYTES } else { BATCH_BYTES },
            batch_ns: BATCH_GUESS,
            next_chores: 0,
            tick_ns,
            next_timeouts: 0,
            cpu,
            readings: [None; 2],
        })
    }

    /// Works until the end of the timeline, of the source, or of the run.
    pub fn work(mut self) -> Result<Harvest, Error> {
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
            // Later than `now` where this thread did not run for a while: nothing is asked after the end.
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
                        // A periodic timer goes on only once its count has been read.
                        let mut count = [0u8; 8];
                        rustix::io::read(&self.tick, &mut count).ok();
                    }
                    i => self.event(i as usize, event.flags),
                }
            }
        }
        Ok(self.finish())
    }

    /// Waits for the start and asks first.
    fn begin(&mut self) -> u64 {
        let wait = self.line.start.saturating_sub(now_ns());
        std::thread::sleep(std::time::Duration::from_nanos(wait));
        let now = now_ns();
        for i in 0..self.conns.len() {
            self.conns[i].received_at = now;
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

    /// Closes the stats.
    fn finish(mut self) -> Harvest {
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
        Harvest {
            stats: self.stats,
            pace: self.pace,
            used: ThreadUse { cpu: self.cpu, cpu_s, wall_s },
        }
    }
}

const READING: epoll::EventFlags =
    epoll::EventFlags::IN.union(epoll::EventFlags::RDHUP).union(epoll::EventFlags::ET);

//! Executes a run: opens the connections, starts the threads, reports the phases and collects the
//! results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use assay_model::Phase;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::now_ns;
use crate::config::Config;
use crate::end::EarlyEnd;
use crate::gather::{self, ThreadResults};
use crate::latency::report::{LoadEnd, LoadReport};
use crate::latency::worker_stats::Timeline;
use crate::link::{Link, ServerEndpoint};
use crate::login::first_request;
use crate::protocol::Encoder;
use crate::send::content::Content;
use crate::send::mix::OperationSource;
use crate::server_use::ServerTimes;
use crate::worker::{Common, Worker};
use crate::{Error, limits};

/// Runs the load of `config`. The keys should have been [preloaded](crate::preload()).
///
/// `stop` ends the run within about ten milliseconds; the results up to then are reported.
/// `on_phase` is called at the start of each phase, with the time in ns of `CLOCK_MONOTONIC`, on
/// the caller's thread, which otherwise only waits. Failed operations, a server that dies and a
/// stopped run also give a report, see [`LoadReport::ended`] and [`LoadReport::errors`].
///
/// # Errors
/// The run could not start: see [`Error`].
pub fn run(
    config: &Config,
    stop: &AtomicBool,
    on_phase: impl FnMut(Phase, u64),
) -> Result<LoadReport, Error> {
    config.check()?;
    let line = |start: u64| {
        let after = |at: u64, time: Duration| at.saturating_add(time.as_nanos() as u64);
        let steady = after(start, config.ramp_up);
        let down = after(steady, config.steady);
        let end = after(down, config.ramp_down);
        Timeline { start, steady, down, end, bin: config.bin.as_nanos() as u64 }
    };
    let source = |i: usize| OperationSource::mix(&config.mix, config.seed, i as u64);
    let outcome = drive(config, &line, &source, stop, on_phase)?;
    Ok(gather::report(config, outcome))
}

/// Maximum sleep of the waiting thread between two checks of `stop`, in ns.
const LOOK: u64 = 10_000_000;

/// Opens the connections, then runs the workers along the timeline that `line` makes of a start
/// time.
pub(crate) fn drive(
    config: &Config,
    line: &dyn Fn(u64) -> Timeline,
    source: &(dyn Fn(usize) -> OperationSource + Sync),
    stop: &AtomicBool,
    mut on_phase: impl FnMut(Phase, u64),
) -> Result<ThreadResults, Error> {
    limits::make_room(config.connections, config.threads)?;
    let server = ServerEndpoint::new(&config.target, config.connect_timeout)?;
    let longest = config.mix.classes.iter().map(|c| c.sizes.max).max().unwrap_or(0);
    let content = Content::new(config.seed, longest);
    let mut encoder = Encoder::new(config.protocol, &config.mix.key_prefix);
    encoder.greeting = first_request(config.protocol, config.credentials.as_ref());
    let end = EarlyEnd::default();
    let common =
        Common { config, server: &server, content: &content, encoder: &encoder, end: &end };
    thread::scope(|scope| {
        let (report, reports) = mpsc::channel();
        let mut starts = Vec::new();
        let mut threads = Vec::new();
        for index in 0..config.threads {
            let (start, started) = mpsc::channel();
            starts.push(start);
            let (report, common) = (report.clone(), &common);
            let body = move || {
                // The receiver lives until every thread has reported.
                let ready = pin(config, index).and_then(|cpu| Ok((cpu, open(common, index)?)));
                let (cpu, links) = match ready {
                    Ok(ready) => {
                        report.send(Ok(())).ok();
                        ready
                    }
                    Err(e) => {
                        report.send(Err(e)).ok();
                        return None;
                    }
                };
                drop(report);
                let line = started.recv().ok()?;
                let worked = Worker::new(common, line, links, source(index), (index, cpu))
                    .and_then(Worker::work);
                if worked.is_err() {
                    common.end.now(LoadEnd::Stopped);
                }
                Some(worked)
            };
            let named = thread::Builder::new().name(format!("memload-{index}"));
            let spawned = named
                .spawn_scoped(scope, body)
                .map_err(|source| Error::Kernel { call: "clone (a thread)", source })?;
            threads.push(spawned);
        }
        drop(report);
        // An error drops the senders of the start, and the threads that wait for it return.
        reports.iter().collect::<Result<Vec<()>, Error>>()?;
        let line = line(now_ns() + 5_000_000 + 5_000 * config.connections as u64);
        for start in &starts {
            // A thread that ended early has reported; its result is read below.
            start.send(line).ok();
        }
        let finished = || threads.iter().all(thread::ScopedJoinHandle::is_finished);
        let watch = RunWatch { config, line, stop, end: &end, finished: &finished };
        let server = watch.phases(&mut on_phase);
        let mut harvests = Vec::new();
        for thread in threads {
            let worked = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            harvests.extend(worked.transpose()?);
        }
        let ended = end.outcome();
        let ended_ns = match ended {
            LoadEnd::Complete => now_ns(),
            LoadEnd::ServerGone(at_ns) | LoadEnd::Stopped(at_ns) | LoadEnd::TimedOut(at_ns) => {
                at_ns
            }
        };
        Ok(ThreadResults { line, ended, ended_ns, harvests, server })
    })
}

struct RunWatch<'a> {
    config: &'a Config,
    line: Timeline,
    stop: &'a AtomicBool,
    end: &'a EarlyEnd,
    /// Returns true if every thread has ended, for any reason.
    finished: &'a dyn Fn() -> bool,
}

impl RunWatch<'_> {
    fn phases(&self, on_phase: &mut dyn FnMut(Phase, u64)) -> [Option<ServerTimes>; 2] {
        let mut server = [None, None];
        let line = &self.line;
        let phases = [
            (Phase::RampUp, line.start, None),
            (Phase::Steady, line.steady, Some(0)),
            (Phase::RampDown, line.down, Some(1)),
        ];
        for (phase, at, reading) in phases {
            let came = self.until(at);
            if let Some(i) = reading {
                // A run that ends early also ends its window, if the window has begun.
                let begun = i == 0 || server[0].is_some();
                if came || (i == 1 && begun) {
                    server[i] = self.config.server_pid.and_then(ServerTimes::read);
                }
            }
            if !came {
                break;
            }
            on_phase(phase, at);
        }
        self.until(u64::MAX);
        server
    }

    /// Waits until a time; returns false if the run ends before it.
    fn until(&self, at: u64) -> bool {
        loop {
            if self.stop.load(Ordering::Acquire) {
                self.end.now(LoadEnd::Stopped);
            }
            if self.end.is_now() || (self.finished)() {
                return now_ns() >= at;
            }
            let now = now_ns();
            if now >= at {
                return true;
            }
            thread::sleep(Duration::from_nanos((at - now).min(LOOK)));
        }
    }
}

/// Binds the calling thread to its CPU.
fn pin(config: &Config, index: usize) -> Result<Option<usize>, Error> {
    let Some(cpus) = &config.cpus else { return Ok(None) };
    let cpu = cpus[index % cpus.len()];
    let failed = |e: std::io::Error| Error::Pin { cpu, source: e };
    if cpu >= CpuSet::MAX_CPU {
        return Err(failed(std::io::ErrorKind::InvalidInput.into()));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|e| failed(e.into()))?;
    Ok(Some(cpu))
}

/// Opens the connections of one thread.
fn open(common: &Common<'_>, index: usize) -> Result<Vec<Link>, Error> {
    let config = common.config;
    let part = |i: usize| config.connections * i / config.threads;
    (part(index)..part(index + 1))
        .map(|number| {
            common.server.open(config.connect_timeout).map_err(|source| {
                let target = common.server.name.clone();
                if source.kind() == std::io::ErrorKind::InvalidData {
                    return Error::Tls { target, what: source.to_string() };
                }
                let connections = config.connections;
                Error::Connect { target, number: number + 1, connections, source }
            })
        })
        .collect()
}

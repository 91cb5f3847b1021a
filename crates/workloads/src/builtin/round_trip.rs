//! The workload `round-trip`: two threads that wake each other in turn over a pipe, a pair of
//! sockets or a futex. It measures the scheduler: a context switch each way on one CPU, or a
//! wake-up of another CPU, depending on `controls.cpus`. `docs/workloads/round-trip.md` has the
//! definitions.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::{Phase, Scalar, WorkloadSpec};
use serde::{Deserialize, Serialize};

use crate::declare::{one_of, params, spec, time, wrong};
use crate::driver::work::Channel;
use crate::{Failure, Launch, TrialContext, Workload, WorkloadError};

/// Name of the workload and of its trial program.
pub const NAME: &str = "round-trip";

/// Round trips between two readings of the clock: reading it costs about a hundredth of them.
const BATCH: u64 = 64;

/// Channel over which the two threads wake each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WakeChannel {
    /// Two pipes, one for each direction.
    Pipe,
    /// A pair of stream sockets.
    Socket,
    /// A channel in the process's memory whose receiver sleeps on a futex.
    Futex,
}

const OVERS: [(&str, WakeChannel); 3] =
    [("pipe", WakeChannel::Pipe), ("socket", WakeChannel::Socket), ("futex", WakeChannel::Futex)];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct RoundTripParams {
        /// Channel over which the threads wake each other: `pipe` (one for each direction),
        /// `socket` (a pair of them), or `futex`.
        over: WakeChannel = one_of(&OVERS), "pipe";
        /// Warm-up before the measurement.
        warm_up: Duration = time(), "100 ms";
        /// Length of the measurement.
        time: Duration = time(), "1 s";
    }
}

/// Two threads that wake each other in turn. Metrics: `latency` (primary), `rate`.
pub struct RoundTrip;

spec! {
    /// Two threads wake each other in turn: measures a context switch between them on one CPU, or a
    /// wake-up across two CPUs (`controls.cpus`).
    NAME, RoundTripParams::rows();
    /// Mean time of a round trip: one wake-up each way.
    "latency", "s", Lower, Measured;
    /// Round trips per second.
    "rate", "1/s", Higher, Derived;
}

impl Workload for RoundTrip {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = RoundTripParams::read(params)?;
        if params.time < Duration::from_millis(10) {
            return Err(wrong("`time` must be at least 10 ms"));
        }
        Ok(())
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        Launch::own(ctx, NAME, &RoundTripParams::read(ctx.params)?, "the parameters")
    }
}

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if pipes or threads cannot be created, or the other thread ended.
pub fn trial(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let params: RoundTripParams = serde_json::from_str(json)?;
    let set_up = |source: io::Error| Failure::step("the two threads")(source);
    let (mut near, far) = ends(params.over).map_err(set_up)?;
    let peer = thread::Builder::new().name("peer".into()).spawn(move || answer(far));
    let peer = peer.map_err(set_up)?;
    channel.phase(Phase::RampUp, None);
    let mut turns = 0;
    turn_for(params.warm_up, near.as_mut(), &mut turns).map_err(set_up)?;
    let warm = turns;
    channel.phase(Phase::Steady, None);
    let took = turn_for(params.time, near.as_mut(), &mut turns).map_err(set_up)?;
    channel.phase(Phase::RampDown, None);
    drop(near);
    let answered = peer.join().map_err(|_| Failure::other("the other thread panicked"))?;
    let latency = took.as_secs_f64() / (turns - warm) as f64;
    channel.metrics(spec(), [("latency", Some(latency)), ("rate", Some(1.0 / latency))]);
    channel.valid(answered == turns, format!("{turns} turns were sent and {answered} answered"));
    Ok(())
}

/// One end of the channel between the threads.
trait ChannelEnd: Send {
    /// Wakes the thread at the other end.
    fn wake(&mut self) -> io::Result<()>;
    /// Waits to be woken; returns `false` if the other end is closed.
    fn wait(&mut self) -> io::Result<bool>;
}

struct Stream<R, W>(R, W);

impl<R: Read + Send, W: Write + Send> ChannelEnd for Stream<R, W> {
    fn wake(&mut self) -> io::Result<()> {
        self.1.write_all(&[1])
    }

    fn wait(&mut self) -> io::Result<bool> {
        Ok(self.0.read(&mut [0])? == 1)
    }
}

struct MemoryEnd(Receiver<()>, SyncSender<()>);

impl ChannelEnd for MemoryEnd {
    fn wake(&mut self) -> io::Result<()> {
        self.1.send(()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn wait(&mut self) -> io::Result<bool> {
        Ok(self.0.recv().is_ok())
    }
}

fn ends(over: WakeChannel) -> io::Result<(Box<dyn ChannelEnd>, Box<dyn ChannelEnd>)> {
    Ok(match over {
        WakeChannel::Pipe => {
            let ((r1, w1), (r2, w2)) = (io::pipe()?, io::pipe()?);
            (Box::new(Stream(r1, w2)), Box::new(Stream(r2, w1)))
        }
        WakeChannel::Socket => {
            let (a, b) = UnixStream::pair()?;
            (Box::new(Stream(a.try_clone()?, a)), Box::new(Stream(b.try_clone()?, b)))
        }
        WakeChannel::Futex => {
            let ((s1, r1), (s2, r2)) = (sync_channel(1), sync_channel(1));
            (Box::new(MemoryEnd(r1, s2)), Box::new(MemoryEnd(r2, s1)))
        }
    })
}

/// Answers every turn until the other end is closed; returns the number of turns.
fn answer(mut end: Box<dyn ChannelEnd>) -> u64 {
    let mut turns = 0;
    while let Ok(true) = end.wait() {
        turns += 1;
        if end.wake().is_err() {
            break;
        }
    }
    turns
}

/// Makes round trips in batches for `time`, adds their number to `turns`, and returns the elapsed
/// time.
fn turn_for(time: Duration, end: &mut dyn ChannelEnd, turns: &mut u64) -> io::Result<Duration> {
    let began = Instant::now();
    loop {
        for _ in 0..BATCH {
            end.wake()?;
            if !end.wait()? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        *turns += BATCH;
        let took = began.elapsed();
        if took >= time {
            return Ok(took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_is_answered_over_each_of_them() {
        for (name, over) in OVERS {
            let (mut near, far) = ends(over).unwrap();
            let peer = thread::spawn(move || answer(far));
            let (mut turns, time) = (0, Duration::from_millis(2));
            let took = turn_for(time, near.as_mut(), &mut turns).unwrap();
            drop(near);
            assert_eq!(peer.join().unwrap(), turns, "{name}");
            assert!(took >= time && turns >= BATCH, "{name}");
        }
    }
}

//! Latency of a load while other CPUs move memory: one thread follows a chain of pointers, the
//! others generate traffic at a rate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use assay_model::Phase;
use assay_model::units::format_value;
use assay_stats::rng::Rng;
use assay_stats::summary::median;
use assay_system::clock::monotonic_ns;

use crate::Failure;
use crate::builtin::memory::kernels::{Arrays, Loops};
use crate::builtin::memory::metrics::spec;
use crate::builtin::memory::setup::MemoryTrial;
use crate::builtin::memory::team::Team;
use crate::builtin::pointer_chase::memory::{ChainMemory, LinkAddress};
use crate::builtin::pointer_chase::params::ChainOrder;
use crate::driver::work::{Channel, Curve};

/// Elements between two looks at the clock.
const BLOCK: usize = 512;
/// Delay in ns from which a generator no longer catches up on the time in which it did not run.
const LATE_NS: u64 = 10_000_000;
/// Distance of the links: a cache line.
const STRIDE: usize = 64;
/// Minimum share of the target rate that counts as reached.
const REACHED: f64 = 0.95;
/// Approximate number of rates.
const RATES: f64 = 16.0;
/// Rates of a generator, in bytes per second, that are commands.
const IDLE: u64 = 0;
const UNLIMITED: u64 = STOP - 1;
const STOP: u64 = u64::MAX;
const CURVE: Curve<'static> = Curve::measured(("latency", "s"), ("bandwidth", "B/s"));

/// Counter of the bytes of one generator, in a cache line of its own.
#[repr(align(128))]
struct Moved(AtomicU64);

/// The threads, and the traffic that they generate.
struct Traffic<'a> {
    trial: &'a MemoryTrial,
    team: Team<'a>,
    loops: Loops,
    /// Rate of each generator in bytes per second, or a command.
    rate: AtomicU64,
    /// Counters of the threads; the first generates nothing.
    moved: Vec<Moved>,
}

/// Runs the test `loaded-latency`.
///
/// # Errors
/// Fails with one CPU, or if instructions or memory are missing.
pub fn run(trial: &MemoryTrial, channel: &mut Channel) -> Result<(), Failure> {
    trial.needs_two("one CPU measures the latency while others generate traffic")?;
    trial.check_room()?;
    channel.phase(Phase::RampUp, None);
    let traffic = Traffic {
        trial,
        team: Team::new(&trial.cpus),
        loops: Loops::for_instructions(&trial.params.instructions)?,
        rate: AtomicU64::new(IDLE),
        moved: trial.cpus.iter().map(|_| Moved(AtomicU64::new(0))).collect(),
    };
    let work = |thread: usize, channel: Option<&mut Channel>| {
        let mut memory = traffic.team.ready(thread, || trial.memory())?;
        let wrong = match channel {
            Some(channel) => {
                traffic.measure(&mut memory, channel);
                None
            }
            None => traffic.generate(&mut memory, &traffic.moved[thread].0).err(),
        };
        Ok([wrong, trial.wrong_pages(&memory)])
    };
    let wrong = traffic.team.run(channel, work)?.into_iter().flatten().flatten();
    let well = "the chain is one cycle through every link, and the moved data are correct";
    channel.verdict(&wrong.collect::<Vec<_>>(), well.to_owned());
    Ok(())
}

impl Traffic<'_> {
    /// Generates traffic at the current rate, until it is [`STOP`] and every element was moved.
    fn generate(&self, memory: &mut ChainMemory, moved: &AtomicU64) -> Result<(), String> {
        let (trial, loops, rate) = (self.trial, self.loops, &self.rate);
        let kernel = trial.params.kernels[0];
        let mut arrays = Arrays::for_kernel(kernel, memory.numbers(), trial.largest());
        self.team.wait();
        let (mut at, mut sum, mut due, mut total) = (0, 0u64, 0, 0);
        // Sum of the last traversal.
        let mut whole = None;
        loop {
            let now = rate.load(Ordering::Relaxed);
            if let (STOP, Some(sum)) = (now, whole) {
                return arrays.check(kernel, sum);
            }
            if now == IDLE {
                std::thread::sleep(Duration::from_micros(50));
                continue;
            }
            let end = arrays.len().min(at + BLOCK);
            let mut block = arrays.part(at..end);
            sum = sum.wrapping_add(loops.pass(kernel, &mut block));
            let bytes = block.bytes() as u64;
            total += bytes;
            moved.store(total, Ordering::Relaxed);
            at = end;
            if at == arrays.len() {
                (whole, at, sum) = (Some(sum), 0, 0);
            }
            if now < UNLIMITED {
                due += (bytes as f64 / now as f64 * 1e9) as u64;
                let mut clock = monotonic_ns();
                if clock > due + LATE_NS {
                    due = clock;
                }
                while clock < due {
                    std::hint::spin_loop();
                    clock = monotonic_ns();
                }
            }
        }
    }

    /// Measures the latency without traffic, with all of it, and at rates between.
    fn measure(&self, memory: &mut ChainMemory, channel: &mut Channel) {
        let (trial, rate, moved) = (self.trial, &self.rate, &self.moved[1..]);
        let mut rng = Rng::new(trial.seed);
        let mut places = Vec::new();
        let links =
            memory.chain(trial.largest(), STRIDE, ChainOrder::Random, &mut places, &mut rng) as u64;
        drop(places);
        self.team.wait();
        let mut at: Option<LinkAddress> = None;
        let mut walk = |loads: u64| {
            let began = Instant::now();
            let (place, walked) = memory.walk(at, loads);
            at = Some(place);
            began.elapsed().as_secs_f64() / walked as f64
        };
        // One full cycle first, to fill caches and TLBs.
        let each = walk(links).max(1e-11);
        let loads = ((trial.params.min_time.as_secs_f64() / each) as u64).max(1000);
        let total = || moved.iter().map(|m| m.0.load(Ordering::Relaxed)).sum::<u64>();
        // Returns median latency and bandwidth with this rate of all generators together.
        let mut point = |all: f64| {
            rate.store(((all / moved.len() as f64) as u64).min(UNLIMITED), Ordering::Relaxed);
            walk(loads);
            let (mut latencies, mut rates) = (Vec::new(), Vec::new());
            for _ in 0..trial.params.rounds {
                let (bytes, began) = (total(), Instant::now());
                latencies.push(walk(loads));
                rates.push((total() - bytes) as f64 / began.elapsed().as_secs_f64());
            }
            (median(&latencies).unwrap_or(f64::NAN), median(&rates).unwrap_or(f64::NAN))
        };
        channel.phase(Phase::Steady, None);
        let (idle, _) = point(0.0);
        let (loaded, traffic) = point(f64::INFINITY);
        let step = round_step(traffic / RATES);
        let mut missed = Vec::new();
        for target in (1..).map(|i| f64::from(i) * step).take_while(|t| *t <= traffic) {
            let (latency, reached) = point(target);
            if reached >= REACHED * target {
                channel.points(&CURVE, [[target, latency]]);
            } else {
                missed.push(format_value(target, "B/s"));
            }
            channel.progress(target / traffic);
        }
        channel.phase(Phase::RampDown, None);
        if !missed.is_empty() {
            channel.note(format!("rates that the traffic did not reach: {}", missed.join(", ")));
        }
        let metrics = [("loaded_latency", loaded), ("idle_latency", idle), ("traffic", traffic)];
        channel.metrics(spec(), metrics.map(|(name, value)| (name, Some(value))));
        rate.store(STOP, Ordering::Relaxed);
    }
}

/// Returns the smallest of 1, 2 and 5 times a power of ten that is at least `step`, so that trials
/// share their rates.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.max(1.0).log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|s| *s >= step).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        let steps = [1.2e9, 2.0e9, 2.1e9, 5.1e9, 0.0, f64::NAN].map(round_step);
        assert_eq!(steps, [2e9, 2e9, 5e9, 1e10, 1.0, 10.0]);
    }
}

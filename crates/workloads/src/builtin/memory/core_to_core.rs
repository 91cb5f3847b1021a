//! Time for a cache line to go from one CPU to another: two threads write one word in turn, on
//! every pair of CPUs.

use std::sync::atomic::{AtomicU64, Ordering};

use assay_model::Phase;
use assay_system::clock::monotonic_ns;

use crate::Failure;
use crate::builtin::memory::metrics::spec;
use crate::builtin::memory::setup::MemoryTrial;
use crate::builtin::memory::team::Team;
use crate::driver::work::{Channel, Curve};

/// Turns of the first repetition, from which the number of turns of the others follows.
const FIRST: u64 = 1000;

/// A word in a cache line of its own, and in a pair of lines that a prefetcher would fetch.
#[repr(align(128))]
struct Line(AtomicU64);

/// Runs the test `core-to-core`.
///
/// # Errors
/// Fails with one CPU, or if a thread cannot be bound.
pub fn run(trial: &MemoryTrial, channel: &mut Channel) -> Result<(), Failure> {
    trial.needs_two("a cache line goes from one CPU to another")?;
    channel.phase(Phase::Steady, None);
    let cpus = &trial.cpus;
    let mut times = Vec::new();
    for (i, a) in cpus.iter().enumerate() {
        for b in &cpus[i + 1..] {
            let one_way = pair(trial, [*a, *b], channel)?;
            times.push(one_way);
            for (from, to) in [(a, b), (b, a)] {
                let name = &format!("latency from CPU {from}");
                let row = Curve::measured((name, "s"), ("CPU", "1"));
                channel.points(&row, [[*to as f64, one_way]]);
            }
        }
        channel.progress((i + 1) as f64 / cpus.len() as f64);
    }
    channel.phase(Phase::RampDown, None);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let end = |of: fn(f64, f64) -> f64| times.iter().copied().reduce(of);
    let ends = [("min_core_latency", end(f64::min)), ("max_core_latency", end(f64::max))];
    channel.metrics(spec(), [("core_latency", Some(mean))].into_iter().chain(ends));
    channel.valid(true, format!("every turn was answered, between {} pairs of CPUs", times.len()));
    Ok(())
}

/// Returns the time of one way between two CPUs in seconds: the shortest repetition, because
/// disturbances only add time.
fn pair(trial: &MemoryTrial, cpus: [usize; 2], channel: &mut Channel) -> Result<f64, Failure> {
    let (team, line) = (Team::new(&cpus), Line(AtomicU64::new(0)));
    let turns = AtomicU64::new(FIRST);
    let work = |thread: usize, _: Option<&mut Channel>| {
        team.ready(thread, || Ok(()))?;
        let mut shortest = f64::INFINITY;
        for round in 0..=trial.params.rounds {
            line.0.store(0, Ordering::Relaxed);
            let (began, own) = (team.start(), turns.load(Ordering::Relaxed));
            bounce(&line.0, thread as u64, own);
            let each = (monotonic_ns() - began) as f64 / 1e9 / (2 * own) as f64;
            team.wait();
            if round > 0 {
                shortest = shortest.min(each);
            } else if thread == 0 {
                let enough = trial.params.min_time.as_secs_f64() / (2.0 * each).max(1e-9);
                turns.store(enough as u64 + 1, Ordering::Relaxed);
            }
        }
        Ok(shortest)
    };
    Ok(team.run(channel, work)?[0])
}

/// Adds 1 whenever the word is even (`side` 0) or odd (1), `turns` times, and waits for the last
/// answer.
fn bounce(word: &AtomicU64, side: u64, turns: u64) {
    for turn in 0..turns {
        let expected = 2 * turn + side;
        // No pause instruction: on some processors it takes longer than the way.
        while word.load(Ordering::Acquire) != expected {}
        word.store(expected + 1, Ordering::Release);
    }
    while word.load(Ordering::Acquire) != 2 * turns {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_is_answered() {
        let word = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| bounce(&word, 1, 50));
            bounce(&word, 0, 50);
        });
        assert_eq!(word.load(Ordering::Relaxed), 100);
    }
}

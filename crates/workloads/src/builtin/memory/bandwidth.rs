//! Bandwidth of the kernels by working set: every thread makes passes over its own arrays, in
//! repetitions that all begin together.

use std::sync::atomic::{AtomicU64, Ordering};

use assay_model::Phase;
use assay_stats::summary::median;
use assay_system::clock::monotonic_ns;

use crate::Failure;
use crate::builtin::memory::caches;
use crate::builtin::memory::kernels::{Arrays, Kernel, Loops};
use crate::builtin::memory::metrics::spec;
use crate::builtin::memory::setup::MemoryTrial;
use crate::builtin::memory::team::Team;
use crate::builtin::pointer_chase::knees::{self, plateaus};
use crate::driver::work::{Channel, Curve};

/// A kernel at a working set.
struct Point {
    set: u64,
    kernel: Kernel,
    passes: AtomicU64,
    /// Bytes that a thread moves in a repetition.
    bytes: AtomicU64,
    /// Time of each repetition until the last thread was done, ns.
    times: Vec<AtomicU64>,
}

/// Runs the test `bandwidth`.
///
/// # Errors
/// Fails if instructions, CPUs or memory are missing.
pub fn run(trial: &MemoryTrial, channel: &mut Channel) -> Result<(), Failure> {
    let (params, loops) = (&trial.params, Loops::for_instructions(&trial.params.instructions)?);
    trial.check_room()?;
    channel.phase(Phase::RampUp, None);
    let none = || AtomicU64::new(0);
    let point = |set: u64, kernel: Kernel| {
        let times = (0..params.rounds).map(|_| none()).collect();
        Point { set, kernel, passes: none(), bytes: none(), times }
    };
    let of = |set: &u64| params.kernels.iter().map(|k| point(*set, *k)).collect::<Vec<_>>();
    let points: Vec<Point> = trial.sets.iter().flat_map(of).collect();
    let team = Team::new(&trial.cpus);
    let work = |thread: usize, mut channel: Option<&mut Channel>| {
        let mut memory = team.ready(thread, || trial.memory())?;
        let mut wrong = Vec::new();
        if let Some(channel) = &mut channel {
            channel.phase(Phase::Steady, None);
        }
        for (n, point) in points.iter().enumerate() {
            let kernel = point.kernel;
            let mut arrays = Arrays::for_kernel(kernel, memory.numbers(), point.set as usize);
            let mut sum = loops.pass(kernel, &mut arrays);
            if thread == 0 {
                // Caches and TLBs are warm by now.
                let began = monotonic_ns();
                loops.pass(kernel, &mut arrays);
                let each = (monotonic_ns() - began).max(1);
                let passes = (params.min_time.as_nanos() as u64).div_ceil(each);
                point.passes.store(passes, Ordering::Relaxed);
                point.bytes.store(arrays.bytes() as u64 * passes, Ordering::Relaxed);
            }
            team.wait();
            let passes = point.passes.load(Ordering::Relaxed);
            for time in &point.times {
                let began = team.start();
                for _ in 0..passes {
                    sum = loops.pass(kernel, &mut arrays);
                }
                time.fetch_max(monotonic_ns() - began, Ordering::Relaxed);
            }
            wrong.extend(arrays.check(kernel, sum).err());
            if let Some(channel) = &mut channel {
                channel.progress((n + 1) as f64 / points.len() as f64);
            }
        }
        wrong.extend(trial.wrong_pages(&memory));
        Ok(wrong)
    };
    let wrong = team.run(channel, work)?.concat();
    channel.phase(Phase::RampDown, None);
    for kernel in &params.kernels {
        let own = points.iter().filter(|p| p.kernel == *kernel);
        let own: Vec<_> = own.map(|p| (p.set as f64, p.rates(trial.cpus.len()))).collect();
        report(trial, *kernel, &own, channel);
    }
    let (count, name) = (trial.cpus.len(), loops.name);
    channel.note(format!("{count} threads with {name} instructions; bytes as STREAM counts them"));
    let well = format!("every element of {} results is correct", points.len() * count);
    channel.verdict(&wrong, well);
    Ok(())
}

impl Point {
    /// Returns the bandwidth of each repetition of `threads` threads, ascending.
    fn rates(&self, threads: usize) -> Vec<f64> {
        let bytes = self.bytes.load(Ordering::Relaxed) as f64 * threads as f64;
        let times = self.times.iter().map(|t| t.load(Ordering::Relaxed).max(1) as f64 / 1e9);
        let mut all: Vec<f64> = times.map(|time| bytes / time).collect();
        all.sort_by(f64::total_cmp);
        all
    }
}

/// Reports the curve of a kernel, from working sets and the rates there, and its metrics.
fn report(trial: &MemoryTrial, kernel: Kernel, points: &[(f64, Vec<f64>)], channel: &mut Channel) {
    let name = kernel.name();
    let curve: Vec<[f64; 2]> =
        points.iter().filter_map(|(x, rates)| Some([*x, *rates.last()?])).collect();
    channel.points(&Curve::measured((name, "B/s"), ("working set", "B")), curve.iter().copied());
    let largest = points.last().map_or(&[][..], |(_, rates)| rates);
    let best = largest.last().copied();
    channel.metrics(spec(), [(name, best)]);
    let kernels = &trial.params.kernels;
    if kernels.iter().find(|k| **k == Kernel::Triad).unwrap_or(&kernels[0]) != &kernel {
        return;
    }
    let levels = plateaus(&curve);
    let metrics = [
        ("bandwidth", best),
        ("median_bandwidth", median(largest)),
        ("plateaus", (!levels.is_empty()).then_some(levels.len() as f64)),
    ];
    channel.metrics(spec(), metrics);
    if levels.len() > 1 {
        let (found, caches) = (knees::describe(&levels, "B/s"), caches::describe(&trial.caches));
        channel.note(format!("{name}: knees between {found}; caches: {caches}"));
    }
}

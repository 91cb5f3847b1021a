//! Checks that nothing else runs: run queue, pressure, stolen time.

use std::thread::sleep;
use std::time::{Duration, Instant};

use assay_model::environment::cpulist;
use assay_model::{Observation, Subject};

use super::{FitnessObservations, Options};
use crate::{CpuTimes, Root};

const WORK: Subject = Subject::OtherWork;

/// Interval between two samples of the run queue.
const STEP: Duration = Duration::from_millis(2);

pub(super) fn look(root: &Root, options: &Options, seen: &mut FitnessObservations) {
    let before = options.since.map_or_else(|| CpuTimes::read(root), Ok);
    queue(root, options.window, seen);
    match (before, CpuTimes::read(root)) {
        (Ok(before), Ok(now)) => steal(before, now, seen),
        (Err(e), _) | (_, Err(e)) => seen.cannot(WORK, "stolen time", &e.to_string()),
    }
    for (resource, words) in [("cpu", "a CPU"), ("io", "input or output"), ("memory", "memory")] {
        pressure(root, resource, words, seen);
    }
}

/// Samples the number of other runnable tasks every 2 ms. The load average would still include
/// assay's own earlier work.
fn queue(root: &Root, window: Duration, seen: &mut FitnessObservations) {
    let end = Instant::now() + window;
    let (mut sum, mut looks) = (0.0, 0u32);
    let load = loop {
        let text = match root.text("/proc/loadavg") {
            Ok(text) => text,
            Err(e) => return seen.cannot(WORK, "the run queue", &e.to_string()),
        };
        let Some(running) = running(&text) else {
            return seen.cannot(WORK, "the run queue", "cannot parse `/proc/loadavg`");
        };
        sum += running.saturating_sub(1) as f64;
        looks += 1;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break text.split_whitespace().next().unwrap_or("?").to_owned();
        }
        sleep(left.min(STEP));
    };
    let online = root.text("/sys/devices/system/cpu/online").map_err(|e| e.to_string());
    let cpus = match online.and_then(|t| cpulist::parse(&t).map_err(|e| e.to_string())) {
        Ok(list) => list.len() as f64,
        Err(reason) => return seen.cannot(WORK, "the run queue per CPU", &reason),
    };
    let per_cpu = sum / f64::from(looks) / cpus;
    seen.add(Observation::RunQueue { per_cpu, looks, load_average: load });
}

/// Returns the number before the slash in `0.10 0.20 0.30 2/345 678`: tasks that run or are ready
/// to run.
fn running(loadavg: &str) -> Option<u64> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

fn steal(before: CpuTimes, now: CpuTimes, seen: &mut FitnessObservations) {
    let Some(share) = now.steal_share_since(before) else {
        return seen.cannot(WORK, "stolen time", "no tick of CPU time passed meanwhile");
    };
    seen.add(Observation::Steal { percent: share * 100.0 });
}

fn pressure(root: &Root, resource: &str, words: &str, seen: &mut FitnessObservations) {
    let what = format!("pressure on {words}");
    let file = format!("/proc/pressure/{resource}");
    match root.text(&file) {
        Ok(text) => match some_avg10(&text) {
            Some(percent) => {
                seen.add(Observation::Pressure { resource: resource.to_owned(), percent });
            }
            None => seen.cannot(WORK, &what, &format!("cannot parse `{file}`")),
        },
        Err(e) => seen.cannot(WORK, &what, &e.to_string()),
    }
}

fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|l| l.strip_prefix("some "))?;
    line.split_whitespace().find_map(|w| w.strip_prefix("avg10="))?.parse().ok()
}

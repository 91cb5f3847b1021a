//! Checks that nothing else runs: run queue, pressure, stolen time.

use std::thread::sleep;
use std::time::{Duration, Instant};

use assay_checks::MAX_QUEUE_PER_CPU;
use assay_model::environment::cpulist;
use assay_model::{Observation, Subject};

use super::{FitnessObservations, Options};
use crate::{CpuTimes, Root};

const WORK: Subject = Subject::OtherWork;

/// Resources of the pressure files, in words.
const RESOURCES: [(&str, &str); 3] =
    [("cpu", "a CPU"), ("io", "input or output"), ("memory", "memory")];

/// Interval between two samples of the run queue.
const STEP: Duration = Duration::from_millis(1);
/// Largest factor of the window if tasks were found in it.
const LONGER: u32 = 4;

pub(super) fn look(root: &Root, options: &Options, seen: &mut FitnessObservations) {
    let before = options.since.map_or_else(|| CpuTimes::read(root), Ok);
    let waited = RESOURCES.map(|(resource, _)| Pressure::read(root, resource));
    match queue(root, options.window) {
        Ok(queue) => seen.add(queue),
        Err((what, why)) => seen.cannot(WORK, what, &why),
    }
    match (before, CpuTimes::read(root)) {
        (Ok(before), Ok(now)) => steal(before, now, seen),
        (Err(e), _) | (_, Err(e)) => seen.cannot(WORK, "stolen time", &e.to_string()),
    }
    for ((resource, words), before) in RESOURCES.into_iter().zip(waited) {
        pressure(root, resource, words, before.ok(), seen);
    }
}

/// Samples the number of other runnable tasks each millisecond for `window`. If there were too
/// many, it goes on until there are not, at most four times as long, since two short tasks in a
/// short window would count as a busy machine. The load average would still include assay's own
/// earlier work. Each sample follows a sleep: tasks that sleep on a CPU that another task, such as
/// a thread of assay, keeps busy can still count as runnable (since Linux 6.12).
fn queue(root: &Root, window: Duration) -> Result<Observation, (&'static str, String)> {
    let cpus = root.text("/sys/devices/system/cpu/online").map_err(|e| e.to_string());
    let cpus = cpus.and_then(|t| cpulist::parse(&t).map_err(|e| e.to_string()));
    let cpus = cpus.map_err(|why| ("the run queue per CPU", why))?.len() as f64;
    let start = Instant::now();
    let (mut sum, mut looks) = (0.0, 0u32);
    loop {
        sleep(STEP.min(window));
        let (running, load_average) = running(root).map_err(|why| ("the run queue", why))?;
        sum += running.saturating_sub(1) as f64;
        looks += 1;
        let per_cpu = sum / f64::from(looks) / cpus;
        let window = if per_cpu > MAX_QUEUE_PER_CPU { window * LONGER } else { window };
        if start.elapsed() >= window {
            return Ok(Observation::RunQueue { per_cpu, looks, load_average });
        }
    }
}

/// Reads the number before the slash in `0.10 0.20 0.30 2/345 678`, tasks that run or are ready to
/// run, and the first load average.
fn running(root: &Root) -> Result<(u64, String), String> {
    let text = root.text("/proc/loadavg").map_err(|e| e.to_string())?;
    let mut words = text.split_whitespace();
    let (average, tasks) = (words.next(), words.nth(2).and_then(|w| w.split_once('/')));
    let parsed = average.zip(tasks.and_then(|(running, _)| running.parse().ok()));
    let (average, running) = parsed.ok_or("cannot parse `/proc/loadavg`")?;
    Ok((running, average.to_owned()))
}

fn steal(before: CpuTimes, now: CpuTimes, seen: &mut FitnessObservations) {
    let Some(share) = now.steal_share_since(before) else {
        return seen.cannot(WORK, "stolen time", "no tick of CPU time passed meanwhile");
    };
    seen.add(Observation::Steal { percent: share * 100.0 });
}

/// Time in which some task waited for a resource.
struct Pressure {
    /// Share of the last 10 s, in percent.
    percent: f64,
    /// Sum since boot in microseconds, and the time at which it was read.
    total_us: Option<(u64, Instant)>,
}

impl Pressure {
    fn read(root: &Root, resource: &str) -> Result<Self, String> {
        let file = format!("/proc/pressure/{resource}");
        let text = root.text(&file).map_err(|e| e.to_string())?;
        let line = text.lines().find_map(|l| l.strip_prefix("some "));
        let figure = |name: &str| line?.split_whitespace().find_map(|w| w.strip_prefix(name));
        let percent = figure("avg10=").and_then(|p| p.parse().ok());
        let total_us = figure("total=").and_then(|t| Some((t.parse().ok()?, Instant::now())));
        let percent = percent.ok_or_else(|| format!("cannot parse `{file}`"))?;
        Ok(Pressure { percent, total_us })
    }
}

/// Reports the pressure of the last 10 s, or that since `before` if it is smaller: then the rest is
/// that of work that has ended, such as an earlier run.
fn pressure(
    root: &Root,
    resource: &str,
    words: &str,
    before: Option<Pressure>,
    seen: &mut FitnessObservations,
) {
    match Pressure::read(root, resource) {
        Ok(now) => {
            let since = before.and_then(|b| b.total_us).zip(now.total_us);
            let share = since.map(|((from, start), (to, end))| {
                let window = end.duration_since(start).as_micros().max(1) as f64;
                100.0 * to.saturating_sub(from) as f64 / window
            });
            let percent = share.map_or(now.percent, |share| share.min(now.percent));
            seen.add(Observation::Pressure { resource: resource.to_owned(), percent });
        }
        Err(why) => seen.cannot(WORK, &format!("pressure on {words}"), &why),
    }
}

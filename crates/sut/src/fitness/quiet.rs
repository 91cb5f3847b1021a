//! Does anything else run here? Run queue, pressure, stolen time.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{Findings, Options, QUIET_HOST};
use crate::{CpuTimes, Root, cpulist};

/// Runnable tasks of others, per CPU, from which the host is not quiet.
const MAX_QUEUE_PER_CPU: f64 = 0.05;
/// Share of time stolen, in percent.
const MAX_STEAL_PERCENT: f64 = 0.5;
/// Share of the last 10 s in which a task waited for a resource, in percent.
const MAX_PRESSURE_PERCENT: f64 = 1.0;
/// Between two looks at the run queue.
const STEP: Duration = Duration::from_millis(5);

const WAIT: &str = "end the other work or wait for it; on a shared machine keep it off the CPUs used \
                    (controls cpus and sched) and compare interleaved";

pub(super) fn check(root: &Root, options: &Options, findings: &mut Findings) {
    let before = options.since.map_or_else(|| CpuTimes::read(root), Ok);
    queue(root, options.window, findings);
    match (before, CpuTimes::read(root)) {
        (Ok(before), Ok(now)) => steal(before, now, findings),
        (Err(e), _) | (_, Err(e)) => findings.cannot(QUIET_HOST, "stolen time", &e.to_string()),
    }
    for (resource, words) in [("cpu", "a CPU"), ("io", "input or output"), ("memory", "memory")] {
        pressure(root, resource, words, findings);
    }
}

/// Runnable tasks other than this one, looked at every 5 ms: the load average would still show
/// what assay itself did before.
fn queue(root: &Root, window: Duration, findings: &mut Findings) {
    let end = Instant::now() + window;
    let (mut sum, mut looks) = (0.0, 0u32);
    let load = loop {
        let text = match root.text("/proc/loadavg") {
            Ok(text) => text,
            Err(e) => return findings.cannot(QUIET_HOST, "the run queue", &e.to_string()),
        };
        let Some(running) = running(&text) else {
            return findings.cannot(
                QUIET_HOST,
                "the run queue",
                "`/proc/loadavg` is not as expected",
            );
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
        Err(reason) => return findings.cannot(QUIET_HOST, "the run queue per CPU", &reason),
    };
    let per_cpu = sum / f64::from(looks) / cpus;
    if per_cpu > MAX_QUEUE_PER_CPU {
        findings.warn(
            QUIET_HOST,
            format!(
                "other work wants to run: {per_cpu:.2} tasks per CPU in {looks} looks, more than \
                 {MAX_QUEUE_PER_CPU} (load average of the last minute: {load})"
            ),
            WAIT,
        );
    }
}

/// The number before the slash in `0.10 0.20 0.30 2/345 678`: tasks that run or are ready to.
fn running(loadavg: &str) -> Option<u64> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

fn steal(before: CpuTimes, now: CpuTimes, findings: &mut Findings) {
    let Some(share) = now.steal_share_since(before) else {
        return findings.cannot(QUIET_HOST, "stolen time", "no tick of CPU time passed meanwhile");
    };
    let percent = share * 100.0;
    if percent > MAX_STEAL_PERCENT {
        findings.warn(
            QUIET_HOST,
            format!(
                "the hypervisor gave {percent:.1} % of this machine's time to others, more than \
                 {MAX_STEAL_PERCENT} %"
            ),
            "measure on a machine of its own, or at another time, and compare interleaved",
        );
    }
}

fn pressure(root: &Root, resource: &str, words: &str, findings: &mut Findings) {
    let what = format!("pressure on {words}");
    let file = format!("/proc/pressure/{resource}");
    match root.text(&file) {
        Ok(text) => match some_avg10(&text) {
            Some(percent) if percent > MAX_PRESSURE_PERCENT => findings.warn(
                QUIET_HOST,
                format!(
                    "in {percent:.1} % of the last 10 s some task waited for {words}, more than \
                     {MAX_PRESSURE_PERCENT} %"
                ),
                WAIT,
            ),
            Some(_) => {}
            None => findings.cannot(QUIET_HOST, &what, &format!("`{file}` is not as expected")),
        },
        Err(e) => findings.cannot(QUIET_HOST, &what, &e.to_string()),
    }
}

fn some_avg10(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|l| l.strip_prefix("some "))?;
    line.split_whitespace().find_map(|w| w.strip_prefix("avg10="))?.parse().ok()
}

//! Describes the current load: uptime, load average, pressure, steal. These facts change all the
//! time; they document the moment and never make two systems count as different.

use super::facts::Facts;
use crate::read::cpu_times::CpuTimes;

pub(super) fn describe(facts: &mut Facts<'_>) {
    let uptime = facts.root.text("/proc/uptime");
    facts.put(
        "boot.uptime_s",
        uptime.map(|t| t.split_whitespace().next().unwrap_or_default().to_owned()),
    );
    match facts.root.text("/proc/loadavg") {
        Ok(text) => {
            let words: Vec<&str> = text.split_whitespace().collect();
            for (path, i) in [("load.avg1", 0), ("load.avg5", 1), ("load.avg15", 2)] {
                match words.get(i) {
                    Some(word) => facts.set(path, *word),
                    None => facts.unknown(path, "`/proc/loadavg` is shorter than expected"),
                }
            }
        }
        Err(e) => facts.unknown("load.avg1", e.to_string()),
    }
    for resource in ["cpu", "io", "memory"] {
        match facts.root.text(&format!("/proc/pressure/{resource}")) {
            Ok(text) => {
                for line in text.lines() {
                    let mut words = line.split_whitespace();
                    let Some(kind) = words.next() else { continue };
                    for (name, value) in words.filter_map(|w| w.split_once('=')) {
                        if name.starts_with("avg") {
                            facts.set(format!("psi.{resource}.{kind}.{name}"), value);
                        }
                    }
                }
            }
            Err(e) => facts.unknown(format!("psi.{resource}"), e.to_string()),
        }
    }
    match CpuTimes::read(facts.root) {
        Ok(times) => match times.steal_share() {
            Some(share) => facts.set("cpu.steal_since_boot", format!("{:.3} %", share * 100.0)),
            None => facts.unknown("cpu.steal_since_boot", "`/proc/stat` counts no time yet"),
        },
        Err(e) => facts.unknown("cpu.steal_since_boot", e.to_string()),
    }
}

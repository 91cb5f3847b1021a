//! Will the clock rate hold? Governor, turbo, throttling, saving of power.

use std::collections::BTreeSet;

use super::{CLOCK_AND_HEAT, Findings};
use crate::Root;

const CPU: &str = "/sys/devices/system/cpu";

pub(super) fn check(root: &Root, throttled_before: Option<u64>, findings: &mut Findings) {
    governor(root, findings);
    turbo(root, findings);
    throttling(throttled_before, throttle_count(root), findings);
    power_saving(root, findings);
}

/// Every value that a file of the CPUs' folders has.
fn values(root: &Root, file: &str) -> BTreeSet<String> {
    cpus(root).filter_map(|cpu| root.text(&format!("{CPU}/{cpu}/{file}")).ok()).collect()
}

fn cpus(root: &Root) -> impl Iterator<Item = String> {
    root.names(CPU).into_iter().filter(|n| {
        n.strip_prefix("cpu")
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn governor(root: &Root, findings: &mut Findings) {
    let governors = values(root, "cpufreq/scaling_governor");
    if governors.is_empty() {
        return findings.cannot(
            CLOCK_AND_HEAT,
            "the frequency governor",
            "the kernel offers no frequency control (cpufreq); on a virtual machine the host decides",
        );
    }
    let others: Vec<&str> =
        governors.iter().map(String::as_str).filter(|g| *g != "performance").collect();
    if !others.is_empty() {
        findings.warn(
            CLOCK_AND_HEAT,
            format!("the frequency governor is `{}`, not `performance`", others.join("`, `")),
            "cpupower frequency-set -g performance",
        );
    }
}

fn turbo(root: &Root, findings: &mut Findings) {
    let no_turbo = root.text(&format!("{CPU}/intel_pstate/no_turbo"));
    let boost = root.text(&format!("{CPU}/cpufreq/boost"));
    let on = match (no_turbo, boost) {
        (Ok(off), _) => off == "0",
        (_, Ok(on)) => on != "0",
        (Err(_), Err(_)) => {
            return findings.cannot(
                CLOCK_AND_HEAT,
                "turbo",
                "neither intel_pstate nor cpufreq says whether it is on",
            );
        }
    };
    if on {
        findings.note(
            CLOCK_AND_HEAT,
            "turbo is on: the clock rate depends on heat and on how many cores are busy".to_owned(),
            "switch it off to compare code; leave it on to measure what users will see",
        );
    }
}

/// How often cores and packages have been slowed down for heat since boot; `None` if the kernel does
/// not count it.
pub(super) fn throttle_count(root: &Root) -> Option<u64> {
    let mut sum = None;
    for cpu in cpus(root) {
        for counter in ["core_throttle_count", "package_throttle_count"] {
            if let Ok(n) = root.number::<u64>(&format!("{CPU}/{cpu}/thermal_throttle/{counter}")) {
                sum = Some(sum.unwrap_or(0u64).saturating_add(n));
            }
        }
    }
    sum
}

fn throttling(before: Option<u64>, now: Option<u64>, findings: &mut Findings) {
    match (before, now) {
        (Some(before), Some(now)) if now > before => findings.warn(
            CLOCK_AND_HEAT,
            format!("the processor is being slowed down for heat: {} times just now", now - before),
            "let it cool down; check fans and the air that comes in",
        ),
        (Some(_), Some(now)) if now > 0 => findings.note(
            CLOCK_AND_HEAT,
            format!("the processor was slowed down for heat {now} times since boot"),
            "watch the clock rate during the run",
        ),
        (Some(_), Some(_)) => {}
        _ => findings.cannot(
            CLOCK_AND_HEAT,
            "thermal throttling",
            "the kernel has no throttle counters for these CPUs",
        ),
    }
}

fn power_saving(root: &Root, findings: &mut Findings) {
    let saving = |value: &str| matches!(value, "power" | "balance_power" | "low-power" | "quiet");
    let preference = values(root, "cpufreq/energy_performance_preference");
    let profile = root.text("/sys/firmware/acpi/platform_profile").ok();
    for (what, value) in preference
        .iter()
        .map(|v| ("the processor's energy preference", v))
        .chain(profile.iter().map(|v| ("the platform's profile", v)))
    {
        if saving(value) {
            findings.warn(
                CLOCK_AND_HEAT,
                format!("{what} is `{value}`: it saves power at the cost of speed"),
                "set it to `performance`",
            );
        }
    }
    let supplies = "/sys/class/power_supply";
    for supply in root.names(supplies) {
        let is = |file: &str, value: &str| {
            root.text(&format!("{supplies}/{supply}/{file}")).is_ok_and(|t| t == value)
        };
        if is("type", "Battery") && is("status", "Discharging") {
            findings.warn(
                CLOCK_AND_HEAT,
                format!("the machine runs on its battery ({supply})"),
                "connect it to power",
            );
        }
    }
}

//! Checks that the clock rate will hold: governor, turbo, throttling, power saving.

use std::collections::BTreeSet;

use assay_model::{Observation, Subject};

use super::FitnessObservations;
use crate::Root;

const CLOCK_RATE: Subject = Subject::ClockRate;

const CPU: &str = "/sys/devices/system/cpu";

pub(super) fn look(root: &Root, throttled_before: Option<u64>, seen: &mut FitnessObservations) {
    governor(root, seen);
    turbo(root, seen);
    throttling(throttled_before, throttle_count(root), seen);
    power_saving(root, seen);
}

/// Returns the distinct values of a file in the CPUs' folders.
fn values(root: &Root, file: &str) -> BTreeSet<String> {
    cpus(root).filter_map(|cpu| root.text(&format!("{CPU}/{cpu}/{file}")).ok()).collect()
}

fn cpus(root: &Root) -> impl Iterator<Item = String> {
    root.names(CPU).into_iter().filter(|n| {
        n.strip_prefix("cpu")
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn governor(root: &Root, seen: &mut FitnessObservations) {
    let governors = values(root, "cpufreq/scaling_governor");
    if governors.is_empty() {
        return seen.cannot(
            CLOCK_RATE,
            "the frequency governor",
            "the kernel has no frequency control (cpufreq); of a virtual machine, the host decides",
        );
    }
    seen.add(Observation::Governor { governors: governors.into_iter().collect() });
}

fn turbo(root: &Root, seen: &mut FitnessObservations) {
    let no_turbo = root.text(&format!("{CPU}/intel_pstate/no_turbo"));
    let boost = root.text(&format!("{CPU}/cpufreq/boost"));
    let on = match (no_turbo, boost) {
        (Ok(off), _) => off == "0",
        (_, Ok(on)) => on != "0",
        (Err(_), Err(_)) => {
            return seen.cannot(
                CLOCK_RATE,
                "turbo",
                "neither intel_pstate nor cpufreq says whether it is on",
            );
        }
    };
    seen.add(Observation::Turbo { on });
}

/// Returns the current mean frequency of the CPUs in Hz; `None` if the kernel does not report it.
pub fn frequency_hz(root: &Root) -> Option<f64> {
    let khz: Vec<f64> = cpus(root)
        .filter_map(|cpu| root.number::<f64>(&format!("{CPU}/{cpu}/cpufreq/scaling_cur_freq")).ok())
        .collect();
    (!khz.is_empty()).then(|| khz.iter().sum::<f64>() / khz.len() as f64 * 1e3)
}

/// Returns the number of times that cores and packages were throttled for heat since boot; `None`
/// if the kernel does not count this.
pub fn throttle_count(root: &Root) -> Option<u64> {
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

fn throttling(before: Option<u64>, now: Option<u64>, seen: &mut FitnessObservations) {
    match (before, now) {
        (Some(before), Some(now)) => seen.add(Observation::Throttling { before, now }),
        _ => seen.cannot(
            CLOCK_RATE,
            "thermal throttling",
            "the kernel has no throttle counters for these CPUs",
        ),
    }
}

fn power_saving(root: &Root, seen: &mut FitnessObservations) {
    let preference = values(root, "cpufreq/energy_performance_preference");
    let profile = root.text("/sys/firmware/acpi/platform_profile").ok();
    for (what, value) in preference
        .iter()
        .map(|v| ("the processor's energy preference", v))
        .chain(profile.iter().map(|v| ("the platform's profile", v)))
    {
        seen.add(Observation::PowerPreference { what: what.to_owned(), value: value.clone() });
    }
    let supplies = "/sys/class/power_supply";
    for supply in root.names(supplies) {
        let is = |file: &str, value: &str| {
            root.text(&format!("{supplies}/{supply}/{file}")).is_ok_and(|t| t == value)
        };
        if is("type", "Battery") && is("status", "Discharging") {
            seen.add(Observation::Battery { supply: supply.clone() });
        }
    }
}

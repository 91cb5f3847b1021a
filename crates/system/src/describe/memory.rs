//! Describes the amount of memory and swap.

use assay_model::units::format_bytes;

use super::facts::Facts;
use crate::read::root::one_line;

/// Names in `/proc/meminfo`, and assay's names.
const FIELDS: [(&str, &str); 4] = [
    ("MemTotal", "memory.total"),
    ("MemAvailable", "memory.available"),
    ("SwapTotal", "swap.total"),
    ("SwapFree", "swap.free"),
];

pub(super) fn describe(facts: &mut Facts<'_>) {
    match facts.root.text("/proc/meminfo") {
        Ok(info) => {
            for (field, path) in FIELDS {
                match meminfo_bytes(&info, field) {
                    Some(bytes) => facts.set(path, format_bytes(bytes)),
                    None => facts.unknown(path, format!("`/proc/meminfo` has no line {field}")),
                }
            }
        }
        Err(e) => FIELDS.iter().for_each(|(_, path)| facts.unknown(*path, e.to_string())),
    }
    let devices = facts.root.text("/proc/swaps").map(|text| {
        let names: Vec<&str> =
            text.lines().skip(1).filter_map(|l| l.split_whitespace().next()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(" ") }
    });
    facts.put("swap.devices", devices);
    facts.file_if_there("swap.zswap", "/sys/module/zswap/parameters/enabled");
    let edac = facts.root.names("/sys/devices/system/edac/mc");
    let controllers: Vec<String> = edac
        .iter()
        .filter(|n| n.starts_with("mc"))
        .filter_map(|mc| facts.root.text(&format!("/sys/devices/system/edac/mc/{mc}/mc_name")).ok())
        .map(|name| one_line(&name))
        .collect();
    if !controllers.is_empty() {
        facts.set("memory.controllers", controllers.join(" + "));
    }
}

/// Returns a field of `/proc/meminfo` in bytes; `None` if the text lacks it.
pub fn meminfo_bytes(info: &str, field: &str) -> Option<u64> {
    let line = info.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix(':'))?;
    let mut words = line.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        Some("kB") => number.checked_mul(1024),
        _ => Some(number),
    }
}

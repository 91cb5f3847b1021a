//! Describes the processor: model, topology, caches, frequency policy.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::units::format_bytes;

use super::arm;
use super::facts::Facts;
use crate::read::digest::sha256;
use crate::read::root::one_line;
use assay_model::environment::cpulist;

const CPU: &str = "/sys/devices/system/cpu";

/// Names in `/proc/cpuinfo` on x86 and Arm, and assay's names.
const FIELDS: [(&str, &str); 8] = [
    ("vendor_id", "cpu.vendor"),
    ("cpu family", "cpu.family"),
    ("CPU architecture", "cpu.family"),
    ("model name", "cpu.model"),
    ("model", "cpu.model_number"),
    ("CPU part", "cpu.model_number"),
    ("stepping", "cpu.stepping"),
    ("microcode", "cpu.microcode"),
];

pub(super) fn describe(facts: &mut Facts<'_>) {
    identity(facts);
    topology(facts);
    caches(facts);
    frequency(facts);
    numa(facts);
}

/// Collects every distinct value of each field, so that different processors in one machine are
/// visible.
fn identity(facts: &mut Facts<'_>) {
    let info = match facts.root.text("/proc/cpuinfo") {
        Ok(info) => info,
        Err(e) => {
            for path in
                ["cpu.model", "cpu.vendor", "cpu.flags", "cpu.flags.sha256", "cpu.microcode"]
            {
                facts.unknown(path, e.to_string());
            }
            return;
        }
    };
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in info.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let seen = values.entry(key.trim()).or_default();
        if !seen.contains(&value.trim()) {
            seen.push(value.trim());
        }
    }
    for (field, path) in FIELDS {
        if let Some(seen) = values.get(field) {
            facts.set(path, seen.join(" + "));
        }
    }
    let arm = arm::cpus(&info);
    if !arm.is_empty() {
        let join = |of: fn(&arm::ArmCpu) -> Option<&String>| {
            let mut all: Vec<&str> = Vec::new();
            for value in arm.iter().filter_map(of) {
                if !all.contains(&value.as_str()) {
                    all.push(value);
                }
            }
            all.join(" + ")
        };
        facts.set("cpu.vendor", join(|cpu| Some(&cpu.vendor)));
        facts.set("cpu.model", join(|cpu| Some(&cpu.model)));
        if arm.iter().any(|cpu| cpu.stepping.is_some()) {
            facts.set("cpu.stepping", join(|cpu| cpu.stepping.as_ref()));
        }
        if let Some(clusters) = arm::clusters(facts.root, &arm) {
            facts.set("cpu.clusters", clusters);
        }
    }
    for path in ["cpu.model", "cpu.vendor", "cpu.microcode"] {
        if !facts.has(path) {
            facts.unknown(path, "`/proc/cpuinfo` does not say it on this architecture");
        }
    }
    match values.get("flags").or_else(|| values.get("Features")) {
        Some(seen) => {
            let flags: BTreeSet<&str> = seen.iter().flat_map(|f| f.split_whitespace()).collect();
            let list = flags.into_iter().collect::<Vec<_>>().join(" ");
            facts.set("cpu.flags.sha256", sha256(list.as_bytes()));
            facts.set("cpu.flags", list);
        }
        None => facts.unknown("cpu.flags", "`/proc/cpuinfo` lists no flags on this architecture"),
    }
    if let Some(bugs) = values.get("bugs") {
        facts.set("cpu.bugs", bugs.join(" + "));
    }
    match values.get("cpu MHz").and_then(|seen| seen.first()) {
        Some(mhz) => facts.set("cpu.mhz", *mhz),
        None => facts.unknown("cpu.mhz", "`/proc/cpuinfo` does not say it on this architecture"),
    }
}

fn topology(facts: &mut Facts<'_>) {
    facts.file("cpu.online", &format!("{CPU}/online"));
    facts.file("cpu.possible", &format!("{CPU}/possible"));
    for (path, file) in [("cpu.isolated", "isolated"), ("cpu.nohz_full", "nohz_full")] {
        // The list is empty, or `(null)` if the boot command line names no CPUs.
        if let Ok(list) = facts.root.text(&format!("{CPU}/{file}")) {
            facts.set(path, if list.is_empty() || list == "(null)" { "none" } else { &list });
        }
    }
    facts.file("cpu.smt.control", &format!("{CPU}/smt/control"));
    let smt = facts.root.text(&format!("{CPU}/smt/active")).map(|t| yes_no(&t));
    facts.put("cpu.smt", smt);

    let online = match facts.root.text(&format!("{CPU}/online")) {
        Ok(text) => cpulist::parse(&text).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    if online.is_empty() {
        for path in ["cpu.threads", "cpu.cores", "cpu.sockets"] {
            facts.unknown(path, format!("`{CPU}/online` gives no list of CPUs"));
        }
        return;
    }
    facts.set("cpu.threads", online.len().to_string());
    let mut sockets = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in &online {
        let topology = format!("{CPU}/cpu{cpu}/topology");
        let id = |name: &str| facts.root.text(&format!("{topology}/{name}"));
        match (id("physical_package_id"), id("core_id")) {
            (Ok(package), Ok(core)) => {
                // On Arm, core numbers begin again in each cluster.
                let part = ["die_id", "cluster_id"].map(|name| id(name).unwrap_or_default());
                cores.insert((package.clone(), part, core));
                sockets.insert(package);
            }
            (Err(e), _) | (_, Err(e)) => {
                facts.unknown("cpu.cores", e.to_string());
                facts.unknown("cpu.sockets", e.to_string());
                return;
            }
        }
    }
    facts.set("cpu.cores", cores.len().to_string());
    facts.set("cpu.sockets", sockets.len().to_string());
}

/// Describes each cache (`cpu.cache.l1d.size` and so on): every distinct size, and the number of
/// CPUs that share one.
fn caches(facts: &mut Facts<'_>) {
    #[derive(Default)]
    struct Level {
        sizes: BTreeSet<String>,
        shared: BTreeSet<String>,
        ways: BTreeSet<String>,
        line: BTreeSet<String>,
    }
    let mut levels: BTreeMap<String, Level> = BTreeMap::new();
    for cpu in cpu_folders(facts) {
        let dir = format!("{CPU}/{cpu}/cache");
        for index in facts.root.names(&dir).iter().filter(|n| n.starts_with("index")) {
            let get = |file: &str| facts.root.text(&format!("{dir}/{index}/{file}"));
            let (Ok(level), Ok(kind), Ok(size)) = (get("level"), get("type"), get("size")) else {
                continue;
            };
            let suffix = match kind.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let entry = levels.entry(format!("l{level}{suffix}")).or_default();
            entry.sizes.insert(cache_size(&size));
            entry.shared.extend(get("shared_cpu_list"));
            entry.ways.extend(get("ways_of_associativity"));
            entry.line.extend(get("coherency_line_size"));
        }
    }
    if levels.is_empty() {
        facts.unknown("cpu.cache", "the kernel lists no caches for any CPU");
    }
    for (name, level) in levels {
        let join = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" + ");
        facts.set(format!("cpu.cache.{name}.size"), join(level.sizes));
        facts.set(format!("cpu.cache.{name}.count"), level.shared.len().to_string());
        facts.set(format!("cpu.cache.{name}.shared_by"), join(level.shared));
        if !level.ways.is_empty() {
            facts.set(format!("cpu.cache.{name}.ways"), join(level.ways));
        }
        if !level.line.is_empty() {
            facts.set(format!("cpu.cache.{name}.line_bytes"), join(level.line));
        }
    }
}

/// Formats a size; sysfs writes `32K` for 32 KiB.
fn cache_size(text: &str) -> String {
    let kib = text.strip_suffix('K').and_then(|n| n.parse::<u64>().ok());
    kib.and_then(|k| k.checked_mul(1024)).map_or_else(|| text.to_owned(), format_bytes)
}

fn frequency(facts: &mut Facts<'_>) {
    let cpus = cpu_folders(facts);
    for (path, file) in [
        ("cpu.governor", "scaling_governor"),
        ("cpu.frequency.driver", "scaling_driver"),
        ("cpu.frequency.min_khz", "scaling_min_freq"),
        ("cpu.frequency.max_khz", "scaling_max_freq"),
        ("cpu.frequency.hardware_max_khz", "cpuinfo_max_freq"),
        ("cpu.energy_preference", "energy_performance_preference"),
    ] {
        let seen: BTreeSet<String> = cpus
            .iter()
            .filter_map(|cpu| facts.root.text(&format!("{CPU}/{cpu}/cpufreq/{file}")).ok())
            .collect();
        if seen.is_empty() {
            facts.unknown(path, "the kernel offers no frequency control (cpufreq) for any CPU");
        } else {
            facts.set(path, seen.into_iter().collect::<Vec<_>>().join(" + "));
        }
    }
    let no_turbo = facts.root.text(&format!("{CPU}/intel_pstate/no_turbo"));
    let boost = facts.root.text(&format!("{CPU}/cpufreq/boost"));
    match (no_turbo, boost) {
        (Ok(off), _) => facts.set("cpu.turbo", if off == "0" { "on" } else { "off" }),
        (_, Ok(on)) => facts.set("cpu.turbo", if on == "0" { "off" } else { "on" }),
        _ => facts.unknown("cpu.turbo", "neither intel_pstate nor cpufreq says whether it is on"),
    }
    facts.file("cpu.idle.driver", &format!("{CPU}/cpuidle/current_driver"));
    facts.file_if_there("cpu.platform_profile", "/sys/firmware/acpi/platform_profile");
}

fn numa(facts: &mut Facts<'_>) {
    const NODE: &str = "/sys/devices/system/node";
    match facts.root.text(&format!("{NODE}/online")) {
        Ok(list) => {
            let nodes = cpulist::parse(&list).unwrap_or_default();
            facts.set("numa.nodes", nodes.len().to_string());
            for n in nodes {
                facts.file(format!("numa.node{n}.cpus"), &format!("{NODE}/node{n}/cpulist"));
                facts.file(format!("numa.node{n}.distance"), &format!("{NODE}/node{n}/distance"));
                let total = facts.root.text(&format!("{NODE}/node{n}/meminfo"));
                let total = total.map(|t| {
                    t.lines()
                        .find(|l| l.contains("MemTotal:"))
                        .and_then(|l| l.split_whitespace().rev().nth(1)?.parse::<u64>().ok())
                });
                match total {
                    Ok(Some(kib)) => {
                        facts.set(
                            format!("numa.node{n}.memory"),
                            format_bytes(kib.saturating_mul(1024)),
                        );
                    }
                    Ok(None) => facts.unknown(
                        format!("numa.node{n}.memory"),
                        "its meminfo has no MemTotal line",
                    ),
                    Err(e) => facts.unknown(format!("numa.node{n}.memory"), e.to_string()),
                }
            }
        }
        Err(e) => facts.unknown("numa.nodes", e.to_string()),
    }
}

fn cpu_folders(facts: &Facts<'_>) -> Vec<String> {
    let numbered = |n: &String| {
        n.strip_prefix("cpu")
            .is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))
    };
    facts.root.names(CPU).into_iter().filter(numbered).collect()
}

/// Returns `1` and `0` as words, and anything else unchanged.
pub(super) fn yes_no(text: &str) -> String {
    match text {
        "1" => "yes".to_owned(),
        "0" => "no".to_owned(),
        other => one_line(other),
    }
}

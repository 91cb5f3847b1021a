//! Describes the kernel: release, build, command line, mitigations, clock source, preemption,
//! modules.

use super::facts::{Facts, selected};
use crate::read::digest::{sha256, sha256_file};
use crate::read::root::one_line;

const CLOCK: &str = "/sys/devices/system/clocksource/clocksource0";

pub(super) fn describe(facts: &mut Facts<'_>) {
    facts.file("kernel.release", "/proc/sys/kernel/osrelease");
    facts.file("kernel.version", "/proc/sys/kernel/version");
    facts.file("kernel.build", "/proc/version");
    facts.file("kernel.cmdline", "/proc/cmdline");
    facts.file("kernel.tainted", "/proc/sys/kernel/tainted");
    if facts.root.exists("/proc/sys/kernel/arch") {
        facts.file("kernel.arch", "/proc/sys/kernel/arch");
    } else {
        facts.set("kernel.arch", std::env::consts::ARCH);
    }
    facts.choice("kernel.lockdown", "/sys/kernel/security/lockdown");
    config(facts);
    mitigations(facts);
    preemption(facts);
    modules(facts);
    operating_system(facts);
    facts.file("kernel.clocksource", &format!("{CLOCK}/current_clocksource"));
    facts.file("kernel.clocksource.available", &format!("{CLOCK}/available_clocksource"));
    facts.file("kernel.sched_features", "/sys/kernel/debug/sched/features");
    facts.file("kernel.sched_base_slice_ns", "/sys/kernel/debug/sched/base_slice_ns");
    facts.file_if_there("kernel.sched_ext", "/sys/kernel/sched_ext/state");
    facts.file_if_there("kernel.rcu_normal", "/sys/kernel/rcu_normal");
    facts.file_if_there("kernel.ksm", "/sys/kernel/mm/ksm/run");
    facts.file_if_there("kernel.multi_gen_lru", "/sys/kernel/mm/lru_gen/enabled");
}

/// Adds the hash of the kernel's configuration file: `/proc/config.gz`, or else the file that
/// distributions install next to the kernel.
fn config(facts: &mut Facts<'_>) {
    let mut files = vec!["/proc/config.gz".to_owned()];
    if let Ok(release) = facts.root.text("/proc/sys/kernel/osrelease")
        && !release.contains('/')
    {
        files.push(format!("/boot/config-{release}"));
    }
    let hashed = files
        .iter()
        .find_map(|file| sha256_file(&facts.root.path(file)).ok().map(|hash| (file, hash)));
    match hashed {
        Some((file, hash)) => {
            facts.set("kernel.config.sha256", hash);
            facts.set("kernel.config.file", file.clone());
        }
        None => {
            facts.unknown("kernel.config.sha256", format!("cannot read {}", files.join(" nor ")));
        }
    }
}

fn mitigations(facts: &mut Facts<'_>) {
    const DIR: &str = "/sys/devices/system/cpu/vulnerabilities";
    let names = facts.root.names(DIR);
    if names.is_empty() {
        facts.unknown("kernel.mitigation", format!("`{DIR}` lists nothing"));
    }
    for name in names {
        facts.file(format!("kernel.mitigation.{name}"), &format!("{DIR}/{name}"));
    }
}

/// Adds the preemption model. A kernel built with `PREEMPT_DYNAMIC` chooses it at boot or later;
/// only debugfs or the command line shows the choice.
fn preemption(facts: &mut Facts<'_>) {
    if let Ok(text) = facts.root.text("/sys/kernel/debug/sched/preempt") {
        let now = text.split_whitespace().find_map(|w| w.strip_prefix('(')?.strip_suffix(')'));
        return facts.set("kernel.preempt", now.unwrap_or(selected(&text)));
    }
    let asked = facts.root.text("/proc/cmdline").ok().and_then(|line| {
        line.split_whitespace()
            .filter_map(|w| w.strip_prefix("preempt="))
            .next_back()
            .map(str::to_owned)
    });
    let version = facts.root.text("/proc/sys/kernel/version");
    match (version, asked) {
        (Ok(v), _) if v.contains("PREEMPT_RT") => facts.set("kernel.preempt", "rt"),
        (Ok(v), Some(asked)) if v.contains("PREEMPT_DYNAMIC") => {
            facts.set("kernel.preempt", format!("{asked} (dynamic, from the command line)"));
        }
        (Ok(v), None) if v.contains("PREEMPT_DYNAMIC") => facts.unknown(
            "kernel.preempt",
            "the kernel chooses it at run time and its debugfs file cannot be read",
        ),
        (Ok(v), _) if v.contains("PREEMPT_LAZY") => facts.set("kernel.preempt", "lazy"),
        (Ok(v), _) if v.contains("PREEMPT") => facts.set("kernel.preempt", "full"),
        (Ok(_), _) => facts.set("kernel.preempt", "none or voluntary"),
        (Err(e), _) => facts.unknown("kernel.preempt", e.to_string()),
    }
}

fn modules(facts: &mut Facts<'_>) {
    match facts.root.text("/proc/modules") {
        Ok(text) => {
            let mut names: Vec<&str> =
                text.lines().filter_map(|l| l.split_whitespace().next()).collect();
            names.sort_unstable();
            let list = if names.is_empty() { "none".to_owned() } else { names.join(" ") };
            facts.set("kernel.modules.sha256", sha256(list.as_bytes()));
            facts.set("kernel.modules", list);
        }
        Err(e) => facts.unknown("kernel.modules", e.to_string()),
    }
}

fn operating_system(facts: &mut Facts<'_>) {
    let release =
        facts.root.text("/etc/os-release").or_else(|_| facts.root.text("/usr/lib/os-release"));
    match release {
        Ok(text) => {
            for (field, path) in
                [("PRETTY_NAME", "os.name"), ("ID", "os.id"), ("VERSION_ID", "os.version")]
            {
                let value = text.lines().find_map(|l| l.strip_prefix(field)?.strip_prefix('='));
                match value {
                    Some(v) => facts.set(path, one_line(v.trim_matches(['"', '\'']))),
                    None => facts.unknown(path, format!("`/etc/os-release` has no {field}")),
                }
            }
        }
        Err(e) => facts.unknown("os.name", e.to_string()),
    }
    facts.file_if_there("os.debian_version", "/etc/debian_version");
}

//! Evidence about a run's machine and programs: settings, CPUs, pages, binaries and clocks.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::environment::cpulist;
use assay_model::{Observation, SystemDescription, Treatment, TrialRecord};

use super::material::{LOOKED_AGAIN_NS, RunMaterial, observations};
use crate::{Binary, ClockHeat, CpuResources, FactsAfterTrials, HostLoad, MemoryPages, Snapshots};

pub(super) fn snapshots(system: &SystemDescription, records: &[TrialRecord]) -> Snapshots {
    let changed: BTreeMap<String, String> =
        records.iter().flat_map(|r| r.changed.clone()).collect();
    let from = records.iter().map(|r| r.start_ns).min().unwrap_or(0);
    let to = records.iter().map(|r| r.end_ns).max().unwrap_or(0);
    let looked = records.iter().flat_map(|r| &r.evidence);
    let looked = looked.into_iter().any(|o| matches!(o, Observation::Changed { .. }));
    let after = if !changed.is_empty() {
        FactsAfterTrials::Changed(changed)
    } else if looked || to.saturating_sub(from) >= LOOKED_AGAIN_NS {
        FactsAfterTrials::Same
    } else {
        FactsAfterTrials::NotTaken
    };
    Snapshots {
        before: Some(system.clone()),
        after,
        boots: system.get("boot.id").map(str::to_owned).into_iter().collect(),
    }
}

/// Returns the settings of a treatment's controls, keyed by fact path.
pub(super) fn settings(t: &Treatment) -> BTreeMap<String, String> {
    let path = |control: &str, key: &str| match key {
        "" => control.to_owned(),
        key => format!("{control}.{key}"),
    };
    t.controls.iter().map(|s| (path(&s.control, &s.key), s.value.to_text())).collect()
}

pub(super) fn cpus(m: &RunMaterial<'_>, t: &Treatment) -> Option<CpuResources> {
    let system = m.system?;
    let set = settings(t);
    let list = set.get("cpus").map(String::as_str).or_else(|| system.get("cgroup.cpuset"));
    let count = |path: &str| system.get(path)?.parse().ok();
    let usable = list.and_then(|l| cpulist::parse(l).ok()).map(|l| l.len() as u32);
    let (threads, cores): (Option<u32>, Option<u32>) = (count("cpu.threads"), count("cpu.cores"));
    let limits = observations(m, Some(t.id)).filter_map(|o| match o {
        // Reaching a memory limit is intended if a control sets it.
        Observation::Limited { memory: 1.., .. } if !set.contains_key("memory") => Some(1.0),
        Observation::Limited { periods, stopped, .. } => {
            Some(*stopped as f64 / (*periods).max(1) as f64)
        }
        _ => None,
    });
    let mut limits: Vec<f64> = limits.collect();
    limits.sort_by(f64::total_cmp);
    Some(CpuResources {
        usable: usable.or(threads),
        chips: count("cpu.sockets"),
        cores,
        threads_per_core: threads.zip(cores).and_then(|(t, c)| t.checked_div(c)),
        quota: system.get("cgroup.cpu_quota").map(str::to_owned),
        numa_policy: Some(set.get("numa").cloned().unwrap_or_else(|| "default".to_owned())),
        memory_channels: None,
        // A trial is one execution of the workload.
        instances: Some(1),
        limited: limits.get(limits.len().saturating_sub(1) / 2).copied(),
    })
}

pub(super) fn pages(m: &RunMaterial<'_>, system: &SystemDescription, t: &Treatment) -> MemoryPages {
    let set = settings(t);
    let mode = set.get("thp").map(String::as_str).or_else(|| system.get("thp.enabled"));
    let pool = set.iter().find(|(k, _)| k.starts_with("hugepages")).map(|(_, v)| v.clone());
    let described: Vec<String> = system
        .facts
        .iter()
        .filter(|(p, _)| p.starts_with("hugepages.") && p.rsplit('.').next() == Some("count"))
        .filter_map(|(p, f)| Some(format!("{p}={}", f.value()?)))
        .collect();
    MemoryPages {
        mode: mode.map(str::to_owned),
        pool: pool.or_else(|| (!described.is_empty()).then(|| described.join(", "))),
        huge_share: huge_share(m, t),
    }
}

/// Returns the mean huge-page coverage of a treatment's trials, from the observations of control
/// `pages`.
pub(super) fn huge_share(m: &RunMaterial<'_>, t: &Treatment) -> Option<f64> {
    let shares: Vec<f64> = observations(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::LargePages { memory, large, .. } if *memory > 0 => {
                Some(*large as f64 / *memory as f64)
            }
            _ => None,
        })
        .collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

pub(super) fn os(
    system: &SystemDescription,
    set: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let wanted = |p: &str| {
        ["kernel.", "libc.", "os.", "sysctl.", "cpu.governor"].iter().any(|w| p.starts_with(w))
    };
    let facts = system.facts.iter().filter(|(p, _)| wanted(p));
    let mut all: BTreeMap<String, String> =
        facts.filter_map(|(p, f)| Some((p.clone(), f.value()?.to_owned()))).collect();
    all.extend(set.clone());
    all
}

/// True if every trial had a randomised address space.
pub(super) fn randomised(m: &RunMaterial<'_>, t: &Treatment) -> Option<bool> {
    match settings(t).get("aslr").map(String::as_str) {
        Some(set) => Some(set == "on" || set == "true"),
        None => Some(m.system?.get("sysctl.kernel.randomize_va_space")? == "2"),
    }
}

/// Returns the state of the machine before the run, which all treatments share.
pub(super) fn host(m: &RunMaterial<'_>) -> Option<HostLoad> {
    let mut host = HostLoad::default();
    for observation in observations(m, None) {
        match observation {
            Observation::RunQueue { per_cpu, .. } => host.queue_per_cpu = Some(*per_cpu),
            Observation::Steal { percent } => host.steal_percent = Some(*percent),
            Observation::Pressure { percent, .. } => {
                let most = host.pressure_percent.map_or(*percent, |p: f64| p.max(*percent));
                host.pressure_percent = Some(most);
            }
            _ => {}
        }
    }
    (host != HostLoad::default()).then_some(host)
}

/// Returns the observations that could not be made, as (check id, reason).
pub(super) fn unobserved(m: &RunMaterial<'_>) -> Vec<(&'static str, String)> {
    let of = |o: &Observation| match o {
        Observation::Unseen { of, what, why } => {
            Some((crate::observations::row_about(*of).id, format!("{what}: {why}")))
        }
        _ => None,
    };
    observations(m, None).filter_map(of).collect()
}

pub(super) fn clock(m: &RunMaterial<'_>, t: &Treatment) -> Option<ClockHeat> {
    let looks: Vec<(Option<f64>, Option<u64>)> = observations(m, Some(t.id))
        .filter_map(|o| match o {
            Observation::ClockRate { hz, throttled } => Some((*hz, *throttled)),
            _ => None,
        })
        .collect();
    let rates: Vec<f64> = looks.iter().filter_map(|l| l.0).collect();
    let throttles: Option<u64> = looks.iter().map(|l| l.1).sum();
    (!looks.is_empty()).then(|| ClockHeat {
        ghz: (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64 * 1e-9),
        throttles,
    })
}

/// Returns the programs or images that a treatment's trials ran; more than one if they changed
/// during the run.
pub(super) fn binary(m: &RunMaterial<'_>, t: &Treatment) -> Option<Binary> {
    let mut binary = Binary::default();
    for observation in observations(m, Some(t.id)) {
        if let Observation::Container { digest, .. } = observation {
            binary.hashes.insert(format!("image {digest}"), digest.clone());
        }
        let Observation::Program { program } = observation else { continue };
        let again = binary.hashes.contains_key("executable");
        let part = if again { "executable, later" } else { "executable" };
        binary.hashes.insert(part.to_owned(), program.sha256.clone());
        binary.hashes.extend(program.libraries.clone());
        binary.built_features = program.isa_level.map(|l| (1..=l).map(level_name).collect());
    }
    let flags = m.system.and_then(|s| s.get("cpu.flags"));
    binary.host_features = flags.map(|f| (1..=isa_level(f)).map(level_name).collect());
    (!binary.hashes.is_empty()).then_some(binary)
}

/// Returns the x86 instruction-set level of a processor with these flags (System V ABI, AMD64
/// supplement, table 3.1).
pub(super) fn isa_level(flags: &str) -> u32 {
    const LEVELS: [&[&str]; 3] = [
        &["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"],
        &["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"],
        &["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"],
    ];
    let has: BTreeSet<&str> = flags.split_whitespace().collect();
    let levels = LEVELS.iter().take_while(|level| level.iter().all(|f| has.contains(f)));
    1 + levels.count() as u32
}

pub(super) fn level_name(level: u32) -> String {
    format!("x86-64-v{level}")
}

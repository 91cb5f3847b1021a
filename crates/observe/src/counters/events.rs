//! Counted events and the metrics computed from them, as data: `counters/*.toml`, each with its
//! source.

use std::collections::BTreeMap;
use std::path::Path;

use assay_traces::translation::counters::{CpuIdentity, Encoding};
use serde::Deserialize;

const GENERIC: &str = include_str!("../../counters/generic.toml");
const PROCESSORS: [&str; 5] = [
    include_str!("../../counters/intel-skylake.toml"),
    include_str!("../../counters/intel-perf-metrics.toml"),
    include_str!("../../counters/amd-zen4.toml"),
    include_str!("../../counters/arm-neoverse-n2.toml"),
    include_str!("../../counters/arm-neoverse-v2.toml"),
];

/// A metric that is computed from counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metric {
    pub name: String,
    pub unit: String,
    pub help: String,
    pub formula: String,
}

/// Events and the metrics computed from them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Set {
    /// Name of the processors that the events belong to.
    pub name: String,
    /// Document that defines the events.
    pub source: String,
    #[serde(default)]
    vendor: String,
    #[serde(default)]
    family: u32,
    #[serde(default)]
    models: Vec<u32>,
    /// Kernel's name of the PMU under `/sys/bus/event_source/devices`; its `type` file holds the
    /// events' type.
    pub pmu: Option<String>,
    /// Type of the events, given directly.
    #[serde(rename = "type", default)]
    pub kind: Option<u32>,
    /// True if the metrics are valid only while no two threads share a core.
    #[serde(default)]
    pub one_thread_a_core: bool,
    /// Names of the events that are counted simultaneously.
    pub groups: Vec<Vec<String>>,
    /// Encodings by event name.
    pub events: BTreeMap<String, Encoding>,
    #[serde(rename = "metric")]
    pub metrics: Vec<Metric>,
}

impl Set {
    fn read(text: &str) -> Set {
        toml::from_str(text).expect("a test reads every file")
    }

    /// Returns the events that every processor counts.
    pub fn generic() -> Set {
        Self::read(GENERIC)
    }

    /// Returns the event sets of all known processors.
    pub fn processors() -> Vec<Set> {
        PROCESSORS.iter().map(|text| Self::read(text)).collect()
    }

    /// Returns the event set of one processor; `None` if it is unknown, since events are never
    /// guessed.
    pub fn for_cpu(cpu: &CpuIdentity) -> Option<Set> {
        Self::processors().into_iter().find(|set| {
            set.vendor == cpu.vendor && set.family == cpu.family && set.models.contains(&cpu.model)
        })
    }
}

/// Returns true if two threads share a core; `None` if the system under `root` does not report it.
pub(super) fn shares_cores(root: &Path) -> Option<bool> {
    let text = std::fs::read_to_string(root.join("sys/devices/system/cpu/smt/active")).ok()?;
    Some(text.trim() == "1")
}

#[cfg(test)]
mod tests {
    use super::super::formula::evaluate;
    use super::*;

    #[test]
    fn every_file_is_read_and_names_only_what_it_has() {
        for set in Set::processors().into_iter().chain([Set::generic()]) {
            assert!(set.pmu.is_some() != set.kind.is_some(), "{}", set.name);
            let grouped: Vec<_> = set.groups.iter().flatten().collect();
            assert_eq!(grouped.len(), set.events.len(), "{}", set.name);
            assert!(grouped.iter().all(|e| set.events.contains_key(*e)), "{}", set.name);
            for metric in &set.metrics {
                let known = |name: &str| {
                    assert!(set.events.contains_key(name), "{}: {name}", set.name);
                    Some(1.0)
                };
                assert!(evaluate(&metric.formula, &known).is_ok(), "{}", metric.formula);
            }
        }
    }

    /// Returns the metrics that a set computes from counts, by name.
    fn computed(set: &Set, counts: &[(&str, f64)]) -> BTreeMap<String, f64> {
        let count = |name: &str| counts.iter().find(|c| c.0 == name).map(|c| c.1);
        let of = |m: &Metric| Some((m.name.clone(), evaluate(&m.formula, &count).ok()??));
        set.metrics.iter().filter_map(of).collect()
    }

    #[test]
    fn top_down_shares_are_those_that_the_documents_define() {
        let of =
            |name: &str| Set::processors().into_iter().find(|s| s.name.contains(name)).unwrap();
        // 1000 cycles have 4000 slots: 1000 not delivered, 2000 retired, 100 more issued, 50 cycles
        // of recovery.
        let skylake = [
            ("CPU_CLK_UNHALTED.THREAD", 1000.0),
            ("IDQ_UOPS_NOT_DELIVERED.CORE", 1000.0),
            ("UOPS_ISSUED.ANY", 2100.0),
            ("UOPS_RETIRED.RETIRE_SLOTS", 2000.0),
            ("INT_MISC.RECOVERY_CYCLES", 50.0),
        ];
        // 1000 cycles have 6000 slots.
        let zen = [
            ("ls_not_halted_cyc", 1000.0),
            ("de_no_dispatch_per_slot.no_ops_from_frontend", 1200.0),
            ("de_no_dispatch_per_slot.backend_stalls", 1500.0),
            ("de_no_dispatch_per_slot.smt_contention", 0.0),
            ("de_src_op_disp.all", 3300.0),
            ("ex_ret_ops", 3000.0),
        ];
        // A register that divided the slots into 255 parts.
        let metrics = [
            ("slots", 5100.0),
            ("topdown-retiring", 2550.0),
            ("topdown-bad-spec", 255.0),
            ("topdown-fe-bound", 765.0),
            ("topdown-be-bound", 1530.0),
        ];
        // 1000 cycles have 8000 slots, 4000 of them stalls; four of five operations retired.
        let v2 = [
            ("CPU_CYCLES", 1000.0),
            ("STALL_SLOT", 4000.0),
            ("STALL_SLOT_FRONTEND", 1600.0),
            ("STALL_SLOT_BACKEND", 2400.0),
            ("OP_RETIRED", 4000.0),
            ("OP_SPEC", 5000.0),
        ];
        // The same share of 5000 slots; this processor counts one stall too many per cycle.
        let n2 = [
            ("CPU_CYCLES", 1000.0),
            ("STALL_SLOT", 3500.0),
            ("STALL_SLOT_FRONTEND", 2000.0),
            ("STALL_SLOT_BACKEND", 1500.0),
            ("OP_RETIRED", 4000.0),
            ("OP_SPEC", 5000.0),
        ];
        for (name, counts, expected) in [
            ("Skylake", &skylake[..], [50.0, 7.5, 25.0, 17.5]),
            ("Zen 4", &zen[..], [50.0, 5.0, 20.0, 25.0]),
            ("Ice Lake", &metrics[..], [50.0, 5.0, 15.0, 30.0]),
            ("Neoverse V2", &v2[..], [40.0, 10.0, 20.0, 30.0]),
            ("Neoverse N2", &n2[..], [40.0, 10.0, 20.0, 30.0]),
        ] {
            let found = computed(&of(name), counts);
            let names = ["retiring", "bad_speculation", "frontend_bound", "backend_bound"];
            for (metric, share) in names.into_iter().zip(expected) {
                assert!((found[metric] - share).abs() < 1e-9, "{name} {metric}: {found:?}");
            }
            assert!((names.iter().map(|n| found[*n]).sum::<f64>() - 100.0).abs() < 1e-9, "{name}");
        }
        let generic = [
            ("cycles", 2000.0),
            ("instructions", 5000.0),
            ("branches", 900.0),
            ("branch-misses", 9.0),
            ("cache-references", 50.0),
            ("cache-misses", 20.0),
        ];
        let found = computed(&Set::generic(), &generic);
        assert_eq!((found["ipc"], found["branch_misses"], found["cache_misses"]), (2.5, 1.8, 4.0));
    }

    #[test]
    fn a_processor_leads_to_its_events_or_to_nothing() {
        let of = |text: &str| Set::for_cpu(&CpuIdentity::parse(text).unwrap()).map(|s| s.name);
        let intel = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n";
        assert!(of(intel).unwrap().contains("Sapphire Rapids"));
        let amd = "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97\n";
        assert_eq!(of(amd).as_deref(), Some("AMD Zen 4"));
        assert_eq!(
            of("CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n").as_deref(),
            Some("Arm Neoverse V2")
        );
        assert_eq!(of("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 1\n"), None);
        let set = Set::processors().into_iter().find(|s| s.name == "AMD Zen 4").unwrap();
        assert_eq!(set.events["de_no_dispatch_per_slot.backend_stalls"].config(), 0x1_0000_1ea0);
    }
}

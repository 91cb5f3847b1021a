//! Events by microarchitecture, as data: `events/*.toml`, each with its source.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Cpu;
use crate::table::{Side, Step};

const FILES: [&str; 5] = [
    include_str!("../../events/intel-skylake.toml"),
    include_str!("../../events/intel-icelake.toml"),
    include_str!("../../events/intel-sapphire-rapids.toml"),
    include_str!("../../events/amd-zen3.toml"),
    include_str!("../../events/arm-neoverse-n1.toml"),
];

/// An event's encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// The event's number.
    pub code: u64,
    /// Its unit mask.
    #[serde(default)]
    pub umask: u64,
    /// Counts cycles in which it happened at least so often; 0: counts it.
    #[serde(default)]
    pub cmask: u64,
}

impl Encoding {
    /// The `config` of `perf_event_attr` for the core's counters (x86: code, unit mask and counter mask
    /// at bits 0, 8 and 24; Arm has the code alone).
    pub fn config(self) -> u64 {
        self.code & 0xff | self.umask << 8 | self.cmask << 24 | (self.code >> 8 & 0xf) << 32
    }
}

/// A bound of a cost: so many cycles for each of some events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtMost {
    /// Cycles for each.
    pub each: f64,
    /// Of these events.
    pub of: Vec<String>,
}

/// How a step is computed from events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRule {
    /// Which side.
    pub side: Side,
    /// Which step.
    pub step: Step,
    /// Its misses are the sum of these.
    pub misses: Vec<String>,
    /// Its cycles are the sum of these; none: not known.
    #[serde(default)]
    pub cycles: Vec<String>,
    /// Its cycles are at most this; absent: not known.
    #[serde(default)]
    pub at_most: Option<AtMost>,
}

/// How the walks for one page size are counted.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageRule {
    /// The page size, as text.
    pub size: String,
    /// Which side.
    pub side: Side,
    /// The walks are the sum of these.
    pub misses: Vec<String>,
}

/// A microarchitecture's events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Microarch {
    /// What it is called.
    pub name: String,
    /// Where names and formulas come from.
    pub source: String,
    vendor: String,
    family: u32,
    models: Vec<u32>,
    /// The kernel's name of the counters, under `/sys/bus/event_source/devices`.
    pub pmu: String,
    /// The event that counts the cycles that the shares are of.
    pub cycles: String,
    /// Encodings by name.
    pub events: BTreeMap<String, Encoding>,
    /// The steps.
    #[serde(rename = "step")]
    pub steps: Vec<StepRule>,
    /// By page size, where there is a count of it.
    #[serde(rename = "page", default)]
    pub pages: Vec<PageRule>,
}

impl Microarch {
    /// Every microarchitecture whose events are known.
    pub fn all() -> Vec<Microarch> {
        FILES.iter().map(|text| toml::from_str(text).expect("a test reads every file")).collect()
    }

    /// That of a processor; `None`: unknown, and nothing is made up for it.
    pub fn of(cpu: &Cpu) -> Option<Microarch> {
        Self::all().into_iter().find(|m| {
            m.vendor == cpu.vendor && m.family == cpu.family && m.models.contains(&cpu.model)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read_and_names_only_events_that_it_has() {
        for m in Microarch::all() {
            let steps = m.steps.iter();
            let named = steps.flat_map(|s| {
                let bound = s.at_most.iter().flat_map(|a| &a.of);
                s.misses.iter().chain(&s.cycles).chain(bound)
            });
            let pages = m.pages.iter().flat_map(|p| &p.misses);
            for name in named.chain(pages).chain([&m.cycles]) {
                assert!(m.events.contains_key(name), "{}: {name}", m.name);
            }
            assert!(m.source.contains("tools/perf/pmu-events"), "{}", m.name);
            for page in &m.pages {
                assert!(assay_model::units::parse_bytes(&page.size).is_ok(), "{}", page.size);
            }
        }
    }

    #[test]
    fn a_processor_leads_to_its_events_or_to_nothing() {
        let skylake =
            "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: x\n";
        let found = Microarch::of(&Cpu::parse(skylake).unwrap()).unwrap();
        assert!(found.name.contains("Skylake-SP"));
        let config = |name: &str| found.events[name].config();
        assert_eq!(config("DTLB_LOAD_MISSES.WALK_ACTIVE"), 0x0100_1008);
        assert_eq!(config("CPU_CLK_UNHALTED.THREAD"), 0x3c);
        let n1 = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(Microarch::of(&Cpu::parse(n1).unwrap()).unwrap().name, "Arm Neoverse N1");
        let other = Cpu { vendor: "GenuineIntel".into(), family: 6, model: 0xffff };
        assert_eq!(Microarch::of(&other), None);
        assert_eq!(Cpu::parse("processor: 0\n"), None);
    }
}

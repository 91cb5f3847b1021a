//! Counter events by microarchitecture, as data: `events/*.toml`, each with its source.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::CpuIdentity;
use crate::translation::table::{TranslationSide, TranslationStep};

const FILES: [&str; 5] = [
    include_str!("../../../events/intel-skylake.toml"),
    include_str!("../../../events/intel-icelake.toml"),
    include_str!("../../../events/intel-sapphire-rapids.toml"),
    include_str!("../../../events/amd-zen3.toml"),
    include_str!("../../../events/arm-neoverse-n1.toml"),
];

/// Encoding of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoding {
    /// Event code of the counter.
    pub code: u64,
    /// Unit mask of the event.
    #[serde(default)]
    pub umask: u64,
    /// If 0, counts occurrences; else counts cycles with at least this number of occurrences.
    #[serde(default)]
    pub cmask: u64,
}

impl Encoding {
    /// Returns the `config` of `perf_event_attr` for a core counter (x86: code, unit mask and
    /// counter mask at bits 0, 8 and 24; Arm has only the code).
    pub fn config(self) -> u64 {
        self.code & 0xff | self.umask << 8 | self.cmask << 24 | (self.code >> 8 & 0xf) << 32
    }
}

/// Upper bound of a cost: a number of cycles for each occurrence of some events.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostBound {
    /// Number of cycles per occurrence.
    pub each: f64,
    /// Events whose occurrences are added up.
    pub of: Vec<String>,
}

/// Formula for the cost of a step.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRule {
    pub side: TranslationSide,
    pub step: TranslationStep,
    /// Events whose sum is the number of misses.
    pub misses: Vec<String>,
    /// Events whose sum is the number of cycles; empty if unknown.
    #[serde(default)]
    pub cycles: Vec<String>,
    /// Upper bound of the cycles; absent if unknown.
    pub at_most: Option<CostBound>,
}

/// Formula for the number of walks for one page size.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageRule {
    /// Page size as text.
    pub size: String,
    pub side: TranslationSide,
    /// Events whose sum is the number of walks.
    pub misses: Vec<String>,
}

/// Events and formulas of a microarchitecture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Microarch {
    /// Name of the microarchitecture.
    pub name: String,
    /// Source of the event names and formulas.
    pub source: String,
    vendor: String,
    family: u32,
    models: Vec<u32>,
    /// Kernel's name of the counters, under `/sys/bus/event_source/devices`.
    pub pmu: String,
    /// Event that counts the cycles which shares are relative to.
    pub cycles: String,
    /// Encodings by event name.
    pub events: BTreeMap<String, Encoding>,
    /// Formulas of the steps.
    #[serde(rename = "step")]
    pub steps: Vec<StepRule>,
    /// Formulas by page size, where they can be counted.
    #[serde(rename = "page", default)]
    pub pages: Vec<PageRule>,
}

/// Processors of a microarchitecture.
#[derive(Deserialize)]
struct Processors {
    vendor: String,
    family: u32,
    models: Vec<u32>,
}

impl Microarch {
    /// Returns every microarchitecture with known events.
    pub fn all() -> Vec<Microarch> {
        FILES.iter().map(|text| toml::from_str(text).expect("a test reads every file")).collect()
    }

    /// Returns the microarchitecture of a processor, or `None` if it is unknown; events are never
    /// guessed.
    pub fn for_cpu(cpu: &CpuIdentity) -> Option<Microarch> {
        // The processors are named before the first table; reading all tables takes a millisecond.
        let head = |text: &&&str| {
            let head = text.split("\n[").next().unwrap_or_default();
            let head: Processors = toml::from_str(head).expect("a test reads every file");
            head.vendor == cpu.vendor
                && head.family == cpu.family
                && head.models.contains(&cpu.model)
        };
        let text = FILES.iter().find(head)?;
        Some(toml::from_str(text).expect("a test reads every file"))
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
        let found = Microarch::for_cpu(&CpuIdentity::parse(skylake).unwrap()).unwrap();
        assert!(found.name.contains("Skylake-SP"));
        let config = |name: &str| found.events[name].config();
        assert_eq!(config("DTLB_LOAD_MISSES.WALK_ACTIVE"), 0x0100_1008);
        assert_eq!(config("CPU_CLK_UNHALTED.THREAD"), 0x3c);
        let n1 = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(
            Microarch::for_cpu(&CpuIdentity::parse(n1).unwrap()).unwrap().name,
            "Arm Neoverse N1"
        );
        let other = CpuIdentity { vendor: "GenuineIntel".into(), family: 6, model: 0xffff };
        assert_eq!(Microarch::for_cpu(&other), None);
        assert_eq!(CpuIdentity::parse("processor: 0\n"), None);
    }
}

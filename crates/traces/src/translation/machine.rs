//! Description of a simulated machine: TLBs, TSBs, page sizes and costs of misses. Read from TOML.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::translation::access::ADDRESS_BITS;
use crate::translation::error::Error;

/// Built-in machines: name and TOML text.
pub const PRESETS: [(&str, &str); 4] = [
    ("solaris-9", include_str!("../../machines/solaris-9.toml")),
    ("solaris-10", include_str!("../../machines/solaris-10.toml")),
    ("two-level-tsb", include_str!("../../machines/two-level-tsb.toml")),
    ("x86-64", include_str!("../../machines/x86-64.toml")),
];

/// Accesses that a TLB serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TlbScope {
    /// Serves only instruction fetches.
    Instruction,
    /// Serves only loads and stores.
    Data,
    /// Serves instruction fetches, loads and stores.
    Both,
}

/// Replacement policy of a full set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// Replaces the least recently used entry.
    #[default]
    Lru,
    /// Replaces the oldest entry.
    Fifo,
    /// Replaces a random entry, chosen from a fixed seed.
    Random,
}

/// Description of one TLB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbSpec {
    /// Level of the TLB: 1 is looked up first, 2 after a miss in level 1.
    pub level: u8,
    /// Accesses that the TLB serves.
    pub holds: TlbScope,
    /// Page sizes that the TLB holds, in bytes.
    #[serde(deserialize_with = "sizes")]
    #[schemars(with = "Vec<String>")]
    pub pages: Vec<u64>,
    /// Number of translations that the TLB holds.
    pub entries: u32,
    /// Associativity: number of entries that one page can go to. If equal to `entries`, the TLB is
    /// fully associative.
    pub ways: u32,
    /// Replacement policy of a full set.
    #[serde(default)]
    pub replacement: Replacement,
}

/// TSBs of one size, created at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedTsb {
    /// Size of each TSB, in bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub bytes: u64,
    /// Number of TSBs of this size.
    pub count: u32,
}

/// Translation storage buffers (TSBs) of the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TsbSpec {
    /// TSBs are created at boot and shared between processes (Solaris 9 and earlier).
    Fixed {
        /// TSBs in the order in which they are assigned to processes.
        pools: Vec<FixedTsb>,
        /// True if the position of a translation also depends on its process, so that processes
        /// with the same addresses do not all use the same entry.
        mix_process: bool,
    },
    /// Each process has one TSB, which grows with its resident set (Solaris 10).
    Dynamic {
        /// Initial size of a process's TSB, in bytes.
        #[serde(deserialize_with = "size")]
        #[schemars(with = "String")]
        smallest: u64,
        /// Maximum size of a process's TSB, in bytes.
        #[serde(deserialize_with = "size")]
        #[schemars(with = "String")]
        largest: u64,
        /// Resident pages as a share of the entries, 0 to 1, above which the TSB doubles.
        fill: f64,
    },
}

/// Part of the address space with its own page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// First address of the region.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub from: u64,
    /// Address after the last one of the region.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub to: u64,
    /// Page size of the region, in bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub page: u64,
}

/// Page sizes that back the address space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PageSizes {
    /// Page size of instructions, in bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub instruction: u64,
    /// Page size of data, in bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub data: u64,
    /// Regions with another page size, for instructions and data alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<Region>,
}

impl PageSizes {
    /// Returns the page sizes in use, smallest first.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![self.instruction, self.data];
        sizes.extend(self.region.iter().map(|r| r.page));
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// Costs in cycles. Each miss adds its cost to that of the misses before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Cost of an access without translation: the program's own work between two accesses.
    pub access: f64,
    /// Cost of a miss in the first of two TLB levels: the lookup in the second.
    #[serde(default)]
    pub second_level: f64,
    /// Cost of a miss in all TLBs: the page walk, or the trap that looks up the TSB.
    pub tlb_miss: f64,
    /// Cost of a miss in the TSB: the search of the page tables.
    #[serde(default)]
    pub tsb_miss: f64,
}

/// Description of a machine to simulate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedMachine {
    /// Description of the machine, as a phrase.
    pub name: String,
    /// Clock rate in cycles per second, to compute counts per second.
    pub clock_hz: f64,
    /// True if a switch to another process flushes the TLBs; otherwise entries are tagged with
    /// their process.
    #[serde(default)]
    pub flush_on_switch: bool,
    /// Page sizes of instructions, data and regions.
    pub pages: PageSizes,
    /// Costs of accesses and misses, in cycles.
    pub cycles: Costs,
    /// All TLBs of the machine.
    pub tlb: Vec<TlbSpec>,
    /// TSBs of the machine. Absent: the hardware walks the page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tsb: Option<TsbSpec>,
}

impl SimulatedMachine {
    /// Returns a built-in machine.
    ///
    /// # Errors
    /// If there is no machine with this name.
    pub fn preset(name: &str) -> Result<Self, Error> {
        let found = PRESETS.iter().find(|p| p.0 == name);
        let known = || PRESETS.map(|p| p.0).join(", ");
        let none = || Error::NoMachine { name: name.to_owned(), known: known() };
        Self::parse(found.ok_or_else(none)?.1, Path::new(name))
    }

    /// Returns the TOML of a machine, given the name of a built-in one or the path of a file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn text(name: &str) -> Result<String, Error> {
        if let Some(preset) = PRESETS.iter().find(|p| p.0 == name) {
            return Ok(preset.1.to_owned());
        }
        let path = Path::new(name);
        std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    /// Returns a machine, given the name of a built-in one or the path of a file.
    ///
    /// # Errors
    /// If there is no such machine, or its file is invalid.
    pub fn find(name: &str) -> Result<Self, Error> {
        if !name.contains(['/', '.']) {
            return Self::preset(name);
        }
        Self::parse(&Self::text(name)?, Path::new(name))
    }

    /// Parses a machine from TOML. `path` is only for messages.
    ///
    /// # Errors
    /// If the text is not TOML or does not describe a possible machine.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let machine: SimulatedMachine = toml::from_str(text).map_err(|source| {
            Error::MachineFile { path: path.to_owned(), source: Box::new(source) }
        })?;
        machine.check()?;
        Ok(machine)
    }

    /// Returns the number of TLB levels.
    pub fn levels(&self) -> u8 {
        self.tlb.iter().map(|t| t.level).max().unwrap_or(0)
    }

    /// Checks that the machine is possible.
    ///
    /// # Errors
    /// Names the part that is impossible, the reason, and a valid alternative.
    pub fn check(&self) -> Result<(), Error> {
        let positive = |name: &str, v: f64| {
            let good = v.is_finite() && v > 0.0;
            good.then_some(()).ok_or_else(|| Error::machine(name, "must be a number above 0"))
        };
        positive("clock_hz", self.clock_hz)?;
        positive("cycles.access", self.cycles.access)?;
        let c = &self.cycles;
        if [c.second_level, c.tlb_miss, c.tsb_miss].iter().any(|v| !v.is_finite() || *v < 0.0) {
            return Err(Error::machine("cycles", "a miss costs 0 or more cycles"));
        }
        self.check_pages()?;
        for (i, tlb) in self.tlb.iter().enumerate() {
            self.check_tlb(&format!("tlb {}", i + 1), i, tlb)?;
        }
        self.check_reach()?;
        self.tsb.as_ref().map_or(Ok(()), check_tsb)
    }

    fn check_pages(&self) -> Result<(), Error> {
        let wrong = |reason: String| Err(Error::machine("pages", reason));
        let sizes = self.pages.sizes();
        if sizes.len() > MAX_SIZES {
            return wrong(format!("{} page sizes; at most {MAX_SIZES} are taken", sizes.len()));
        }
        for size in &sizes {
            page_size(*size).or_else(wrong)?;
        }
        let mut regions = self.pages.region.clone();
        regions.sort_unstable_by_key(|r| r.from);
        for r in &regions {
            let text = format!("region {:#x} to {:#x}", r.from, r.to);
            if r.from >= r.to || r.to > 1 << ADDRESS_BITS {
                return wrong(format!("{text} must rise, and end by 2^{ADDRESS_BITS}"));
            }
            if !r.from.is_multiple_of(r.page) || !r.to.is_multiple_of(r.page) {
                return wrong(format!(
                    "{text} must begin and end on its page size of {} B",
                    r.page
                ));
            }
        }
        match regions.windows(2).find(|w| w[0].to > w[1].from) {
            Some(w) => wrong(format!("two regions overlap at {:#x}", w[1].from)),
            None => Ok(()),
        }
    }

    fn check_tlb(&self, place: &str, index: usize, tlb: &TlbSpec) -> Result<(), Error> {
        let wrong = |reason: String| Err(Error::machine(place, reason));
        let TlbSpec { level, entries, ways, .. } = *tlb;
        if !(1..=2).contains(&level) {
            return wrong(format!("level {level}; there are levels 1 and 2"));
        }
        if entries == 0 || ways == 0 || entries > 1 << 20 || ways > 4096 {
            return wrong(format!(
                "{entries} entries of {ways} ways; it takes 1 to {} entries and 1 to 4096 ways",
                1 << 20
            ));
        }
        if !entries.is_multiple_of(ways) {
            return wrong(format!("{ways} ways do not divide {entries} entries into sets"));
        }
        if !(entries / ways).is_power_of_two() {
            return wrong(format!(
                "{entries} entries of {ways} ways are {} sets; a set is found by bits of the page \
                 number, so their number is a power of two",
                entries / ways
            ));
        }
        if tlb.pages.is_empty() {
            return wrong("it holds no page size".into());
        }
        for size in &tlb.pages {
            page_size(*size).or_else(wrong)?;
        }
        let both = |a: TlbScope, b: TlbScope| a == b || a == TlbScope::Both || b == TlbScope::Both;
        let rival = self.tlb[..index].iter().position(|o| {
            o.level == level
                && both(o.holds, tlb.holds)
                && o.pages.iter().any(|p| tlb.pages.contains(p))
        });
        match rival {
            Some(other) => wrong(format!(
                "it and tlb {} hold the same pages on the same level; a page has one place",
                other + 1
            )),
            None => Ok(()),
        }
    }

    /// Checks that the first level holds every page size in use.
    fn check_reach(&self) -> Result<(), Error> {
        let holds = |side: TlbScope, page: u64| {
            self.tlb.iter().any(|t| {
                t.level == 1
                    && (t.holds == side || t.holds == TlbScope::Both)
                    && t.pages.contains(&page)
            })
        };
        let usual =
            [(TlbScope::Instruction, self.pages.instruction), (TlbScope::Data, self.pages.data)];
        let regions = self.pages.region.iter();
        let regions =
            regions.flat_map(|r| [(TlbScope::Instruction, r.page), (TlbScope::Data, r.page)]);
        for (side, page) in usual.into_iter().chain(regions) {
            if !holds(side, page) {
                let side = if side == TlbScope::Data { "data" } else { "instruction" };
                return Err(Error::machine(
                    "tlb",
                    format!("no TLB of level 1 holds {side} pages of {page} B, which `pages` uses"),
                ));
            }
        }
        let shared = self.tlb.iter().any(|t| t.level == 1 && t.holds == TlbScope::Both);
        if shared && self.pages.instruction != self.pages.data {
            return Err(Error::machine(
                "pages",
                "a first-level TLB that holds both sides needs one size for instruction and data; \
                 give other parts a region",
            ));
        }
        Ok(())
    }
}

fn page_size(bytes: u64) -> Result<(), String> {
    if bytes.is_power_of_two() && (4096..=1 << 40).contains(&bytes) {
        return Ok(());
    }
    Err(format!("a page of {bytes} B; pages are powers of two from 4 KiB to 1 TiB"))
}

fn check_tsb(tsb: &TsbSpec) -> Result<(), Error> {
    let wrong = |reason: String| Err(Error::machine("tsb", reason));
    let one = |bytes: u64| {
        let good = bytes.is_power_of_two() && (8 << 10..=1 << 20).contains(&bytes);
        good.then_some(()).ok_or_else(|| {
            Error::machine("tsb", format!("{bytes} B; a TSB is a power of two from 8 KiB to 1 MiB"))
        })
    };
    match tsb {
        TsbSpec::Fixed { pools, .. } => {
            for pool in pools {
                one(pool.bytes)?;
            }
            match pools.iter().map(|p| u64::from(p.count)).sum::<u64>() {
                1..=1024 => Ok(()),
                n => wrong(format!("{n} TSBs; it takes 1 to 1024 of them")),
            }
        }
        TsbSpec::Dynamic { smallest, largest, fill } => {
            one(*smallest)?;
            one(*largest)?;
            if smallest > largest {
                return wrong(format!("`smallest` is {smallest} B and `largest` {largest} B"));
            }
            if !(*fill > 0.0 && *fill <= 1.0) {
                return wrong(format!("`fill` is {fill}; it is a share of the entries, 0 to 1"));
            }
            debug_assert!(*smallest >= ENTRY);
            Ok(())
        }
    }
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let value = assay_model::Scalar::deserialize(from)?;
    assay_model::units::bytes_of(&value).map_err(serde::de::Error::custom)
}

fn sizes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let values = Vec::<assay_model::Scalar>::deserialize(from)?;
    let each = values.iter().map(assay_model::units::bytes_of);
    each.collect::<Result<_, _>>().map_err(serde::de::Error::custom)
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    u64::from_str_radix(digits, 16)
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is not an address like 0x7f0000")))
}

/// Maximum number of page sizes of a machine.
pub(crate) const MAX_SIZES: usize = 7;

/// Size of a TSB entry in bytes: a tag and a translation of eight bytes each.
pub(crate) const ENTRY: u64 = 16;

//! A machine as the simulator knows it: TLBs, TSBs, page sizes and what misses cost. Read from TOML.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::access::ADDRESS_BITS;
use crate::error::Error;

/// The machines that ship, by name, as TOML.
pub const PRESETS: [(&str, &str); 4] = [
    ("solaris-9", include_str!("../machines/solaris-9.toml")),
    ("solaris-10", include_str!("../machines/solaris-10.toml")),
    ("two-level-tsb", include_str!("../machines/two-level-tsb.toml")),
    ("x86-64", include_str!("../machines/x86-64.toml")),
];

/// Which accesses a TLB serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// Instruction fetches.
    Instruction,
    /// Loads and stores.
    Data,
    /// Both.
    Both,
}

/// Which entry of a full set goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// The one that was not used for the longest time.
    #[default]
    Lru,
    /// The one that came first.
    Fifo,
    /// Any, from a fixed seed.
    Random,
}

/// A TLB.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbSpec {
    /// 1: looked into first; 2: when that missed.
    pub level: u8,
    /// Which accesses it serves.
    pub holds: Holds,
    /// Page sizes that it holds, bytes.
    #[serde(deserialize_with = "sizes")]
    #[schemars(with = "Vec<String>")]
    pub pages: Vec<u64>,
    /// How many translations.
    pub entries: u32,
    /// How many of them one page may go to; as many as `entries`: fully associative.
    pub ways: u32,
    /// Which goes when a set is full.
    #[serde(default)]
    pub replacement: Replacement,
}

/// TSBs of one size, made at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedTsb {
    /// Bytes of each.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub bytes: u64,
    /// How many.
    pub count: u32,
}

/// The TSBs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TsbSpec {
    /// Made at boot and shared between processes (Solaris 9 and before).
    Fixed {
        /// What was made, in the order in which processes are given one.
        pools: Vec<FixedTsb>,
        /// Whether the place of a translation depends on its process too, so that processes with the
        /// same addresses do not all meet in one place.
        mix_process: bool,
    },
    /// One for each process, that grows with its resident set (Solaris 10).
    Dynamic {
        /// What a process starts with, bytes.
        #[serde(deserialize_with = "size")]
        #[schemars(with = "String")]
        smallest: u64,
        /// What it may grow to, bytes.
        #[serde(deserialize_with = "size")]
        #[schemars(with = "String")]
        largest: u64,
        /// Resident pages, as a share of the entries, above which it doubles.
        fill: f64,
    },
}

/// A part of the address space with a page size of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Its first address.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub from: u64,
    /// One past its last address.
    #[serde(deserialize_with = "address")]
    #[schemars(with = "String")]
    pub to: u64,
    /// Its page size, bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub page: u64,
}

/// Which page sizes back the address space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pages {
    /// What instructions lie on, bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub instruction: u64,
    /// What data lies on, bytes.
    #[serde(deserialize_with = "size")]
    #[schemars(with = "String")]
    pub data: u64,
    /// Parts that are otherwise, whoever accesses them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub region: Vec<Region>,
}

impl Pages {
    /// The sizes in use, the smallest first.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![self.instruction, self.data];
        sizes.extend(self.region.iter().map(|r| r.page));
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

/// What things cost, in cycles. Each miss costs its own on top of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// An access, with everything but translation: the program's own work between two accesses.
    pub access: f64,
    /// A miss in the first of two levels: looking into the second.
    #[serde(default)]
    pub second_level: f64,
    /// A miss in all TLBs: the page walk, or the trap that looks into the TSB.
    pub tlb_miss: f64,
    /// A miss in the TSB: the search of the page tables.
    #[serde(default)]
    pub tsb_miss: f64,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// What it is, as a phrase.
    pub name: String,
    /// Cycles a second, for counts per second.
    pub clock_hz: f64,
    /// Whether a switch to another process empties the TLBs; otherwise entries know their process.
    #[serde(default)]
    pub flush_on_switch: bool,
    /// Page sizes.
    pub pages: Pages,
    /// Costs.
    pub cycles: Costs,
    /// The TLBs.
    pub tlb: Vec<TlbSpec>,
    /// The TSBs; absent: the hardware walks the page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tsb: Option<TsbSpec>,
}

impl Machine {
    /// A machine that ships.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn preset(name: &str) -> Result<Self, Error> {
        let found = PRESETS.iter().find(|p| p.0 == name);
        let known = || PRESETS.map(|p| p.0).join(", ");
        let none = || Error::NoMachine { name: name.to_owned(), known: known() };
        Self::parse(found.ok_or_else(none)?.1, Path::new(name))
    }

    /// The TOML of a machine, by the name of one that ships or by the path of its file.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn text(name: &str) -> Result<String, Error> {
        if let Some(preset) = PRESETS.iter().find(|p| p.0 == name) {
            return Ok(preset.1.to_owned());
        }
        let path = Path::new(name);
        std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    /// A machine by the name of one that ships, or by the path of its file.
    ///
    /// # Errors
    /// There is none, or its file is wrong.
    pub fn find(name: &str) -> Result<Self, Error> {
        if !name.contains(['/', '.']) {
            return Self::preset(name);
        }
        Self::parse(&Self::text(name)?, Path::new(name))
    }

    /// Reads a machine's TOML; `path` is for messages.
    ///
    /// # Errors
    /// It is no TOML, or no machine, or one that cannot be.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let machine: Machine = toml::from_str(text).map_err(|source| Error::MachineFile {
            path: path.to_owned(),
            source: Box::new(source),
        })?;
        machine.check()?;
        Ok(machine)
    }

    /// How many levels of TLBs.
    pub fn levels(&self) -> u8 {
        self.tlb.iter().map(|t| t.level).max().unwrap_or(0)
    }

    /// Whether it can be.
    ///
    /// # Errors
    /// Which part cannot, why, and what would be right.
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
        let both = |a: Holds, b: Holds| a == b || a == Holds::Both || b == Holds::Both;
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

    /// Whether the first level holds every page size in use.
    fn check_reach(&self) -> Result<(), Error> {
        let holds = |side: Holds, page: u64| {
            self.tlb.iter().any(|t| {
                t.level == 1
                    && (t.holds == side || t.holds == Holds::Both)
                    && t.pages.contains(&page)
            })
        };
        let usual = [(Holds::Instruction, self.pages.instruction), (Holds::Data, self.pages.data)];
        let regions = self.pages.region.iter();
        let regions = regions.flat_map(|r| [(Holds::Instruction, r.page), (Holds::Data, r.page)]);
        for (side, page) in usual.into_iter().chain(regions) {
            if !holds(side, page) {
                let side = if side == Holds::Data { "data" } else { "instruction" };
                return Err(Error::machine(
                    "tlb",
                    format!("none of level 1 holds {side} pages of {page} B, which `pages` uses"),
                ));
            }
        }
        let shared = self.tlb.iter().any(|t| t.level == 1 && t.holds == Holds::Both);
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
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is no address such as `0x7f0000`")))
}

/// More page sizes than this are refused.
pub(crate) const MAX_SIZES: usize = 7;

/// Bytes of one entry: a tag and a translation of eight bytes each.
pub(crate) const ENTRY: u64 = 16;

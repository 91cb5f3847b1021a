//! Takes a stream of records through the TLBs and TSBs of a machine and counts.
//!
//! A translation is looked for in the first level's TLB for its side (instruction or data) and page
//! size, then in the second level's, then in the process's TSB. Where it was missed on the way it is
//! taken in. What was used last on a side is in its first level for certain, so an access to the same
//! page again is only counted: nothing else could change by it.

use crate::access::{Record, kind_of, payload_of};
use crate::error::Error;
use crate::machine::{Holds, MAX_SIZES, Machine, Pages};
use crate::tlb::Tlb;
use crate::tsb::Tsbs;

/// More processes than this are refused: each may have a TSB of its own.
pub const MAX_PROCESSES: usize = 1024;

const PAGE_BITS: u32 = 45;
const PROCESS_BITS: u32 = 16;

/// The page number in a key. A key is page number, process and size code, in one word; size code 7 is
/// never given, so no key is [`crate::tlb::EMPTY`].
pub(crate) fn page_of(key: u64) -> u64 {
    key & ((1 << PAGE_BITS) - 1)
}

/// What was missed, of one page size on one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Not in the first level.
    pub first_misses: u64,
    /// In no TLB.
    pub tlb_misses: u64,
    /// Not in the TSB either; 0 for a machine without TSBs.
    pub tsb_misses: u64,
}

/// One side: instruction or data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SideCounts {
    /// Accesses; what continues on the next page is not counted again.
    pub accesses: u64,
    /// By page size, in the order of [`Simulator::page_sizes`].
    pub pages: [PageCounts; MAX_SIZES],
}

/// Both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instruction fetches.
    pub instruction: SideCounts,
    /// Loads, stores, and what does both.
    pub data: SideCounts,
}

/// A TSB at the end.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct TsbUse {
    /// Its size, bytes.
    pub bytes: u64,
    /// How many processes used it.
    pub processes: u32,
    /// How often it was looked into.
    pub lookups: u64,
    /// How often in vain.
    pub misses: u64,
}

/// No page, for the memory of what was used last.
const NOTHING: u64 = u64::MAX;

/// A machine at work.
#[derive(Debug, Clone)]
pub struct Simulator {
    tlbs: Vec<Tlb>,
    /// The TLB of a level, side and size code; `None`: that level does not hold such pages.
    first: [[Option<usize>; MAX_SIZES]; 2],
    second: [[Option<usize>; MAX_SIZES]; 2],
    has_second: bool,
    tsbs: Option<Tsbs>,
    pages: PageMap,
    flush: bool,
    /// The page of 4 KiB used last on each side; one for both where they share a first-level TLB.
    last: [u64; 2],
    last_of_fetch: usize,
    process: usize,
    known: Vec<u64>,
    /// Of instructions, of data.
    accesses: [u64; 2],
    misses: [[PageCounts; MAX_SIZES]; 2],
    records: u64,
}

impl Simulator {
    /// The machine with nothing in its TLBs.
    ///
    /// # Errors
    /// The machine cannot be; see [`Machine::check`].
    pub fn new(machine: &Machine) -> Result<Self, Error> {
        machine.check()?;
        let pages = PageMap::new(&machine.pages);
        let mut tables = [[[None; MAX_SIZES]; 2]; 2];
        let mut tlbs = Vec::new();
        for spec in &machine.tlb {
            let sides: &[usize] = match spec.holds {
                Holds::Instruction => &[0],
                Holds::Data => &[1],
                Holds::Both => &[0, 1],
            };
            for (code, bytes) in pages.sizes.iter().enumerate() {
                if spec.pages.contains(bytes) {
                    for side in sides {
                        tables[spec.level as usize - 1][*side][code] = Some(tlbs.len());
                    }
                }
            }
            let (entries, ways) = (spec.entries as usize, spec.ways as usize);
            tlbs.push(Tlb::new(entries, ways, spec.replacement));
        }
        let [first, second] = tables;
        let shared = first[0].iter().flatten().any(|t| first[1].contains(&Some(*t)));
        Ok(Simulator {
            tlbs,
            first,
            second,
            has_second: machine.levels() > 1,
            tsbs: machine.tsb.as_ref().map(Tsbs::new),
            pages,
            flush: machine.flush_on_switch,
            last: [NOTHING; 2],
            last_of_fetch: usize::from(shared),
            process: 0,
            known: Vec::with_capacity(MAX_PROCESSES),
            accesses: [0; 2],
            misses: [[PageCounts::default(); MAX_SIZES]; 2],
            records: 0,
        })
    }

    /// Takes records through, in order.
    ///
    /// # Errors
    /// One of them is no record, or there are too many processes.
    pub fn run(&mut self, records: &[u64]) -> Result<(), Error> {
        // Counted in registers: a counter in memory for each kind would be waited for.
        let (mut fetches, mut data) = (0u64, 0u64);
        for (index, record) in records.iter().enumerate() {
            let kind = kind_of(*record);
            if kind >= 6 {
                self.special(kind, payload_of(*record), index as u64)?;
                continue;
            }
            fetches += u64::from(kind == Record::Fetch as u64);
            data += u64::from(kind < Record::DataContinued as u64);
            let page = payload_of(*record) >> 12;
            let fetch = kind >= 4;
            let slot = if fetch { self.last_of_fetch } else { 1 };
            if self.last[slot] != page {
                self.last[slot] = page;
                self.translate(usize::from(!fetch), payload_of(*record))?;
            }
        }
        self.records += records.len() as u64;
        self.accesses[0] += fetches;
        self.accesses[1] += data;
        Ok(())
    }

    #[inline]
    fn translate(&mut self, side: usize, address: u64) -> Result<(), Error> {
        if self.known.is_empty() {
            self.switch(0, 0)?;
        }
        let (code, shift) = self.pages.at(side, address);
        let page = address >> shift;
        let key =
            page | (self.process as u64) << PAGE_BITS | (code as u64) << (PAGE_BITS + PROCESS_BITS);
        // The machine's check saw to it that the first level holds every page size in use.
        let Some(first) = self.first[side][code] else { return Ok(()) };
        if self.tlbs[first].hit(page, key) {
            return Ok(());
        }
        self.tlbs[first].insert(page, key);
        let missed = &mut self.misses[side][code];
        missed.first_misses += 1;
        if self.has_second
            && let Some(second) = self.second[side][code]
        {
            if self.tlbs[second].hit(page, key) {
                return Ok(());
            }
            self.tlbs[second].insert(page, key);
        }
        missed.tlb_misses += 1;
        if let Some(tsbs) = &mut self.tsbs
            && !tsbs.look(self.process, page, key)
        {
            missed.tsb_misses += 1;
        }
        Ok(())
    }

    #[cold]
    fn special(&mut self, kind: u64, payload: u64, index: u64) -> Result<(), Error> {
        match kind {
            6 => self.switch(payload, index),
            7 => Ok(()),
            _ => Err(Error::Record {
                index: self.records + index,
                reason: "its upper bits are set, so it is none; is this another format?".into(),
            }),
        }
    }

    #[cold]
    fn switch(&mut self, number: u64, index: u64) -> Result<(), Error> {
        let next = match self.known.iter().position(|k| *k == number) {
            Some(known) => known,
            None if self.known.len() == MAX_PROCESSES => {
                return Err(Error::Record {
                    index: self.records + index,
                    reason: format!("more than {MAX_PROCESSES} processes"),
                });
            }
            None => {
                self.known.push(number);
                if let Some(tsbs) = &mut self.tsbs {
                    tsbs.admit();
                }
                self.known.len() - 1
            }
        };
        if self.flush && next != self.process {
            self.tlbs.iter_mut().for_each(Tlb::flush);
        }
        self.process = next;
        self.last = [NOTHING; 2];
        Ok(())
    }

    /// What was counted so far.
    pub fn counts(&self) -> Counts {
        Counts {
            instruction: SideCounts { accesses: self.accesses[0], pages: self.misses[0] },
            data: SideCounts { accesses: self.accesses[1], pages: self.misses[1] },
        }
    }

    /// The page sizes in use, bytes.
    pub fn page_sizes(&self) -> &[u64] {
        &self.pages.sizes
    }

    /// How many processes ran.
    pub fn processes(&self) -> usize {
        self.known.len().max(1)
    }

    /// Each TSB as it is now; none for a machine without.
    pub fn tsbs(&self) -> Vec<TsbUse> {
        let uses = self.tsbs.iter().flat_map(Tsbs::uses);
        uses.map(|(bytes, processes, lookups, misses)| TsbUse { bytes, processes, lookups, misses })
            .collect()
    }
}

/// Which page size backs an address.
#[derive(Debug, Clone)]
struct PageMap {
    sizes: Vec<u64>,
    usual: [(usize, u32); 2],
    regions: Vec<(u64, u64, usize, u32)>,
}

impl PageMap {
    fn new(pages: &Pages) -> Self {
        let sizes = pages.sizes();
        let code = |bytes: u64| {
            (sizes.iter().position(|s| *s == bytes).unwrap_or(0), bytes.trailing_zeros())
        };
        let mut regions: Vec<(u64, u64, usize, u32)> = pages
            .region
            .iter()
            .map(|r| {
                let (c, shift) = code(r.page);
                (r.from, r.to, c, shift)
            })
            .collect();
        regions.sort_unstable();
        PageMap { usual: [code(pages.instruction), code(pages.data)], regions, sizes }
    }

    /// Code and shift of the page size at an address.
    #[inline]
    fn at(&self, side: usize, address: u64) -> (usize, u32) {
        if !self.regions.is_empty() {
            let after = self.regions.partition_point(|r| r.0 <= address);
            if let Some(r) = after.checked_sub(1).map(|i| self.regions[i])
                && address < r.1
            {
                return (r.2, r.3);
            }
        }
        self.usual[side]
    }
}

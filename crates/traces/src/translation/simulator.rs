//! Runs a stream of records through the TLBs and TSBs of a machine and counts misses.
//!
//! A translation is looked up in the first-level TLB for its side (instruction or data) and page
//! size, then in the second-level TLB, then in the TSB of the process, and is inserted wherever it
//! missed. The page used last on a side is always in its first-level TLB, so a repeated access to
//! the same page is only counted: no state could change.

use crate::translation::access::{Record, kind_of, payload_of};
use crate::translation::error::Error;
use crate::translation::machine::{MAX_SIZES, PageSizes, SimulatedMachine, TlbScope};
use crate::translation::tlb::Tlb;
use crate::translation::tsb::Tsbs;

/// Maximum number of processes, because each may have its own TSB.
pub const MAX_PROCESSES: usize = 1024;

const PAGE_BITS: u32 = 45;
const PROCESS_BITS: u32 = 16;

/// Returns the page number of a key. A key packs page number, process and size code into one word.
/// Size code 7 is never used, so no key equals [`crate::translation::tlb::EMPTY`].
pub(crate) fn page_of(key: u64) -> u64 {
    key & ((1 << PAGE_BITS) - 1)
}

/// Misses of one page size on one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Misses in the first TLB level.
    pub first_misses: u64,
    /// Misses in all TLBs.
    pub tlb_misses: u64,
    /// Misses in the TSB after a TLB miss; 0 for a machine without TSBs.
    pub tsb_misses: u64,
}

/// Counts of one side: instruction or data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SideCounts {
    /// Accesses. One that continues on the next page counts once.
    pub accesses: u64,
    /// Misses by page size, in the order of [`Simulator::page_sizes`].
    pub pages: [PageCounts; MAX_SIZES],
}

/// Counts of both sides.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LookupCounts {
    /// Counts of instruction fetches.
    pub instruction: SideCounts,
    /// Counts of loads, stores and accesses that do both.
    pub data: SideCounts,
}

/// State of a TSB at the end of the simulation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
pub struct TsbUse {
    /// Size of the TSB, in bytes.
    pub bytes: u64,
    /// Number of processes that used the TSB.
    pub processes: u32,
    /// Number of lookups in the TSB.
    pub lookups: u64,
    /// Number of lookups that missed.
    pub misses: u64,
}

/// Value of `Simulator::last` before the first access.
const NOTHING: u64 = u64::MAX;

/// Simulated state of a machine, with its counts.
#[derive(Debug, Clone)]
pub struct Simulator {
    tlbs: Vec<Tlb>,
    /// Index of the TLB by side and size code; `None` if the level does not hold such pages.
    first: [[Option<usize>; MAX_SIZES]; 2],
    second: [[Option<usize>; MAX_SIZES]; 2],
    has_second: bool,
    tsbs: Option<Tsbs>,
    pages: PageMap,
    flush: bool,
    /// 4 KiB page used last on each side; both sides use slot 1 if they share a first-level TLB.
    last: [u64; 2],
    last_of_fetch: usize,
    process: usize,
    known: Vec<u64>,
    /// Number of instruction and data accesses.
    accesses: [u64; 2],
    misses: [[PageCounts; MAX_SIZES]; 2],
    records: u64,
}

impl Simulator {
    /// Creates a machine with empty TLBs.
    ///
    /// # Errors
    /// If the machine is impossible; see [`SimulatedMachine::check`].
    pub fn new(machine: &SimulatedMachine) -> Result<Self, Error> {
        machine.check()?;
        let pages = PageMap::new(&machine.pages);
        let mut tables = [[[None; MAX_SIZES]; 2]; 2];
        let mut tlbs = Vec::new();
        for spec in &machine.tlb {
            let sides: &[usize] = match spec.holds {
                TlbScope::Instruction => &[0],
                TlbScope::Data => &[1],
                TlbScope::Both => &[0, 1],
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

    /// Simulates records in order.
    ///
    /// # Errors
    /// If a record is invalid or there are too many processes.
    pub fn run(&mut self, records: &[u64]) -> Result<(), Error> {
        // Local counters stay in registers; a counter in memory for each kind would stall the loop.
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
        // `SimulatedMachine::check` ensures that the first level holds every page size in use.
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
                reason: "its upper bits are set; is this another format?".into(),
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

    pub fn counts(&self) -> LookupCounts {
        LookupCounts {
            instruction: SideCounts { accesses: self.accesses[0], pages: self.misses[0] },
            data: SideCounts { accesses: self.accesses[1], pages: self.misses[1] },
        }
    }

    /// Returns the page sizes in use, in bytes.
    pub fn page_sizes(&self) -> &[u64] {
        &self.pages.sizes
    }

    /// Returns the number of processes that ran.
    pub fn processes(&self) -> usize {
        self.known.len().max(1)
    }

    /// Returns the current state of each TSB; empty for a machine without TSBs.
    pub fn tsbs(&self) -> Vec<TsbUse> {
        let uses = self.tsbs.iter().flat_map(Tsbs::uses);
        uses.map(|(bytes, processes, lookups, misses)| TsbUse { bytes, processes, lookups, misses })
            .collect()
    }
}

/// Page sizes by address.
#[derive(Debug, Clone)]
struct PageMap {
    sizes: Vec<u64>,
    usual: [(usize, u32); 2],
    regions: Vec<(u64, u64, usize, u32)>,
}

impl PageMap {
    fn new(pages: &PageSizes) -> Self {
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

    /// Returns the code and shift of the page size at an address.
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

//! Translation storage buffers: tables in memory that the trap handler looks up on a TLB miss.
//!
//! A TSB is direct mapped: the page number modulo the number of entries gives the position of a
//! translation (a shared TSB may offset it by process, as the TSB extension registers of UltraSPARC
//! III can), and its tag identifies the owner. Entries are 16 bytes (UltraSPARC Architecture).
//!
//! *Fixed*, as in Solaris 9: TSBs of two sizes are created at boot. A process is assigned the one
//! with the fewest users when it first runs, and keeps it. *Dynamic*, as in Solaris 10: each
//! process has its own TSB, which doubles when more pages of the process are resident than `fill`
//! of the entries (`tsb_rss_factor`), and keeps its contents.

use crate::translation::machine::{ENTRY, TsbSpec};
use crate::translation::resident::Resident;
use crate::translation::tlb::EMPTY;

/// Odd, with bits set all over the low 16, so that the positions of different processes are far
/// apart.
const MIX: u64 = 0x79b1;

#[derive(Debug, Clone)]
struct Tsb {
    keys: Box<[u64]>,
    users: u32,
    lookups: u64,
    misses: u64,
}

impl Tsb {
    fn new(bytes: u64) -> Self {
        let entries = (bytes / ENTRY) as usize;
        let keys = vec![EMPTY; entries].into_boxed_slice();
        Tsb { keys, users: 0, lookups: 0, misses: 0 }
    }
}

#[derive(Debug, Clone)]
struct TsbGrowth {
    largest: u64,
    fill: f64,
    /// Resident pages by process.
    resident: Vec<Resident>,
}

/// All TSBs of a machine.
#[derive(Debug, Clone)]
pub(crate) struct Tsbs {
    tables: Vec<Tsb>,
    /// Index of the TSB of each process.
    of: Vec<u32>,
    smallest: u64,
    /// Multiplied by the process number to offset its translations; 0 for no offset.
    mix: u64,
    growth: Option<TsbGrowth>,
}

impl Tsbs {
    pub fn new(spec: &TsbSpec) -> Self {
        match spec {
            TsbSpec::Fixed { pools, mix_process } => {
                let each = |p: &crate::translation::machine::FixedTsb| {
                    std::iter::repeat_n(p.bytes, p.count as usize).map(Tsb::new).collect::<Vec<_>>()
                };
                let tables = pools.iter().flat_map(each).collect();
                Tsbs {
                    tables,
                    of: Vec::new(),
                    smallest: 0,
                    growth: None,
                    mix: u64::from(*mix_process) * MIX,
                }
            }
            TsbSpec::Dynamic { smallest, largest, fill } => Tsbs {
                tables: Vec::new(),
                of: Vec::new(),
                smallest: *smallest,
                mix: 0,
                growth: Some(TsbGrowth { largest: *largest, fill: *fill, resident: Vec::new() }),
            },
        }
    }

    /// Assigns a TSB to the next process. Processes are numbered from 0 in the order of their first
    /// run.
    pub fn admit(&mut self) {
        let table = match &mut self.growth {
            Some(growth) => {
                self.tables.push(Tsb::new(self.smallest));
                growth.resident.push(Resident::new(limit(self.smallest, growth.fill)));
                self.tables.len() - 1
            }
            // The first of the TSBs with the fewest users.
            None => (0..self.tables.len()).min_by_key(|t| self.tables[*t].users).unwrap_or(0),
        };
        self.tables[table].users += 1;
        self.of.push(table as u32);
    }

    /// Looks up a translation after a TLB miss and inserts it on a TSB miss. Returns true on a hit.
    #[inline]
    pub fn look(&mut self, process: usize, page: u64, key: u64) -> bool {
        let table = &mut self.tables[self.of[process] as usize];
        let mask = table.keys.len() - 1;
        table.lookups += 1;
        let place = page ^ (process as u64).wrapping_mul(self.mix);
        let slot = &mut table.keys[place as usize & mask];
        if *slot == key {
            return true;
        }
        *slot = key;
        table.misses += 1;
        if self.growth.is_some() {
            self.touched(process, key);
        }
        false
    }

    /// Records a page that missed, which may be new, as resident. Doubles the TSB if too many pages
    /// are resident.
    #[inline(never)]
    fn touched(&mut self, process: usize, key: u64) {
        let Some(growth) = &mut self.growth else { return };
        let table = &mut self.tables[process];
        let bytes = table.keys.len() as u64 * ENTRY;
        if bytes >= growth.largest || !growth.resident[process].add(key) {
            return;
        }
        let mut larger = vec![EMPTY; table.keys.len() * 2].into_boxed_slice();
        let mask = larger.len() - 1;
        for key in table.keys.iter().filter(|k| **k != EMPTY) {
            larger[crate::translation::simulator::page_of(*key) as usize & mask] = *key;
        }
        table.keys = larger;
        let resident = &mut growth.resident[process];
        *resident = if bytes * 2 >= growth.largest {
            Resident::new(1) // at its maximum size: nothing left to count
        } else {
            resident.grown(limit(bytes * 2, growth.fill))
        };
    }

    /// Returns bytes, users, lookups and misses of each TSB.
    pub fn uses(&self) -> impl Iterator<Item = (u64, u32, u64, u64)> + '_ {
        self.tables.iter().map(|t| (t.keys.len() as u64 * ENTRY, t.users, t.lookups, t.misses))
    }
}

/// Returns the number of resident pages at which a TSB of `bytes` grows: one more than `fill` of
/// its entries.
fn limit(bytes: u64, fill: f64) -> usize {
    ((bytes / ENTRY) as f64 * fill) as usize + 1
}

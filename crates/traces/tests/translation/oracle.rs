//! Compares the simulator with a slow and obvious model of the same machine on random streams, and
//! with streams whose misses can be computed on paper.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use assay_traces::translation::{
    Access, AccessKind, Record, Replacement, SimulatedMachine, Simulator, TlbScope, TsbSpec,
};
use proptest::prelude::*;

/// Identity of a translation: process, page size, page number.
type Name = (u64, u64, u64);

/// A TLB as a list of names per set, with the next one to be replaced at the back.
struct SlowTlb {
    level: u8,
    holds: TlbScope,
    pages: Vec<u64>,
    sets: Vec<VecDeque<Name>>,
    ways: usize,
    lru: bool,
}

impl SlowTlb {
    fn set(&mut self, name: Name) -> &mut VecDeque<Name> {
        let n = self.sets.len() as u64;
        &mut self.sets[(name.2 % n) as usize]
    }

    fn look(&mut self, name: Name) -> bool {
        let lru = self.lru;
        let set = self.set(name);
        let Some(at) = set.iter().position(|n| *n == name) else { return false };
        if lru {
            set.remove(at);
            set.push_front(name);
        }
        true
    }

    fn put(&mut self, name: Name) {
        let ways = self.ways;
        let set = self.set(name);
        set.push_front(name);
        set.truncate(ways);
    }
}

#[derive(Default)]
struct SlowTsb {
    entries: u64,
    slots: BTreeMap<u64, Name>,
    users: u32,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
struct Misses {
    first: u64,
    tlb: u64,
    tsb: u64,
}

struct Slow<'a> {
    machine: &'a SimulatedMachine,
    tlbs: Vec<SlowTlb>,
    tsbs: Vec<SlowTsb>,
    tsb_of: BTreeMap<u64, usize>,
    /// Processes in the order of their first run.
    order: Vec<u64>,
    resident: BTreeMap<u64, BTreeSet<Name>>,
    process: u64,
    misses: [Misses; 2],
    accesses: [u64; 2],
}

impl<'a> Slow<'a> {
    fn new(machine: &'a SimulatedMachine) -> Self {
        let tlb = |t: &assay_traces::translation::TlbSpec| SlowTlb {
            level: t.level,
            holds: t.holds,
            pages: t.pages.clone(),
            sets: vec![VecDeque::new(); (t.entries / t.ways) as usize],
            ways: t.ways as usize,
            lru: t.replacement == Replacement::Lru,
        };
        let mut tsbs = Vec::new();
        if let Some(TsbSpec::Fixed { pools, .. }) = &machine.tsb {
            for pool in pools {
                for _ in 0..pool.count {
                    tsbs.push(SlowTsb { entries: pool.bytes / 16, ..SlowTsb::default() });
                }
            }
        }
        Slow {
            machine,
            tlbs: machine.tlb.iter().map(tlb).collect(),
            tsbs,
            tsb_of: BTreeMap::new(),
            order: Vec::new(),
            resident: BTreeMap::new(),
            process: 0,
            misses: [Misses::default(); 2],
            accesses: [0; 2],
        }
    }

    fn run(&mut self, process: u64) {
        if process != self.process && self.machine.flush_on_switch {
            for tlb in &mut self.tlbs {
                tlb.sets.iter_mut().for_each(VecDeque::clear);
            }
        }
        self.process = process;
        let Some(spec) = &self.machine.tsb else { return };
        if self.tsb_of.contains_key(&process) {
            return;
        }
        let table = match spec {
            TsbSpec::Fixed { .. } => {
                let fewest = self.tsbs.iter().map(|t| t.users).min().unwrap();
                self.tsbs.iter().position(|t| t.users == fewest).unwrap()
            }
            TsbSpec::Dynamic { smallest, .. } => {
                self.tsbs.push(SlowTsb { entries: smallest / 16, ..SlowTsb::default() });
                self.tsbs.len() - 1
            }
        };
        self.tsbs[table].users += 1;
        self.tsb_of.insert(process, table);
        self.order.push(process);
    }

    fn page(&self, side: usize, address: u64) -> u64 {
        let pages = &self.machine.pages;
        let region = pages.region.iter().find(|r| (r.from..r.to).contains(&address));
        region.map_or(if side == 0 { pages.instruction } else { pages.data }, |r| r.page)
    }

    fn access(&mut self, side: usize, address: u64) {
        let size = self.page(side, address);
        let name = (self.process, size, address / size);
        let own = if side == 0 { TlbScope::Instruction } else { TlbScope::Data };
        let mut found = false;
        let mut looked = Vec::new();
        for level in 1..=2 {
            let at = self.tlbs.iter().position(|t| {
                t.level == level
                    && (t.holds == own || t.holds == TlbScope::Both)
                    && t.pages.contains(&size)
            });
            if let Some(at) = at {
                if self.tlbs[at].look(name) {
                    found = true;
                    break;
                }
                looked.push(at);
            }
            if level == 1 {
                self.misses[side].first += 1;
            }
        }
        for at in looked {
            self.tlbs[at].put(name);
        }
        if found {
            return;
        }
        self.misses[side].tlb += 1;
        let Some(table) = self.tsb_of.get(&self.process).copied() else { return };
        let moved = matches!(&self.machine.tsb, Some(TsbSpec::Fixed { mix_process: true, .. }));
        let nth = self.order.iter().position(|p| *p == self.process).unwrap() as u64;
        let place = if moved { name.2 ^ (nth * 31153) } else { name.2 };
        let slot = place % self.tsbs[table].entries;
        if self.tsbs[table].slots.insert(slot, name) == Some(name) {
            return;
        }
        self.misses[side].tsb += 1;
        self.grow(table, name);
    }

    fn grow(&mut self, table: usize, name: Name) {
        let Some(TsbSpec::Dynamic { largest, fill, .. }) = &self.machine.tsb else { return };
        let resident = self.resident.entry(self.process).or_default();
        let new = resident.insert(name);
        let tsb = &mut self.tsbs[table];
        let full = resident.len() as f64 > (tsb.entries as f64 * fill).floor();
        if new && full && tsb.entries * 16 < *largest {
            tsb.entries *= 2;
            let held: Vec<Name> = tsb.slots.values().copied().collect();
            tsb.slots = held.into_iter().map(|n| (n.2 % tsb.entries, n)).collect();
        }
    }

    fn take(&mut self, records: &[u64]) {
        // Until a record names a process, process 0 runs.
        if self.tsb_of.is_empty() && records.first().is_some_and(|r| r >> 57 != 6) {
            self.run(0);
        }
        for record in records {
            let payload = record & ((1 << 57) - 1);
            match record >> 57 {
                6 => self.run(payload),
                kind => {
                    let side = usize::from(kind < 4);
                    self.accesses[side] += u64::from(![3, 5].contains(&kind));
                    self.access(side, payload);
                }
            }
        }
    }
}

fn fast(simulator: &Simulator) -> ([u64; 2], [Misses; 2]) {
    let counts = simulator.counts();
    let side = |s: &assay_traces::translation::SideCounts| {
        s.pages.iter().fold(Misses::default(), |a, p| Misses {
            first: a.first + p.first_misses,
            tlb: a.tlb + p.tlb_misses,
            tsb: a.tsb + p.tsb_misses,
        })
    };
    (
        [counts.instruction.accesses, counts.data.accesses],
        [side(&counts.instruction), side(&counts.data)],
    )
}

const SMALL: &str = r#"
name = "small"
clock_hz = 1e9
[pages]
instruction = "4 KiB"
data = "4 KiB"
[[pages.region]]
from = "0x400000"
to = "0x600000"
page = "64 KiB"
[cycles]
access = 1
tlb_miss = 10
"#;

fn tlb(level: u8, holds: &str, pages: &str, entries: u32, ways: u32, replacement: &str) -> String {
    format!(
        "[[tlb]]\nlevel = {level}\nholds = \"{holds}\"\npages = [{pages}]\nentries = {entries}\n\
         ways = {ways}\nreplacement = \"{replacement}\"\n"
    )
}

/// Generates small machines: shapes, levels, sharing, replacement, TSBs.
fn machine() -> impl Strategy<Value = SimulatedMachine> {
    let shape = (0u32..4, 0u32..3).prop_map(|(sets, ways)| ((1 << sets) * (ways + 1), ways + 1));
    let tsb = prop_oneof![
        Just(String::new()),
        (0u32..3, 1u32..3, any::<bool>()).prop_map(|(n, m, mix)| format!(
            "[tsb]\nkind = \"fixed\"\nmix_process = {mix}\npools = [{{ bytes = \"8 KiB\", count = \
             {m} }}, {{ bytes = \"16 KiB\", count = {n} }}]\n"
        )),
        (1u32..8).prop_map(|fill| format!(
            "[tsb]\nkind = \"dynamic\"\nsmallest = \"8 KiB\"\nlargest = \"32 KiB\"\n\
            fill = 0.{fill}\n"
        )),
    ];
    let lru = prop_oneof![Just("lru"), Just("fifo")];
    (shape.clone(), shape.clone(), shape, any::<[bool; 3]>(), lru, tsb).prop_map(
        |(a, b, c, [shared, second, flush], replacement, tsb)| {
            let mut text = format!("flush_on_switch = {flush}\n{SMALL}");
            let all = "\"4 KiB\", \"64 KiB\"";
            if shared {
                text += &tlb(1, "both", all, a.0, a.1, replacement);
            } else {
                text += &tlb(1, "instruction", all, a.0, a.1, replacement);
                text += &tlb(1, "data", "\"4 KiB\"", b.0, b.1, replacement);
                text += &tlb(1, "data", "\"64 KiB\"", a.0, a.1, "lru");
            }
            if second {
                text += &tlb(2, "both", "\"4 KiB\"", c.0 * 4, c.1, replacement);
            }
            SimulatedMachine::parse(&(text + &tsb), Path::new("any")).unwrap()
        },
    )
}

/// Generates accesses to a few hundred pages, in runs, by a few processes.
fn stream() -> impl Strategy<Value = Vec<u64>> {
    let one = (0u32..40, 0u64..700, 0u64..4096, 1u32..64).prop_map(|(what, page, offset, size)| {
        let mut out = Vec::new();
        if what == 0 {
            out.push(Record::Process.with(page % 4));
        } else {
            let kind = [AccessKind::Load, AccessKind::Store, AccessKind::Modify, AccessKind::Fetch]
                [what as usize % 4];
            let access = |i: u64| Access { kind, address: page * 4096 + offset + i, size };
            (0..=u64::from(what % 3)).for_each(|i| access(i * 8).pack(&mut out).unwrap());
        }
        out
    });
    prop::collection::vec(one, 0..1500).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]
    #[test]
    fn it_counts_as_the_slow_model_does(machine in machine(), stream in stream()) {
        let mut simulator = Simulator::new(&machine).unwrap();
        // Run in two parts, because the end of a batch must not matter.
        let (a, b) = stream.split_at(stream.len() / 3);
        simulator.run(a).unwrap();
        simulator.run(b).unwrap();
        let mut slow = Slow::new(&machine);
        slow.take(&stream);
        prop_assert_eq!(fast(&simulator), (slow.accesses, slow.misses));
        let sizes: Vec<u64> = slow.tsbs.iter().map(|t| t.entries * 16).collect();
        if !stream.is_empty() {
            prop_assert_eq!(simulator.tsbs().iter().map(|t| t.bytes).collect::<Vec<_>>(), sizes);
        }
    }

    #[test]
    fn any_words_are_counted_or_refused(words in prop::collection::vec(any::<u64>(), 0..200)) {
        let machine = SimulatedMachine::preset("solaris-10").unwrap();
        let mut simulator = Simulator::new(&machine).unwrap();
        let _ = simulator.run(&words);
    }
}

/// Returns `rounds` sweeps over `pages` pages of 4 KiB, with one load each.
fn sweep(pages: u64, rounds: u64) -> Vec<u64> {
    (0..rounds).flat_map(|_| (0..pages).map(|p| Record::Load.with(p * 4096))).collect()
}

fn data_misses(replacement: &str, entries: u32, ways: u32, stream: &[u64]) -> u64 {
    let text = SMALL.replace(
        "[[pages.region]]\nfrom = \"0x400000\"\nto = \"0x600000\"\npage = \"64 KiB\"\n",
        "",
    ) + &tlb(1, "both", "\"4 KiB\"", entries, ways, replacement);
    let machine = SimulatedMachine::parse(&text, Path::new("closed form")).unwrap();
    let mut simulator = Simulator::new(&machine).unwrap();
    simulator.run(stream).unwrap();
    fast(&simulator).1[1].tlb
}

#[test]
fn sweeps_miss_as_the_textbook_says() {
    for (entries, ways) in [(64, 4), (64, 64), (16, 1)] {
        let n = u64::from(entries);
        // Pages that fit miss once each. One page more than fits, swept in order, never hits again
        // in the set that it overflows: all ways + 1 of them miss under LRU and FIFO.
        for replacement in ["lru", "fifo"] {
            assert_eq!(data_misses(replacement, entries, ways, &sweep(n, 10)), n);
            let overflowing = u64::from(ways) + 1;
            let expected = n + 1 + 9 * overflowing;
            assert_eq!(data_misses(replacement, entries, ways, &sweep(n + 1, 10)), expected);
        }
        assert_eq!(data_misses("random", entries, ways, &sweep(n, 10)), n);
        let random = data_misses("random", entries, ways, &sweep(n + 1, 10));
        assert!(random > n && random <= 10 * (n + 1), "{random}");
    }
}

#[test]
fn a_cyclic_sweep_beyond_a_tsb_misses_it_where_two_pages_share_a_slot() {
    // 512 entries, 600 pages, a tiny TLB: pages 0..88 share slots with 512..600, so 2 x 88 pages
    // miss on every sweep; the others miss once.
    let text = format!(
        "{SMALL}{}[tsb]\nkind = \"fixed\"\nmix_process = true\n\
        pools = [{{ bytes = \"8 KiB\", count = 1 }}]\n",
        tlb(1, "both", "\"4 KiB\", \"64 KiB\"", 1, 1, "lru")
    );
    let machine = SimulatedMachine::parse(&text, Path::new("tsb")).unwrap();
    let mut simulator = Simulator::new(&machine).unwrap();
    simulator.run(&sweep(600, 5)).unwrap();
    let misses = fast(&simulator).1[1];
    assert_eq!((misses.tlb, misses.tsb), (3000, 600 + 4 * 176));
}

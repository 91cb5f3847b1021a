//! Groups I/Os by device, program, process and so on, with a group for every combination seen.

use std::hash::{BuildHasher, RandomState};

use crate::block_io::answers::counted::CountedIos;
use crate::block_io::answers::histogram::{Linear, Pow2};
use crate::block_io::answers::question::{BucketLayout, Dimension, Measure, Question, TimeUnit};
use crate::block_io::answers::regions::Regions;
use crate::block_io::matching::event::{Io, Op};
use crate::block_io::names::NameTable;
use crate::loglinear::LogLinear;

/// Maximum number of groups kept separately; further combinations are pooled in one group.
pub const MAX_GROUPS: usize = 512;
/// Size of the hash table, a power of two well above the number of groups.
const PLACES: usize = 2048;
const EMPTY: u16 = u16::MAX;

/// Ids for the six dimensions, two per word; 0 for a dimension that the question does not group by.
pub(crate) type GroupKey = [u64; 3];

/// Key of the group that pools the rest.
pub(crate) const POOL: GroupKey = [u64::MAX; 3];

/// Packs two ids into a word of a key.
#[inline]
fn two(first: u32, second: u32) -> u64 {
    u64::from(first) | u64::from(second) << 32
}

/// Returns the id of dimension `at` in a key.
fn number(key: &GroupKey, at: usize) -> u32 {
    (key[at / 2] >> (at % 2 * 32)) as u32
}

#[derive(Debug, Clone)]
pub(crate) enum Histogram {
    Pow2(Box<Pow2>),
    Linear(Linear),
    Regions(Regions),
}

impl Histogram {
    fn new(measure: Measure, question: &Question) -> Self {
        match (question.shape, measure) {
            (BucketLayout::Linear(steps), _) => Histogram::Linear(Linear::new(steps)),
            (BucketLayout::Usual, Measure::Address) => {
                Histogram::Regions(Regions::new(question.filter.blocks.map_or(0, |b| b.0)))
            }
            _ => Histogram::Pow2(Box::default()),
        }
    }

    #[inline]
    fn add(&mut self, value: u64) {
        match self {
            Histogram::Pow2(h) => h.add(value),
            Histogram::Linear(h) => h.add(value),
            Histogram::Regions(h) => h.add(value),
        }
    }

    fn merge(&mut self, other: &Histogram) {
        match (self, other) {
            (Histogram::Pow2(a), Histogram::Pow2(b)) => a.merge(b),
            (Histogram::Linear(a), Histogram::Linear(b)) => a.merge(b),
            (Histogram::Regions(a), Histogram::Regions(b)) => a.merge(b),
            _ => debug_assert!(false, "histograms of one question have one shape"),
        }
    }
}

/// Counters of one group.
#[derive(Debug, Clone)]
pub(crate) struct IoGroup {
    pub(crate) key: GroupKey,
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    pub(crate) latency: LogLinear,
    pub(crate) queue: LogLinear,
    pub(crate) device: LogLinear,
    pub(crate) histograms: Vec<Histogram>,
}

impl IoGroup {
    fn merge(&mut self, other: &IoGroup) {
        self.ios += other.ios;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.latency.merge(&other.latency);
        self.queue.merge(&other.queue);
        self.device.merge(&other.device);
        for (a, b) in self.histograms.iter_mut().zip(&other.histograms) {
            a.merge(b);
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Groups {
    question: Question,
    asked: [bool; 6],
    /// Bit mask with ones for the dimensions that the question groups by.
    mask: GroupKey,
    unit: TimeUnit,
    seed: u64,
    places: Vec<u16>,
    kept: Vec<IoGroup>,
    pooled: u64,
}

impl Groups {
    pub(crate) fn new(question: &Question) -> Self {
        let by = question.dimensions();
        let asked = Dimension::ALL.map(|d| by.contains(&d));
        let ones = asked.map(|asked| if asked { u32::MAX } else { 0 });
        Groups {
            question: question.clone(),
            asked,
            mask: [two(ones[0], ones[1]), two(ones[2], ones[3]), two(ones[4], ones[5])],
            unit: question.unit,
            seed: RandomState::new().hash_one(0) | 1,
            places: vec![EMPTY; PLACES],
            kept: Vec::new(),
            pooled: 0,
        }
    }

    /// True if an I/O is counted. I/Os that move no data count only if the direction is a
    /// dimension.
    fn takes(&self, op: Op) -> bool {
        op.moves_data() || self.asked[3]
    }

    #[inline]
    fn key(&self, io: &Io) -> GroupKey {
        [
            two(io.device, io.program) & self.mask[0],
            two(io.pid.unwrap_or(u32::MAX), io.op as u32) & self.mask[1],
            two(io.file, io.cgroup) & self.mask[2],
        ]
    }

    /// Counts an I/O; `bucket` is the latency bucket, used if the I/O has a latency.
    #[inline]
    pub(crate) fn add(&mut self, io: &Io, bucket: usize) {
        if !self.takes(io.op) {
            return;
        }
        let key = self.key(io);
        let place = self.places[self.hash(&key)];
        let at = match self.kept.get(usize::from(place)) {
            Some(group) if group.key == key => usize::from(place),
            _ => self.find(key),
        };
        let unit = self.unit;
        let group = &mut self.kept[at];
        if group.key == POOL {
            self.pooled += 1;
        }
        group.ios += 1;
        group.bytes = group.bytes.saturating_add(io.bytes);
        if let Some(ns) = io.latency_ns {
            group.latency.add_in(bucket, ns);
        }
        if let Some(ns) = io.queue_ns {
            group.queue.add(ns);
        }
        if let Some(ns) = io.device_ns {
            group.device.add(ns);
        }
        for (measure, histogram) in self.question.histograms.iter().zip(&mut group.histograms) {
            let value = match measure {
                Measure::Size => Some(io.bytes),
                Measure::Address => Some(io.sector),
                Measure::Latency => io.latency_ns.map(|ns| unit.convert(ns)),
                Measure::Queue => io.queue_ns.map(|ns| unit.convert(ns)),
                Measure::Device => io.device_ns.map(|ns| unit.convert(ns)),
            };
            if let Some(value) = value {
                histogram.add(value);
            }
        }
    }

    pub(crate) fn add_counted(&mut self, c: &CountedIos) {
        if !self.takes(c.op) {
            return;
        }
        let key = [
            two(c.device, c.program) & self.mask[0],
            two(c.pid.unwrap_or(u32::MAX), c.op as u32) & self.mask[1],
            two(c.file, c.cgroup) & self.mask[2],
        ];
        let at = self.find(key);
        let group = &mut self.kept[at];
        if group.key == POOL {
            self.pooled += c.ios;
        }
        group.ios += c.ios;
        group.bytes = group.bytes.saturating_add(c.bytes);
        group.latency.merge(&c.latency);
        group.queue.merge(&c.queue);
        group.device.merge(&c.device_time);
        for (measure, histogram) in self.question.histograms.iter().zip(&mut group.histograms) {
            match histogram {
                Histogram::Pow2(h) => {
                    for (_, counted) in c.rows.iter().filter(|(m, _)| m == measure) {
                        h.merge(counted);
                    }
                }
                Histogram::Regions(r) => c.regions.iter().for_each(|(s, n)| r.add_n(*s, *n)),
                // External counters do not count in equal steps.
                Histogram::Linear(_) => {}
            }
        }
    }

    #[inline]
    fn hash(&self, key: &GroupKey) -> usize {
        let mixed = (key[0] ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ key[1].wrapping_mul(0xC2B2_AE3D_27D4_EB4F).rotate_left(21)
            ^ key[2].wrapping_mul(0x1656_67B1_9E37_79F9).rotate_left(43);
        (mixed.wrapping_mul(self.seed) >> 48) as usize % PLACES
    }

    /// Returns the index of the group of a key, creating it if it is new and there is room.
    fn find(&mut self, key: GroupKey) -> usize {
        let mut place = self.hash(&key);
        loop {
            match self.places[place] {
                EMPTY => break,
                at if self.kept[usize::from(at)].key == key => return usize::from(at),
                _ => place = (place + 1) % PLACES,
            }
        }
        // The last slot is reserved for the pool.
        if self.kept.len() + 1 >= MAX_GROUPS && key != POOL {
            return self.find(POOL);
        }
        let histograms = self.question.histograms.iter();
        self.kept.push(IoGroup {
            key,
            ios: 0,
            bytes: 0,
            latency: LogLinear::default(),
            queue: LogLinear::default(),
            device: LogLinear::default(),
            histograms: histograms.map(|m| Histogram::new(*m, &self.question)).collect(),
        });
        let at = self.kept.len() - 1;
        self.places[place] = at as u16;
        at
    }

    pub(crate) fn merge(&mut self, other: &Groups) {
        for group in &other.kept {
            let at = self.find(group.key);
            if self.kept[at].key == POOL && group.key != POOL {
                self.pooled += group.ios;
            }
            self.kept[at].merge(group);
        }
        self.pooled += other.pooled;
    }

    /// Returns the groups, busiest first and ties by name.
    pub(crate) fn sorted(&self, names: &NameTable) -> Vec<(&IoGroup, Vec<String>)> {
        let mut all: Vec<_> = self.kept.iter().map(|g| (g, self.words(&g.key, names))).collect();
        all.sort_by(|(a, a_words), (b, b_words)| {
            b.ios.cmp(&a.ios).then_with(|| a_words.cmp(b_words))
        });
        all
    }

    /// Formats a key as one string for each dimension of the question.
    fn words(&self, key: &GroupKey, names: &NameTable) -> Vec<String> {
        let word = |at: usize| match (*key == POOL, Dimension::ALL[at], number(key, at)) {
            (true, ..) => names.text(NameTable::OTHERS),
            (_, Dimension::Pid, u32::MAX) => names.text(NameTable::NONE),
            (_, Dimension::Pid, pid) => pid.to_string(),
            (_, Dimension::Direction, op) => Op::ALL[op as usize].name().to_owned(),
            (_, _, id) => names.text(id),
        };
        (0..6).filter(|at| self.asked[*at]).map(word).collect()
    }

    /// Returns the number of I/Os in the pooled group.
    pub(crate) fn pooled(&self) -> u64 {
        self.pooled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::io;

    fn by(by: &[Dimension], histograms: &[Measure]) -> Groups {
        Groups::new(&Question {
            by: by.to_vec(),
            histograms: histograms.to_vec(),
            ..Question::default()
        })
    }

    #[test]
    fn a_group_for_every_combination() {
        let names = NameTable::default();
        let mut g = by(&[Dimension::Program, Dimension::Direction], &[Measure::Size]);
        for (program, op) in [("a", Op::Read), ("b", Op::Read), ("a", Op::Write), ("a", Op::Read)] {
            let mut one = io(0, 1, op);
            one.program = names.id(program.as_bytes());
            g.add(&one, 1);
        }
        let sorted = g.sorted(&names);
        let rows: Vec<_> = sorted.iter().map(|(g, w)| (w.join(" "), g.ios)).collect();
        assert_eq!(rows, [("a read".into(), 2), ("a write".into(), 1), ("b read".into(), 1)]);
    }

    #[test]
    fn a_discard_is_in_no_group_that_holds_reads_and_writes() {
        let names = NameTable::default();
        for (dimensions, groups) in [(&[][..], 1), (&[Dimension::Direction][..], 2)] {
            let mut g = by(dimensions, &[]);
            g.add(&io(0, 1, Op::Read), 1);
            g.add(&io(0, 1, Op::Discard), 1);
            assert_eq!(g.sorted(&names).len(), groups);
        }
    }

    #[test]
    fn too_many_groups_are_pooled_whole_or_in_parts() {
        let names = NameTable::default();
        let mut all = by(&[Dimension::Pid], &[Measure::Latency]);
        let mut parts = [all.clone(), all.clone()];
        for pid in 0..3_000u32 {
            let mut one = io(0, 1, Op::Read);
            one.pid = Some(pid);
            all.add(&one, 1);
            parts[pid as usize % 2].add(&one, 1);
        }
        let [mut a, b] = parts;
        a.merge(&b);
        for g in [&all, &a] {
            assert_eq!(g.sorted(&names).len(), MAX_GROUPS);
            assert_eq!(g.sorted(&names).iter().map(|(g, _)| g.ios).sum::<u64>(), 3_000);
            assert_eq!(g.pooled(), 3_000 - (MAX_GROUPS as u64 - 1));
            assert_eq!(g.sorted(&names)[0].1, ["(others)"]);
        }
    }
}

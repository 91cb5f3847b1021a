//! Sums of the probes' counts by group since the last tick, in the form that an analysis takes.

use std::collections::HashMap;

use assay_traces::LogLinear;
use assay_traces::block_io::{ClassCounts, CountedIos, IoAnalysis, Measure, NameTable, Op, Pow2};

use super::abi::{FINE, IoCounts, IoKey, REGIONS, ROWS, RegionCounts};
use super::probe::IoProbes;
use super::settings::row_of;

/// Counts of a group on one CPU at the last tick. Counts in the kernel have 32 bits and may wrap
/// around between two ticks, but never twice.
struct LastCounts {
    cell: Box<IoCounts>,
    regions: Option<Box<RegionCounts>>,
}

/// Groups and their counts at the last tick.
#[derive(Default)]
pub(super) struct GroupTally {
    seen: HashMap<u32, Vec<Option<LastCounts>>>,
    groups: Vec<(IoKey, u32)>,
    /// Measures with power-of-two histograms, and their rows in a cell.
    measures: Vec<(Measure, usize)>,
    with_regions: bool,
    first_block: u64,
    shifts: HashMap<u32, u32>,
}

impl GroupTally {
    pub fn new(
        measures: &[Measure],
        with_regions: bool,
        first_block: u64,
        shifts: &[(u32, u32)],
    ) -> Self {
        GroupTally {
            measures: measures.iter().filter_map(|m| Some((*m, row_of(*m)?))).collect(),
            with_regions,
            first_block,
            shifts: shifts.iter().copied().collect(),
            ..GroupTally::default()
        }
    }

    /// Adds the counts since the last tick to the analyses, as of the time `t_ns`. Returns the
    /// number of I/Os that were pooled because their group had no room.
    pub fn add(
        &mut self,
        probes: &IoProbes,
        t_ns: u64,
        analyses: &mut [&mut IoAnalysis<'_>],
        label: &mut dyn FnMut(&IoKey) -> CountedIos,
    ) -> u64 {
        self.groups = probes.groups();
        for at in 0..self.groups.len() {
            let (key, group) = self.groups[at];
            let sums = self.since(probes, group);
            if sums.ios > 0 {
                let counted = self.counted(&key, &sums, &label(&key));
                for a in analyses.iter_mut() {
                    a.add_counted(t_ns, &counted);
                }
            }
        }
        // Group 0 pools I/Os whose group had no room; their device and operation are unknown.
        let pool = self.since(probes, 0);
        if pool.ios > 0 {
            let others = CountedIos {
                device: NameTable::OTHERS,
                program: NameTable::OTHERS,
                file: NameTable::OTHERS,
                cgroup: NameTable::OTHERS,
                ..CountedIos::default()
            };
            let key = IoKey { op: Op::Unknown as u8, ..IoKey::default() };
            let counted = self.counted(&key, &pool, &others);
            for a in analyses.iter_mut() {
                a.add_counted(t_ns, &counted);
            }
        }
        pool.ios
    }

    /// Returns the sums of a group over all CPUs since the last tick.
    fn since(&mut self, probes: &IoProbes, group: u32) -> GroupSums {
        let mut sums = GroupSums::default();
        let seen = self.seen.entry(group).or_default();
        probes.each_cpu("cells", group, |cpu, cell: &IoCounts| {
            if seen.len() <= cpu {
                seen.resize_with(cpu + 1, || None);
            }
            match &mut seen[cpu] {
                Some(before) => {
                    sums.add(cell, Some(&before.cell));
                    *before.cell = *cell;
                }
                none if cell.ios > 0 => {
                    sums.add(cell, None);
                    *none = Some(LastCounts { cell: Box::new(*cell), regions: None });
                }
                _ => {}
            }
        });
        if self.with_regions && sums.ios > 0 {
            probes.each_cpu("regions", group, |cpu, counts: &RegionCounts| {
                let Some(Some(before)) = seen.get_mut(cpu) else { return };
                let zero = [0; REGIONS];
                let old = before.regions.as_deref().unwrap_or(&zero);
                sums.add_regions(counts, old);
                before.regions = Some(Box::new(*counts));
            });
        }
        sums
    }

    /// Converts the sums of a group to counts; `names` has the names for its key.
    fn counted(&self, key: &IoKey, sums: &GroupSums, names: &CountedIos) -> CountedIos {
        let time = |which: usize| {
            let t = &sums.times[which];
            LogLinear::of_counts(&sums.fine[which], u128::from(t.sum), t.least, t.greatest)
        };
        let shift = self.shifts.get(&key.dev).copied().unwrap_or(0);
        let regions = sums.regions.iter().enumerate().filter(|(_, n)| **n > 0);
        CountedIos {
            op: Op::ALL.get(usize::from(key.op)).copied().unwrap_or(Op::Other),
            ios: sums.ios,
            bytes: sums.bytes,
            classes: sums.classes,
            latency: time(0),
            queue: time(1),
            device_time: time(2),
            rows: self.measures.iter().map(|(m, at)| (*m, pow2(&sums.rows[*at]))).collect(),
            regions: regions
                .map(|(at, n)| (self.first_block + ((at as u64) << shift), *n))
                .collect(),
            ..*names
        }
    }
}

fn pow2(rows: &[u64; ROWS]) -> Pow2 {
    let mut h = Pow2::default();
    for (bucket, n) in rows.iter().enumerate() {
        h.add_to_bucket(bucket, *n);
    }
    h
}

#[derive(Clone, Copy, Default)]
struct Time {
    sum: u64,
    least: u64,
    greatest: u64,
}

/// Counts of a group over all CPUs since the last tick. The minima and maxima cover the whole
/// observation.
struct GroupSums {
    ios: u64,
    bytes: u64,
    classes: ClassCounts,
    times: [Time; 3],
    fine: Vec<[u64; FINE]>,
    rows: Box<[[u64; ROWS]; 4]>,
    regions: Vec<u64>,
}

impl Default for GroupSums {
    fn default() -> Self {
        GroupSums {
            ios: 0,
            bytes: 0,
            classes: ClassCounts::default(),
            times: [Time { sum: 0, least: u64::MAX, greatest: 0 }; 3],
            fine: vec![[0; FINE]; 3],
            rows: Box::new([[0; ROWS]; 4]),
            regions: Vec::new(),
        }
    }
}

impl GroupSums {
    fn add(&mut self, now: &IoCounts, before: Option<&IoCounts>) {
        let old = |f: fn(&IoCounts) -> u64| before.map_or(0, f);
        self.ios += now.ios - old(|c| c.ios);
        self.bytes += now.bytes - old(|c| c.bytes);
        self.classes.aio += now.aio - old(|c| c.aio);
        self.classes.writeback += now.writeback - old(|c| c.writeback);
        self.classes.readahead += now.readahead - old(|c| c.readahead);
        self.classes.nosync += now.nosync - old(|c| c.nosync);
        for (which, time) in self.times.iter_mut().enumerate() {
            let (t, old) = (&now.times[which], before.map(|c| &c.times[which]));
            time.sum += t.sum - old.map_or(0, |t| t.sum);
            if t.n > 0 {
                time.least = time.least.min(t.least);
                time.greatest = time.greatest.max(t.greatest);
            }
            let old = before.map(|c| &c.fine[which]);
            for (at, sum) in self.fine[which].iter_mut().enumerate() {
                *sum += u64::from(now.fine[which][at].wrapping_sub(old.map_or(0, |o| o[at])));
            }
        }
        for (which, rows) in self.rows.iter_mut().enumerate() {
            let old = before.map(|c| &c.rows[which]);
            for (at, sum) in rows.iter_mut().enumerate() {
                *sum += u64::from(now.rows[which][at].wrapping_sub(old.map_or(0, |o| o[at])));
            }
        }
    }

    fn add_regions(&mut self, now: &RegionCounts, before: &RegionCounts) {
        self.regions.resize(REGIONS, 0);
        for (at, sum) in self.regions.iter_mut().enumerate() {
            *sum += u64::from(now[at].wrapping_sub(before[at]));
        }
    }
}

//! Time that I/Os spend in each stage of the block layer, from a blktrace or a live observation
//! with all events: queued (Q), request made (G) or merged (M), inserted into the scheduler (I),
//! issued to the driver (D), completed (C). Times are counted per bio, as btt does: a request that
//! two bios were merged into counts the times of both.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::block_io::matching::event::{BLOCK_BYTES, Event, IoAction, Op};
use crate::block_io::names::NameTable;

/// Maximum number of bios in flight that are followed per device; further ones are only counted.
const MAX_BIOS: usize = 1 << 18;
/// Number of bios before a block that are searched for the one that contains it.
const NEAR: usize = 4;

/// Pair of events between which time is measured, with btt's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IoStage {
    /// From queueing until a request was made.
    Q2G,
    /// From making the request until it entered the scheduler.
    G2I,
    /// From queueing until the bio was merged into a request.
    Q2M,
    /// From entering the scheduler until issue.
    I2D,
    /// From merging until issue.
    M2D,
    /// From issue until completion: the time of the device and the driver.
    D2C,
    /// From queueing until completion.
    Q2C,
}

const STAGES: [(IoStage, &str); 7] = [
    (IoStage::Q2G, "Q2G"),
    (IoStage::G2I, "G2I"),
    (IoStage::Q2M, "Q2M"),
    (IoStage::I2D, "I2D"),
    (IoStage::M2D, "M2D"),
    (IoStage::D2C, "D2C"),
    (IoStage::Q2C, "Q2C"),
];

/// Durations of one stage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StageTimes {
    /// Name in btt's notation, such as `Q2G`.
    pub stage: &'static str,
    /// Number of bios that went through the stage.
    pub n: u64,
    /// Shortest duration in nanoseconds.
    pub min_ns: u64,
    /// Mean duration in nanoseconds.
    pub mean_ns: f64,
    /// Longest duration in nanoseconds.
    pub max_ns: u64,
}

/// Durations of all stages of a device.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DeviceStages {
    pub device: String,
    /// Stages that at least one bio went through.
    pub stages: Vec<StageTimes>,
    /// Number of bios queued.
    pub queued: u64,
    /// Number of splits, made because the device accepts no request of that size or position. From
    /// then on each part goes through the stages separately, with the queueing time of the whole.
    pub splits: u64,
    /// Number of requests issued.
    pub issued: u64,
    /// Bios merged into the end of a request.
    pub merged_back: u64,
    /// Bios merged into the front of a request.
    pub merged_front: u64,
    /// Number of times a task held back its requests to send them together (plugs).
    pub plugs: u64,
    /// Number of times the held requests were sent.
    pub unplugs: u64,
    /// Unplugs that the task did not ask for: it went to sleep or, before Linux 2.6.39, a timer
    /// expired.
    pub implicit_unplugs: u64,
    /// Mean number of requests per unplug; `null` without unplugs or if the trace does not record
    /// the number.
    pub unplugged_mean: Option<f64>,
    /// Bios that were not followed because too many were in flight.
    pub given_up: u64,
    /// Requests without a queued bio in the trace. They are in none of the stages.
    pub unjoined: u64,
}

/// Plug event: a task holds back requests to send them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlugEvent {
    /// The task holds back requests from now on.
    Plugged,
    /// The held requests are sent.
    Unplugged {
        /// Number of requests, where it is recorded.
        requests: Option<u64>,
        /// True if the task did not ask for it but went to sleep.
        implicit: bool,
    },
}

#[derive(Debug, Clone, Copy, Default)]
struct DurationSums {
    n: u64,
    sum: u128,
    minimum: u64,
    maximum: u64,
}

impl DurationSums {
    fn add(&mut self, ns: u64) {
        self.minimum = if self.n == 0 { ns } else { self.minimum.min(ns) };
        self.maximum = self.maximum.max(ns);
        self.n += 1;
        self.sum += u128::from(ns);
    }
}

/// A bio between queueing and completion. A stage it has not reached is `None`.
#[derive(Debug, Clone, Copy)]
struct BioStages {
    end: u64,
    queued: u64,
    made: Option<u64>,
    inserted: Option<u64>,
    merged: Option<u64>,
    issued: Option<u64>,
}

#[derive(Debug, Default)]
struct Device {
    /// Bios by first block and, for the same block, by order of queueing.
    bios: BTreeMap<(u64, u64), BioStages>,
    times: [DurationSums; STAGES.len()],
    unplugged: DurationSums,
    /// Counters of the report; its other fields are filled in at the end.
    counts: DeviceStages,
}

impl Device {
    fn add(&mut self, stage: IoStage, from: u64, to: u64) {
        // Events of two CPUs may be slightly out of order.
        self.times[stage as usize].add(to.saturating_sub(from).max(1));
    }

    /// Returns the bio that contains a block. If several do, it is the one with the highest first
    /// block, and among equals the youngest.
    fn at(&mut self, sector: u64) -> Option<&mut BioStages> {
        self.placed_at(sector).map(|(_, bio)| bio)
    }

    /// Like [`Device::at`], with the bio's key.
    fn placed_at(&mut self, sector: u64) -> Option<((u64, u64), &mut BioStages)> {
        let mut before = self.bios.range_mut(..=(sector, u64::MAX)).rev().take(NEAR);
        before.find_map(|(place, bio)| (sector < bio.end).then_some((*place, bio)))
    }

    /// Splits the bio at block `rest`. Both parts continue separately.
    fn split(&mut self, sector: u64, rest: u64) {
        let Some(((first, order), bio)) = self.placed_at(sector) else { return };
        if rest <= first || rest >= bio.end {
            return;
        }
        let behind = *bio;
        bio.end = rest;
        self.bios.insert((rest, order), behind);
        self.counts.splits += 1;
    }

    fn queue(&mut self, event: &Event) {
        // A flush moves no data and is issued as a command of its own.
        if event.bytes == 0 {
            return;
        }
        self.counts.queued += 1;
        if self.bios.len() >= MAX_BIOS {
            self.counts.given_up += 1;
            return;
        }
        let (end, queued) = (end_of(event), event.time_ns);
        let bio = BioStages { end, queued, made: None, inserted: None, merged: None, issued: None };
        self.bios.insert((event.sector, self.counts.queued), bio);
    }

    fn take(&mut self, event: &Event) {
        let now = event.time_ns;
        match event.action {
            IoAction::Queue => self.queue(event),
            IoAction::Split => self.split(event.sector, event.other_sector),
            IoAction::Start => {
                let Some(bio) = self.at(event.sector) else { return };
                bio.made = Some(now);
                let queued = bio.queued;
                self.add(IoStage::Q2G, queued, now);
            }
            IoAction::Insert => {
                let Some(bio) = self.at(event.sector) else { return };
                bio.inserted = Some(now);
                if let Some(made) = bio.made {
                    self.add(IoStage::G2I, made, now);
                }
            }
            IoAction::BackMerge | IoAction::FrontMerge => {
                let counts = &mut self.counts;
                match event.action {
                    IoAction::FrontMerge => counts.merged_front += 1,
                    _ => counts.merged_back += 1,
                }
                let Some(bio) = self.at(event.sector) else { return };
                bio.merged = Some(now);
                let queued = bio.queued;
                self.add(IoStage::Q2M, queued, now);
            }
            IoAction::Issue if event.bytes > 0 => {
                self.counts.issued += 1;
                let within = self.within(event);
                self.counts.unjoined += u64::from(within.is_empty());
                for (place, bio) in within {
                    match (bio.inserted, bio.merged) {
                        (Some(inserted), _) => self.add(IoStage::I2D, inserted, now),
                        (None, Some(merged)) => self.add(IoStage::M2D, merged, now),
                        (None, None) => {}
                    }
                    self.bios.insert(place, BioStages { issued: Some(now), ..bio });
                }
            }
            IoAction::Complete if event.bytes > 0 => {
                for (place, bio) in self.within(event) {
                    self.add(IoStage::Q2C, bio.queued, now);
                    if let Some(issued) = bio.issued {
                        self.add(IoStage::D2C, issued, now);
                    }
                    self.bios.remove(&place);
                }
            }
            _ => {}
        }
    }

    /// Returns the bios that lie within a request.
    fn within(&self, event: &Event) -> Vec<((u64, u64), BioStages)> {
        let end = end_of(event);
        let all = self.bios.range((event.sector, 0)..(end, 0));
        all.filter(|(_, bio)| bio.end <= end).map(|(place, bio)| (*place, *bio)).collect()
    }

    fn plug(&mut self, plug: PlugEvent) {
        match plug {
            PlugEvent::Plugged => self.counts.plugs += 1,
            PlugEvent::Unplugged { requests, implicit } => {
                self.counts.unplugs += 1;
                self.counts.implicit_unplugs += u64::from(implicit);
                if let Some(requests) = requests {
                    self.unplugged.add(requests);
                }
            }
        }
    }

    fn report(&self, device: String) -> DeviceStages {
        let mean = |t: &DurationSums| (t.n > 0).then(|| t.sum as f64 / t.n as f64);
        let stages = STAGES.iter().filter_map(|(stage, name)| {
            let t = &self.times[*stage as usize];
            let (min_ns, max_ns) = (t.minimum, t.maximum);
            Some(StageTimes { stage: name, n: t.n, min_ns, mean_ns: mean(t)?, max_ns })
        });
        DeviceStages {
            device,
            stages: stages.collect(),
            unplugged_mean: mean(&self.unplugged),
            ..self.counts.clone()
        }
    }
}

fn end_of(event: &Event) -> u64 {
    event.sector.saturating_add(event.bytes / BLOCK_BYTES)
}

/// Computes stage times from events in time order.
#[derive(Debug, Default)]
pub struct Stages {
    devices: BTreeMap<u32, Device>,
    /// True if a queueing event was seen.
    queued: bool,
}

impl Stages {
    /// Processes the next event. Commands that a driver sends by itself have no stages.
    pub fn event(&mut self, event: &Event) {
        if event.op == Op::Other {
            return;
        }
        self.queued |= event.action == IoAction::Queue;
        self.devices.entry(event.device).or_default().take(event);
    }

    /// Counts a plug event of a device.
    pub fn plug(&mut self, device: u32, plug: PlugEvent) {
        self.devices.entry(device).or_default().plug(plug);
    }

    /// Returns the stages by device, those with most I/Os first. Returns `None` if the trace has no
    /// queueing events, because without them there are no stages.
    pub fn report(&self, names: &NameTable) -> Option<Vec<DeviceStages>> {
        if !self.queued {
            return None;
        }
        let all = self.devices.iter().map(|(id, device)| device.report(names.text(*id)));
        let mut all: Vec<DeviceStages> = all.filter(|d| d.queued + d.issued > 0).collect();
        all.sort_by(|a, b| b.queued.cmp(&a.queued).then_with(|| a.device.cmp(&b.device)));
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::matching::event::Flags;

    fn event(action: IoAction, time_ns: u64, sector: u64, blocks: u64) -> Event {
        Event {
            action,
            time_ns,
            device: 0,
            sector,
            bytes: blocks * BLOCK_BYTES,
            op: Op::Write,
            flags: Flags::default(),
            pid: None,
            program: NameTable::NONE,
            cgroup: NameTable::NONE,
            other_sector: 0,
        }
    }

    fn stage(report: &DeviceStages, name: &str) -> Option<(u64, u64, f64, u64)> {
        let found = report.stages.iter().find(|s| s.stage == name)?;
        Some((found.n, found.min_ns, found.mean_ns, found.max_ns))
    }

    #[test]
    fn a_request_of_two_bios_gives_both_their_times() {
        let mut stages = Stages::default();
        for e in [
            event(IoAction::Queue, 100, 8, 8),
            event(IoAction::Start, 110, 8, 8),
            event(IoAction::Queue, 120, 16, 8),
            event(IoAction::BackMerge, 125, 16, 8),
            event(IoAction::Insert, 130, 8, 16),
            event(IoAction::Issue, 200, 8, 16),
            event(IoAction::Complete, 1000, 8, 16),
        ] {
            stages.event(&e);
        }
        stages.plug(0, PlugEvent::Plugged);
        stages.plug(0, PlugEvent::Unplugged { requests: Some(3), implicit: false });
        stages.plug(0, PlugEvent::Unplugged { requests: None, implicit: true });
        let names = NameTable::default();
        let all = stages.report(&names).unwrap();
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(stage(one, "Q2G"), Some((1, 10, 10.0, 10)));
        assert_eq!(stage(one, "G2I"), Some((1, 20, 20.0, 20)));
        assert_eq!(stage(one, "Q2M"), Some((1, 5, 5.0, 5)));
        assert_eq!(stage(one, "I2D"), Some((1, 70, 70.0, 70)));
        assert_eq!(stage(one, "M2D"), Some((1, 75, 75.0, 75)));
        assert_eq!(stage(one, "D2C"), Some((2, 800, 800.0, 800)));
        assert_eq!(stage(one, "Q2C"), Some((2, 880, 890.0, 900)));
        assert_eq!((one.queued, one.issued, one.merged_back, one.merged_front), (2, 1, 1, 0));
        let plugs = (one.plugs, one.unplugs, one.implicit_unplugs, one.unplugged_mean);
        assert_eq!(plugs, (1, 2, 1, Some(3.0)));
    }

    #[test]
    fn every_part_of_a_bio_that_was_split_has_its_own_times() {
        let mut stages = Stages::default();
        let split = |time_ns, sector, blocks| Event {
            other_sector: sector + blocks,
            ..event(IoAction::Split, time_ns, sector, blocks)
        };
        for e in [
            event(IoAction::Queue, 100, 8, 40),
            split(110, 8, 16),
            event(IoAction::Start, 120, 8, 16),
            split(130, 24, 16),
            event(IoAction::Start, 140, 24, 16),
            event(IoAction::Start, 160, 40, 8),
            event(IoAction::Issue, 200, 8, 16),
            event(IoAction::Issue, 210, 24, 16),
            event(IoAction::Issue, 220, 40, 8),
            event(IoAction::Complete, 300, 40, 8),
            event(IoAction::Complete, 310, 8, 16),
            event(IoAction::Complete, 320, 24, 16),
            // No earlier event of this request was seen.
            event(IoAction::Issue, 400, 100, 8),
            // Ignored, because no bio was queued at this block.
            split(410, 100, 8),
        ] {
            stages.event(&e);
        }
        let all = stages.report(&NameTable::default()).unwrap();
        let one = &all[0];
        assert_eq!((one.queued, one.splits, one.issued, one.unjoined), (1, 2, 4, 1));
        assert_eq!(stage(one, "Q2G"), Some((3, 20, 40.0, 60)));
        assert_eq!(stage(one, "D2C"), Some((3, 80, 100.0, 110)));
        assert_eq!(stage(one, "Q2C"), Some((3, 200, 210.0, 220)));
    }

    #[test]
    fn a_trace_of_issues_alone_has_no_stages() {
        let mut stages = Stages::default();
        stages.event(&event(IoAction::Issue, 1, 8, 8));
        stages.event(&event(IoAction::Complete, 2, 8, 8));
        assert_eq!(stages.report(&NameTable::default()), None);
    }

    #[test]
    fn a_flush_without_bytes_is_no_bio_and_the_youngest_of_one_block_is_meant() {
        let mut stages = Stages::default();
        for e in [
            event(IoAction::Queue, 1, 8, 0),
            event(IoAction::Queue, 10, 8, 8),
            event(IoAction::Start, 15, 8, 8),
            event(IoAction::Queue, 20, 8, 8),
            event(IoAction::Start, 30, 8, 8),
            event(IoAction::Issue, 40, 8, 0),
        ] {
            stages.event(&e);
        }
        let all = stages.report(&NameTable::default()).unwrap();
        assert_eq!((all[0].queued, all[0].issued), (2, 0));
        assert_eq!(stage(&all[0], "Q2G"), Some((2, 5, 7.5, 10)));
    }

    #[test]
    fn what_was_queued_and_never_issued_is_no_stage() {
        let mut stages = Stages::default();
        stages.event(&event(IoAction::Queue, 1, 8, 8));
        stages.event(&event(IoAction::Complete, 5, 8, 4));
        let all = stages.report(&NameTable::default()).unwrap();
        assert_eq!((all[0].queued, all[0].stages.len()), (1, 0), "half of it is not all of it");
    }
}

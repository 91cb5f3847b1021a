//! The tracer by eBPF: what is asked becomes the probes' configuration, and what they count or tell
//! becomes an analysis.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_iotrace::{
    Analysis, Completeness, Cost, Dimension, FileFrom, Filter, Flags, Measure, NameCache, Names,
    Op, Recorded, Shape, Sink,
};

use super::abi::{
    self, COMM, Config, Key, MAX_DEVICES, MAX_NAMES, REGIONS, RingEvent, UnderWay, count,
};
use super::cgroups::Cgroups;
use super::devices::BlockDevices;
use super::files::{FileKey, Files};
use super::probe::{Attach, Kernel, Probes, RunTime, Sizes, kernel_address};
use super::ring::{Labelling, Ring, io_of, program};
use super::tally::{Labels, Tally};
use super::tracer::TraceRequest;
use super::untold;
use crate::NotAvailable;

/// Memory that the counts of all groups on all CPUs may take.
const CELLS_BYTES: usize = 64 << 20;
/// The ring of single I/Os: at half a million I/Os a second it holds more than a second of them.
const RING_BYTES: u32 = 64 << 20;
/// Out of this many looks, one is at runs whose time the kernel takes.
const TIMED: u32 = 16;

/// Which of the tiers answers the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// One probe, where requests end.
    Ends,
    /// Also where they start, so that it is known who asks.
    Who,
    /// Also for which file.
    File,
    /// All of it, I/O by I/O.
    Events,
}

impl Tier {
    /// The least that answers.
    pub fn of(ask: &TraceRequest) -> Self {
        let question = &ask.question;
        let by = question.dimensions();
        let filter = &question.filter;
        let in_steps = matches!(question.shape, Shape::Linear(_))
            || question.shape == Shape::Quantize && question.histograms.contains(&Measure::Address);
        let late = filter.from_ns.is_some() || filter.to_ns.is_some() || !filter.files.is_empty();
        let who = [Dimension::Program, Dimension::Pid, Dimension::Cgroup];
        let filtered = [&filter.programs, &filter.cgroups].iter().any(|l| !l.is_empty());
        if ask.events || in_steps || late {
            Tier::Events
        } else if by.contains(&Dimension::File) {
            Tier::File
        } else if ask.classes
            || filtered
            || !filter.pids.is_empty()
            || who.iter().any(|d| by.contains(d))
        {
            Tier::Who
        } else {
            Tier::Ends
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Tier::Ends => "eBPF, counted at the end of each request",
            Tier::Who => "eBPF, counted from start to end of each request",
            Tier::File => "eBPF, counted from start to end of each request, with its file",
            Tier::Events => "eBPF, every I/O by itself",
        }
    }
}

/// The probes and what is known beside them.
pub(super) struct EbpfTracer<'n> {
    probes: Probes,
    tier: Tier,
    tally: Tally,
    ring: Option<Ring>,
    paths: Option<aya::maps::RingBuf<aya::maps::MapData>>,
    labels: Lookup<'n>,
    names: NameCache<'n>,
    kernel: Kernel,
    issue_known: bool,
    looks: u32,
    timing: Option<RunTime>,
    timed: RunTime,
    began: Instant,
    ended: Option<Duration>,
    pooled: u64,
    root: PathBuf,
    /// I/Os whose end was not told of, found at the end: how many, and those not yet given on.
    untold: u64,
    left: Vec<UnderWay>,
    /// The blocks that were asked for, and how many I/Os of others were under way at the end.
    blocks: std::ops::RangeInclusive<u64>,
    outside: u64,
}

impl<'n> EbpfTracer<'n> {
    pub fn start(
        root: &Path,
        ask: &TraceRequest,
        devices: BlockDevices,
        names: &'n Names,
    ) -> Result<Self, NotAvailable> {
        let kernel = Kernel::read(root, ask.oldest)?;
        let tier = Tier::of(ask);
        let question = &ask.question;
        let mut config = Config::default();
        let mut cgroups = Cgroups::new(root);
        let wanted = filter(&mut config, &question.filter, &devices, &mut cgroups)?;
        let by = question.dimensions();
        let on = |on: bool| u8::from(on);
        config.unit_ns = question.unit.ns();
        config.tracked = on(tier != Tier::Ends);
        config.events = on(tier == Tier::Events);
        config.by_program = on(by.contains(&Dimension::Program));
        config.by_pid = on(by.contains(&Dimension::Pid));
        let all = tier == Tier::Events;
        config.by_cgroup =
            on(all || by.contains(&Dimension::Cgroup) || !question.filter.cgroups.is_empty());
        config.by_file = on(all || by.contains(&Dimension::File));
        config.regions = on(ask.regions || question.histograms.contains(&Measure::Address));
        config.rows = rows(&question.histograms);
        config.iomap_end_io = kernel_address(root, "iomap_dio_bio_end_io").unwrap_or(0);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        config.groups = groups(all, config.regions > 0, cpus);
        let span = |blocks: u64| {
            blocks.min(config.last_block.saturating_add(1)) - config.first_block.min(blocks)
        };
        let shifts: Vec<(u32, u32)> =
            devices.all().filter_map(|d| Some((d.number(), shift_of(span(d.blocks?))))).collect();
        let watched = || {
            devices
                .all()
                .filter(|d| d.disk.is_none())
                .filter(|d| wanted.is_empty() || wanted.contains(&d.number()))
        };
        let bio_devices: Vec<u32> =
            watched().filter(|d| d.bio_based).map(super::devices::BlockDevice::number).collect();
        let unstamped = watched().any(|d| !d.bio_based && !d.issue_stamped && d.counted);
        let attach = Attach {
            kernel,
            start: tier != Tier::Ends,
            issue: unstamped && tier != Tier::Ends,
            requests: watched().any(|d| !d.bio_based),
            bios: !bio_devices.is_empty(),
        };
        let sizes = Sizes {
            groups: config.groups,
            regions: if config.regions > 0 { config.groups } else { 1 },
            ring_bytes: if all { ask.ring_bytes.unwrap_or(RING_BYTES) } else { 4096 },
        };
        let mut probes = Probes::start(&config, attach, sizes, &shifts, &bio_devices)?;
        let ring = if all { probes.ring("events").map(Ring::new) } else { None };
        let paths = if config.by_file > 0 { probes.ring("paths") } else { None };
        Ok(EbpfTracer {
            probes,
            tier,
            tally: Tally::new(
                &question.histograms,
                config.regions > 0,
                config.first_block,
                &shifts,
            ),
            ring,
            paths,
            labels: Lookup {
                names,
                devices,
                files: Files::new(root),
                cgroups,
                known_devices: HashMap::new(),
                known_cgroups: HashMap::new(),
                by_file: config.by_file > 0,
            },
            names: NameCache::new(names),
            kernel,
            issue_known: attach.issue || !unstamped || (attach.start && !kernel.starts),
            looks: 0,
            timing: None,
            timed: RunTime::default(),
            began: Instant::now(),
            ended: None,
            pooled: 0,
            root: root.to_owned(),
            untold: 0,
            left: Vec::new(),
            blocks: config.first_block..=config.last_block,
            outside: 0,
        })
    }

    /// Whether I/Os are counted by the probes, not told one by one.
    pub fn counts(&self) -> bool {
        self.ring.is_none()
    }

    pub fn devices(&self) -> &BlockDevices {
        &self.labels.devices
    }

    /// Takes what is in the rings; wanted every few milliseconds where single I/Os are asked for.
    pub fn poll(&mut self, sinks: &mut [&mut dyn Sink]) {
        if let Some(paths) = &mut self.paths {
            while let Some(item) = paths.next() {
                if let Some(record) = abi::path_of(&item) {
                    self.labels.files.tell(&record);
                }
            }
        }
        if let Some(ring) = &mut self.ring {
            ring.drain(&mut self.names, &mut self.labels, sinks);
            let left = std::mem::take(&mut self.left);
            if !left.is_empty() {
                let events = left.iter().map(untold::event);
                ring.give_left(events, &mut self.names, &mut self.labels, sinks);
            }
        }
        self.take_time();
    }

    /// Has the kernel take the time of the probes' runs between some looks.
    fn take_time(&mut self) {
        if let Some(before) = self.timing.take() {
            let now = self.probes.run_time();
            self.timed.ns += now.ns - before.ns;
            self.timed.runs += now.runs - before.runs;
            self.timed.ends += now.ends - before.ends;
            self.probes.time_runs(false);
        } else if self.ended.is_none() && self.looks.is_multiple_of(TIMED) {
            self.timing = Some(self.probes.run_time());
            self.probes.time_runs(true);
        }
        self.looks = self.looks.wrapping_add(1);
    }

    /// Takes up what was counted since the last time, as of `t_ns`.
    pub fn tick(&mut self, t_ns: u64, analyses: &mut [&mut Analysis<'n>]) {
        if self.ring.is_some() {
            return;
        }
        let (labels, names) = (&mut self.labels, &mut self.names);
        let looked =
            self.tally.look(&self.probes, t_ns, analyses, &mut |key| labels.of(key, names));
        self.pooled += looked.pooled;
        for left in std::mem::take(&mut self.left) {
            let event = untold::event(&left);
            let io = io_of(&event, names, labels);
            let counted = untold::counted(&io, &labels.of_event(&event, names));
            for a in analyses.iter_mut() {
                a.add_counted(t_ns, &counted);
            }
        }
    }

    /// Takes the probes off.
    pub fn stop(&mut self) {
        if self.ended.is_none() {
            self.ended = Some(self.began.elapsed());
            self.probes.detach();
            if self.seen_under_way() > 0 {
                let (left, outside): (Vec<_>, Vec<_>) = self
                    .probes
                    .under_way()
                    .into_iter()
                    .partition(|io| self.blocks.contains(&io.sector));
                self.outside = outside.len() as u64;
                self.left = untold::ended(left, &self.labels.devices, &self.root);
                self.untold = self.left.len() as u64;
            }
        }
    }

    /// I/Os that have started, as the probes have seen, and not ended.
    fn seen_under_way(&self) -> u64 {
        if self.tier == Tier::Ends {
            return 0;
        }
        let n = |what| self.probes.count(what);
        let done = n(count::ENDS).saturating_sub(n(count::FLUSHES));
        n(count::STARTS)
            .saturating_sub(done + n(count::MERGED) + n(count::UNTOLD) + n(count::LEFT_OUT))
    }

    pub fn recorded(&self) -> Recorded {
        let tracked = self.tier != Tier::Ends;
        Recorded {
            latency: true,
            queue: true,
            program: tracked,
            pid: tracked,
            file: self.labels.by_file,
            cgroup: self.tier == Tier::Events || !self.labels.known_cgroups.is_empty(),
            sync: true,
            readahead: true,
            aio: tracked,
        }
    }

    pub fn completeness(&self) -> Completeness {
        let n = |what| self.probes.count(what);
        let tracked = self.tier != Tier::Ends;
        // Runs that the kernel left out: what they would have told is found by the other end of the I/O,
        // where both are watched.
        let missed = if tracked { 0 } else { self.probes.run_time().missed };
        let read = self.ring.as_ref().map_or(0, |r| r.read);
        let ends = n(count::ENDS);
        let starts = n(count::STARTS);
        let full = n(count::TABLE_FULL);
        Completeness {
            from_events: true,
            events: ends + starts,
            ios: if tracked {
                (starts + n(count::FLUSHES)).saturating_sub(n(count::LEFT_OUT) + self.outside)
            } else {
                ends
            },
            matched: if self.ring.is_some() { read.saturating_sub(n(count::UNTOLD)) } else { ends },
            unmatched_ends: n(count::UNMATCHED).saturating_sub(full),
            flush_ends: n(count::FLUSH_ENDS),
            in_flight: self.seen_under_way().saturating_sub(self.untold + self.outside),
            missed_completions: n(count::UNTOLD) + self.untold,
            given_up: full,
            requeued: n(count::REQUEUED),
            queue_unknown: n(count::NO_ISSUE),
            dropped: Some(n(count::RING_FULL) + missed),
            clock_backwards: n(count::BACKWARDS),
            pooled: self.pooled,
            ..Completeness::default()
        }
    }

    /// What this kernel does not tell, or tells in another way.
    pub fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        if !self.kernel.starts && self.tier != Tier::Ends {
            limits.push(
                "This kernel reports no starts of requests (Linux 6.5 and later do): they are followed from \
                 where they are queued or issued; their times are the kernel's own stamps all the same."
                    .to_owned(),
            );
        }
        if !self.kernel.workers_are_threads && self.tier != Tier::Ends {
            limits.push(
                "Before Linux 5.12 io_uring's workers are kernel threads of their own: what they submit is \
                 counted for io_wqe_worker, not for the program."
                    .to_owned(),
            );
        }
        limits
    }

    /// What else should be known.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.limits();
        if !self.issue_known {
            notes.push(
                "Some devices have no stamp of the moment of issue, so their queue and device times are \
                 not told apart; asking by program takes a probe that does."
                    .to_owned(),
            );
        }
        let before = self.probes.count(count::BEFORE);
        if before > 0 {
            notes.push(format!(
                "{before} I/Os that ended at the beginning had started before it, and are left out."
            ));
        }
        let partial = self.probes.count(count::PARTIAL);
        if partial > 0 {
            notes.push(format!(
                "{partial} requests ended in parts; their bytes are those of the last part."
            ));
        }
        if self.labels.devices.all().any(|d| d.bio_based) {
            notes.push(
                "Devices without requests of their own (zram, device mapper, MD) are seen as bios: from \
                 being queued to being done, with no queue apart. What lies on other devices is counted on \
                 each."
                    .to_owned(),
            );
        }
        if self.labels.by_file {
            notes.push(self.sureness());
        }
        notes
    }

    /// How the files are known.
    fn sureness(&self) -> String {
        let n = |sure: u8| self.probes.count(count::FILE + u32::from(sure));
        format!(
            "Files: {} I/Os by the open file (certain), {} by the page that moves, on its own device \
             (certain, but of several hard links one), {} by a page of something above the device \
             (likely), {} the device or metadata, {} without a file that could be found.",
            n(abi::sure::OPEN),
            n(abi::sure::PAGE),
            n(abi::sure::PAGE_ABOVE),
            n(abi::sure::DEVICE),
            n(0)
        )
    }

    pub fn cost(&self) -> Cost {
        let watched = self.ended.unwrap_or_else(|| self.began.elapsed());
        let ends = self.probes.count(count::ENDS);
        let each = (self.timed.ends > 0).then(|| self.timed.ns as f64 / self.timed.ends as f64);
        Cost {
            method: self.tier.words().to_owned(),
            events: ends + self.probes.count(count::STARTS),
            ns_per_io: each,
            cpu_share: each.map(|ns| ns * ends as f64 / watched.as_nanos().max(1) as f64),
            reader_share: None,
        }
    }
}

/// How many groups there is room for.
fn groups(events: bool, regions: bool, cpus: usize) -> u32 {
    if events {
        return 1;
    }
    let one = size_of::<abi::Cell>() + if regions { size_of::<abi::RegionCounts>() } else { 0 };
    (CELLS_BYTES / (one * cpus.max(1))).clamp(32, 512) as u32
}

/// Which rows of powers of two are counted, as bits.
fn rows(measures: &[Measure]) -> u8 {
    measures.iter().fold(0, |bits, m| {
        bits | match m {
            Measure::Size => 1,
            Measure::Latency => 2,
            Measure::Queue => 4,
            Measure::Device => 8,
            Measure::Address => 0,
        }
    })
}

/// How many bits of a block's number within a stretch of `blocks` tell of no region.
fn shift_of(blocks: u64) -> u32 {
    let last = blocks.max(1) - 1;
    (64 - last.leading_zeros()).saturating_sub(REGIONS.ilog2())
}

/// Puts a filter into the configuration; the devices it names.
fn filter(
    config: &mut Config,
    filter: &Filter,
    devices: &BlockDevices,
    cgroups: &mut Cgroups,
) -> Result<Vec<u32>, NotAvailable> {
    let too_many = |what: &str, most: usize| {
        NotAvailable::because(format!("a live filter names at most {most} {what}"))
    };
    if filter.devices.len() > MAX_DEVICES {
        return Err(too_many("devices", MAX_DEVICES));
    }
    let names = [filter.programs.len(), filter.pids.len(), filter.cgroups.len()];
    if names.iter().any(|n| *n > MAX_NAMES) {
        return Err(too_many("programs, processes or control groups", MAX_NAMES));
    }
    let mut wanted = Vec::new();
    for (at, name) in filter.devices.iter().enumerate() {
        let device = devices.find(name).ok_or_else(|| {
            NotAvailable::because(format!(
                "there is no block device `{name}`; `assay io --devices` lists those there are"
            ))
        })?;
        config.devices[at] = device.number();
        wanted.push(device.number());
    }
    config.n_devices = wanted.len() as u32;
    for (at, name) in filter.programs.iter().enumerate() {
        let bytes = &name.as_bytes()[..name.len().min(COMM - 1)];
        config.programs[at][..bytes.len()].copy_from_slice(bytes);
    }
    config.n_programs = filter.programs.len() as u32;
    config.pids[..filter.pids.len()].copy_from_slice(&filter.pids);
    config.n_pids = filter.pids.len() as u32;
    for (at, path) in filter.cgroups.iter().enumerate() {
        config.cgroups[at] = cgroups
            .id(path)
            .ok_or_else(|| NotAvailable::because(format!("there is no control group `{path}`")))?;
    }
    config.n_cgroups = filter.cgroups.len() as u32;
    config.only_reads = u8::from(filter.op == Some(Op::Read));
    config.only_writes = u8::from(filter.op == Some(Op::Write));
    if let Some((first, last)) = filter.blocks {
        (config.first_block, config.last_block) = (first, last);
    }
    Ok(wanted)
}

/// Names of what the probes tell by number.
struct Lookup<'n> {
    names: &'n Names,
    devices: BlockDevices,
    files: Files,
    cgroups: Cgroups,
    known_devices: HashMap<u32, u32>,
    known_cgroups: HashMap<u64, u32>,
    by_file: bool,
}

impl Lookup<'_> {
    /// Of an I/O by itself, by what is asked for.
    fn of_event(&mut self, event: &RingEvent, names: &mut NameCache<'_>) -> Labels {
        let flags = Flags(event.flags);
        Labels {
            device: self.device(event.dev),
            program: program(&event.comm, names),
            pid: Some(event.tgid),
            file: self.file(event, flags).0,
            cgroup: if event.cgroup > 0 { self.cgroup(event.cgroup) } else { Names::NONE },
        }
    }

    fn of(&mut self, key: &Key, names: &mut NameCache<'_>) -> Labels {
        let event = RingEvent {
            ino: key.ino,
            file_dev: key.file_dev,
            dev: key.dev,
            sure: key.sure,
            ..RingEvent::default()
        };
        Labels {
            device: self.device(key.dev),
            program: program(&key.comm, names),
            pid: (key.tgid > 0).then_some(key.tgid),
            file: self.file(&event, Flags::default().with_if(key.metadata > 0, Flags::META)).0,
            cgroup: if key.cgroup > 0 { self.cgroup(key.cgroup) } else { Names::NONE },
        }
    }
}

impl Labelling for Lookup<'_> {
    fn device(&mut self, dev: u32) -> u32 {
        let (devices, names) = (&self.devices, self.names);
        *self.known_devices.entry(dev).or_insert_with(|| {
            // One that came after the tracer has only its number.
            let name = devices.number(dev).map(|d| d.name.clone());
            let name = name.unwrap_or_else(|| format!("{}:{}", dev >> 20, dev & 0xf_ffff));
            names.id(name.as_bytes())
        })
    }

    fn file(&mut self, event: &RingEvent, flags: Flags) -> (u32, FileFrom) {
        if !self.by_file {
            return (Names::NONE, FileFrom::Nothing);
        }
        let key = FileKey::new(event.ino, event.file_dev, event.dev, event.sure, flags);
        self.files.find(key, &self.devices, self.names)
    }

    fn cgroup(&mut self, id: u64) -> u32 {
        let (cgroups, names) = (&mut self.cgroups, self.names);
        *self.known_cgroups.entry(id).or_insert_with(|| names.id(cgroups.path(id).as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use assay_iotrace::Question;

    use super::*;

    fn ask(by: &[Dimension], histograms: &[Measure]) -> TraceRequest {
        let question =
            Question { by: by.to_vec(), histograms: histograms.to_vec(), ..Question::default() };
        TraceRequest { question, ..TraceRequest::default() }
    }

    #[test]
    fn the_cheapest_tier_that_answers() {
        assert_eq!(Tier::of(&ask(&[Dimension::Device], &[Measure::Latency])), Tier::Ends);
        assert_eq!(Tier::of(&ask(&[Dimension::Direction], &[Measure::Address])), Tier::Ends);
        assert_eq!(Tier::of(&ask(&[Dimension::Program], &[])), Tier::Who);
        assert_eq!(Tier::of(&ask(&[Dimension::File], &[])), Tier::File);
        let mut one = ask(&[], &[]);
        one.classes = true;
        assert_eq!(Tier::of(&one), Tier::Who);
        one.question.filter.files.push("/x".to_owned());
        assert_eq!(Tier::of(&one), Tier::Events);
    }

    #[test]
    fn a_device_has_at_most_1024_regions() {
        for blocks in [1u64, 1000, 1024, 1025, 500_000, 1 << 40] {
            let shift = shift_of(blocks);
            assert!((blocks - 1) >> shift < 1024, "{blocks}");
            assert!(shift == 0 || (blocks - 1) >> (shift - 1) >= 1024, "{blocks}");
        }
    }
}

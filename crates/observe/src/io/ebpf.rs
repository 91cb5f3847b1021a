//! The eBPF tracer: translates a request to the probes' configuration, and their counts and events
//! to an analysis.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assay_traces::block_io::{
    Completeness, Cost, Dimension, IoAnalysis, Measure, NameCache, NameTable, RecordedFields, Sink,
};

use super::abi::{self, IoInFlight, IoProbeConfig, count};
use super::cgroups::Cgroups;
use super::devices::BlockDevices;
use super::lookup::Lookup;
use super::missed;
use super::probe::{Attach, IoProbes, Kernel, RunTime, Sizes, kernel_address};
use super::ring::{Ring, io_of};
use super::settings::{filter, groups, rows, shift_of};
use super::tally::GroupTally;
use super::tier::Tier;
use super::way::{BoxedMethod, Method, RunningMethod, TraceRequest};
use crate::NotAvailable;
use crate::ebpf::record;

/// Size of the ring of single I/Os, bytes: at half a million I/Os per second it holds more than a
/// second.
const RING_BYTES: u32 = 64 << 20;
/// One in this many polls starts timing the probes' runs in the kernel.
const TIMED: u32 = 16;

/// The probes, and the state needed to interpret their data.
struct EbpfTracer<'n> {
    probes: IoProbes,
    tier: Tier,
    tally: GroupTally,
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
    /// I/Os without a reported end, found when tracing stops: their number, and those not yet
    /// passed on.
    missed: u64,
    left: Vec<IoInFlight>,
    /// Blocks of the filter, and number of I/Os in other blocks that were in flight at the end.
    blocks: std::ops::RangeInclusive<u64>,
    outside: u64,
}

/// Starts the probes that the request needs.
pub(super) fn start<'n>(
    root: &Path,
    ask: &TraceRequest,
    devices: BlockDevices,
    names: &'n NameTable,
) -> Result<BoxedMethod<'n>, NotAvailable> {
    let kernel = Kernel::read(root, ask.oldest)?;
    let tier = Tier::for_request(ask);
    let question = &ask.question;
    let mut config = IoProbeConfig::taking_all();
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
    let unstamped =
        watched().any(|d| !d.bio_based && !d.issue_stamped && (d.counted || !kernel.starts));
    let attach = Attach {
        kernel,
        start: tier != Tier::Ends,
        issue: unstamped && tier != Tier::Ends,
        // Without a filter, devices may be added later.
        waits: config.only_reads == 0
            && (wanted.is_empty() || watched().any(|d| d.empties_cache(root))),
        requests: watched().any(|d| !d.bio_based),
        bios: !bio_devices.is_empty(),
    };
    let sizes = Sizes {
        groups: config.groups,
        regions: if config.regions > 0 { config.groups } else { 1 },
        ring_bytes: if all { ask.ring_bytes.unwrap_or(RING_BYTES) } else { 4096 },
    };
    let mut probes = IoProbes::start(&config, attach, sizes, &shifts, &bio_devices)?;
    let ring = if all { probes.ring("events").map(Ring::new) } else { None };
    let paths = if config.by_file > 0 { probes.ring("paths") } else { None };
    Ok(Box::new(EbpfTracer {
        probes,
        tier,
        tally: GroupTally::new(
            &question.histograms,
            config.regions > 0,
            config.first_block,
            &shifts,
        ),
        ring,
        paths,
        labels: Lookup::new(root, names, devices, cgroups, config.by_file > 0),
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
        missed: 0,
        left: Vec::new(),
        blocks: config.first_block..=config.last_block,
        outside: 0,
    }))
}

impl EbpfTracer<'_> {
    /// Switches the kernel's timing of the probes' runs on and off, to time a sample of them.
    fn take_time(&mut self) {
        if let Some(before) = self.timing.take() {
            let now = self.probes.run_time();
            self.timed.ns += now.ns - before.ns;
            self.timed.ends += now.ends - before.ends;
            self.probes.time_runs(false);
        } else if self.ended.is_none() && self.looks.is_multiple_of(TIMED) {
            self.timing = Some(self.probes.run_time());
            self.probes.time_runs(true);
        }
        self.looks = self.looks.wrapping_add(1);
    }

    /// Returns the number of I/Os whose start the probes have seen and whose end they have not.
    fn seen_under_way(&self) -> u64 {
        if self.tier == Tier::Ends {
            return 0;
        }
        let counts = self.probes.counts();
        let n = |what: usize| counts[what];
        let done = n(count::ENDS).saturating_sub(n(count::FLUSHES));
        n(count::STARTS)
            .saturating_sub(done + n(count::MERGED) + n(count::UNTOLD) + n(count::LEFT_OUT))
    }

    /// Describes how the files of the I/Os were determined.
    fn sureness(&self) -> String {
        let counts = self.probes.counts();
        let n = |sure: u8| counts[count::FILE + usize::from(sure)];
        format!(
            "Files: {} I/Os by the open file (certain), {} by the page that moves, on its own \
             device (certain, but of several hard links one), {} by a page of something above the \
             device (likely), {} the device or metadata, {} without a known file.",
            n(abi::sure::OPEN),
            n(abi::sure::PAGE),
            n(abi::sure::PAGE_ABOVE),
            n(abi::sure::DEVICE),
            n(0)
        )
    }
}

impl<'n> RunningMethod<'n> for EbpfTracer<'n> {
    fn method(&self) -> Method {
        Method::Ebpf
    }

    fn counts(&self) -> bool {
        self.ring.is_none()
    }

    fn devices(&self) -> &BlockDevices {
        &self.labels.devices
    }

    fn poll(&mut self, sinks: &mut [&mut dyn Sink]) {
        if let Some(paths) = &mut self.paths {
            while let Some(item) = paths.next() {
                if let Some(path) = record(&item) {
                    self.labels.files.store(&path);
                }
            }
        }
        if let Some(ring) = &mut self.ring {
            ring.drain(&mut self.names, &mut self.labels, sinks);
            let left = std::mem::take(&mut self.left);
            if !left.is_empty() {
                let events = left.iter().map(missed::event);
                ring.give_left(events, &mut self.names, &mut self.labels, sinks);
            }
        }
        self.take_time();
    }

    fn tick(&mut self, t_ns: u64, analyses: &mut [&mut IoAnalysis<'n>]) {
        if self.ring.is_some() {
            return;
        }
        let (labels, names) = (&mut self.labels, &mut self.names);
        self.pooled += self
            .tally
            .add(&self.probes, t_ns, analyses, &mut |key| labels.named_counts(key, names));
        for left in std::mem::take(&mut self.left) {
            let event = missed::event(&left);
            let io = io_of(&event, names, labels);
            let counted = missed::counted(&io, labels.of_event(&event, names));
            for a in analyses.iter_mut() {
                a.add_counted(t_ns, &counted);
            }
        }
    }

    fn stop(&mut self) {
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
                self.left = missed::ended(left, &self.labels.devices, &self.root);
                self.missed = self.left.len() as u64;
            }
        }
    }

    fn recorded(&self) -> RecordedFields {
        let tracked = self.tier != Tier::Ends;
        RecordedFields {
            latency: true,
            queue: true,
            program: tracked,
            pid: tracked,
            file: self.labels.by_file,
            cgroup: self.tier == Tier::Events || self.labels.knows_cgroups(),
            sync: true,
            readahead: true,
            aio: tracked,
        }
    }

    fn completeness(&self) -> Completeness {
        let counts = self.probes.counts();
        let n = |what: usize| counts[what];
        let tracked = self.tier != Tier::Ends;
        // Runs that the kernel skipped. If both ends of an I/O are probed, the other end reveals
        // what a skipped run missed.
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
            in_flight: self.seen_under_way().saturating_sub(self.missed + self.outside),
            missed_completions: n(count::UNTOLD) + self.missed,
            given_up: full,
            requeued: n(count::REQUEUED),
            queue_unknown: n(count::NO_ISSUE),
            dropped: Some(n(count::RING_FULL) + missed),
            clock_backwards: n(count::BACKWARDS),
            pooled: self.pooled,
            ..Completeness::default()
        }
    }

    fn limits(&self) -> Vec<String> {
        let mut limits = Vec::new();
        if !self.kernel.starts && self.tier != Tier::Ends {
            limits.push(
                "This kernel reports no starts of requests (6.5 does): they are followed from \
                 where they are queued or issued; their times are still the kernel's own stamps."
                    .to_owned(),
            );
        }
        if !self.kernel.workers_are_threads && self.tier != Tier::Ends {
            limits.push(
                "Before Linux 5.12 io_uring's workers are kernel threads of their own: their I/Os \
                 count for io_wqe_worker, not for the program."
                    .to_owned(),
            );
        }
        limits
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.limits();
        if !self.issue_known {
            notes.push(
                "Some devices have no stamp of the moment of issue, so their queue and device \
                 times are not separate; `--by program` uses a probe that separates them."
                    .to_owned(),
            );
        }
        let counts = self.probes.counts();
        let before = counts[count::BEFORE];
        if before > 0 {
            notes
                .push(format!("{before} I/Os that had started before the beginning are left out."));
        }
        let partial = counts[count::PARTIAL];
        if partial > 0 {
            notes.push(format!(
                "{partial} requests ended in parts; their bytes are those of the last part."
            ));
        }
        if self.labels.devices.all().any(|d| d.bio_based) {
            notes.push(
                "Devices without requests (zram, device mapper, MD) are traced as bios, from \
                 queued to done, without a queue time. Stacked devices are counted at every layer."
                    .to_owned(),
            );
        }
        if self.labels.by_file {
            notes.push(self.sureness());
        }
        notes
    }

    fn cost(&self) -> Cost {
        let watched = self.ended.unwrap_or_else(|| self.began.elapsed());
        let counts = self.probes.counts();
        let ends = counts[count::ENDS];
        let each = (self.timed.ends > 0).then(|| self.timed.ns as f64 / self.timed.ends as f64);
        Cost {
            method: self.tier.words().to_owned(),
            events: ends + counts[count::STARTS],
            ns_per_io: each,
            cpu_share: each.map(|ns| ns * ends as f64 / watched.as_nanos().max(1) as f64),
            reader_share: None,
        }
    }
}

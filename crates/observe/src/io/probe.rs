//! Loads and attaches the probes, and reads their counts. Nothing is pinned: when this process
//! ends, however it ends, the kernel removes the probes.

use std::os::fd::OwnedFd;
use std::path::Path;

use aya::maps::{Array, HashMap, MapData, PerCpuArray, RingBuf};
use aya::programs::BtfTracePoint;
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::sys::{Stats, enable_stats};
use aya::{Btf, Ebpf, EbpfLoader, Pod};

use super::abi::{COUNTS, IoInFlight, IoKey, IoProbeConfig, PerCpuData, ProbeCounts, SETS, Set};
use super::kernel_types::KernelTypes;
use super::oldest::KernelFeatures;
use crate::NotAvailable;
use crate::ebpf::{self, fdinfo, refused};

const OBJECT: &[u8] = include_bytes!("../../../../bpf/io.bpf.o.gz");
/// Probes for kernels before 6.1, which lack instructions and functions that the others use.
const COMPAT: &[u8] = include_bytes!("../../../../bpf/io-compat.bpf.o.gz");

/// Kernel's names of the flags that the probes report (`bpf/request.h`).
const FLAGS: [&str; 5] =
    ["__REQ_SYNC", "__REQ_RAHEAD", "__REQ_PREFLUSH", "__REQ_FUA", "__REQ_META"];

/// Properties of the kernel's request tracing, found from its types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kernel {
    /// True if starts are reported (`block_io_start`, Linux 6.5 and later).
    pub starts: bool,
    /// True if the newer probes can run (Linux 6.1 and later).
    pub modern: bool,
    /// True if io_uring's workers are threads of the program that they work for (Linux 5.12 and
    /// later).
    pub workers_are_threads: bool,
    /// Bit mask of the request and bio flags that the probes report.
    pub flags: u32,
    pub queue_before_request: bool,
    pub queue_before_bio: bool,
}

impl Kernel {
    /// Detects the kernel's properties, and hides those that are newer than `oldest` allows.
    pub fn read(root: &Path, oldest: KernelFeatures) -> Result<Self, NotAvailable> {
        let types = KernelTypes::read(root)?;
        let lacks = |tracepoint: &str| {
            NotAvailable::because(format!(
                "this kernel has no tracepoint {tracepoint} (Linux 5.10 or later has it)"
            ))
        };
        let arguments =
            |tracepoint: &str| types.arguments(tracepoint).ok_or_else(|| lacks(tracepoint));
        arguments("block_rq_complete")?;
        if !types.has_value("bpf_func_id", "BPF_FUNC_ringbuf_output") {
            return Err(NotAvailable::because(
                "this kernel's eBPF has no ring buffers, which Linux 5.8 and later have",
            ));
        }
        Ok(Kernel {
            starts: oldest == KernelFeatures::Newest && types.arguments("block_io_start").is_some(),
            // This function came with the version that also keeps a probe from interrupting itself.
            modern: oldest < KernelFeatures::Compat
                && types.has_value("bpf_func_id", "BPF_FUNC_user_ringbuf_drain"),
            workers_are_threads: types.has_member("bio", "bi_bdev"),
            flags: FLAGS
                .iter()
                .try_fold(0, |all, flag| {
                    Some(all | 1u32.checked_shl(types.value("req_flag_bits", flag)?)?)
                })
                .unwrap_or(u32::MAX),
            queue_before_request: arguments("block_rq_issue")? > 1,
            queue_before_bio: arguments("block_bio_queue")? > 1,
        })
    }
}

/// Selection of the probes to attach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attach {
    /// Properties of the kernel.
    pub kernel: Kernel,
    /// At the start of requests, so that the requesting program is known.
    pub start: bool,
    /// At the issue of requests, if the kernel does not stamp it itself.
    pub issue: bool,
    /// At the conversion of bios to requests, needed if some requests wait for a cache flush and
    /// another task issues them.
    pub waits: bool,
    /// Probes at the end of requests, and with `start` also before.
    pub requests: bool,
    /// Probes of bios, for devices without requests.
    pub bios: bool,
}

/// Sizes of the maps that the probes fill.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub groups: u32,
    pub regions: u32,
    pub ring_bytes: u32,
}

/// Run-time statistics of the probes, as counted by the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunTime {
    pub ns: u64,
    /// Runs of the probes at the end of I/Os.
    pub ends: u64,
    /// Runs that the kernel skipped, since the same probe was already running on that CPU.
    pub missed: u64,
}

/// Loaded and attached probes.
pub(super) struct IoProbes {
    ebpf: Ebpf,
    attached: Vec<(&'static str, BtfTracePointLinkId)>,
    stats: Option<OwnedFd>,
}

impl IoProbes {
    /// Loads and attaches the requested probes. `shifts` maps device numbers to the shift from
    /// block to region (see `shift_of`); `bio_devices` are the devices without requests.
    pub fn start(
        config: &IoProbeConfig,
        attach: Attach,
        sizes: Sizes,
        shifts: &[(u32, u32)],
        bio_devices: &[u32],
    ) -> Result<Self, NotAvailable> {
        let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
        let mut config = *config;
        config.queue_before_request = u8::from(attach.kernel.queue_before_request);
        config.queue_before_bio = u8::from(attach.kernel.queue_before_bio);
        // The older probes always get the probe at the issue.
        config.issue = u8::from(attach.issue || !attach.kernel.modern);
        config.waits = u8::from(attach.waits);
        config.flags = attach.kernel.flags;
        let object = if attach.kernel.modern { OBJECT } else { COMPAT };
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("cfg", &config, true)
            .map_max_entries("cells", sizes.groups.max(1))
            .map_max_entries("groups", sizes.groups.max(1))
            .map_max_entries("numbers", sizes.groups.max(1))
            .map_max_entries("regions", sizes.regions.max(1))
            .map_max_entries("events", sizes.ring_bytes)
            .load(&ebpf::object(object))
            .map_err(|e| refused(&e))?;
        fill(&mut ebpf, "shifts", shifts.iter().copied())?;
        fill(&mut ebpf, "bio_devices", bio_devices.iter().map(|d| (*d, 1)))?;
        let mut probes = IoProbes { ebpf, attached: Vec::new(), stats: None };
        for (name, tracepoint) in wanted(attach) {
            let link = ebpf::attach(&mut probes.ebpf, &btf, name, tracepoint)?;
            probes.attached.push((name, link));
        }
        Ok(probes)
    }

    /// Detaches the probes; their counts can still be read.
    pub fn detach(&mut self) {
        for (name, link) in self.attached.drain(..) {
            let program = ebpf::program::<BtfTracePoint>(&mut self.ebpf, name);
            // A link that is already gone needs no detaching.
            let _ = program.map(|p| p.detach(link));
        }
    }

    /// Returns the event counters, summed over all CPUs.
    pub fn counts(&self) -> ProbeCounts {
        let map =
            self.ebpf.map("owns").and_then(|m| PerCpuArray::<_, PerCpuData>::try_from(m).ok());
        let mut sums = [0; COUNTS];
        for own in map.and_then(|map| map.get(&0, 0).ok()).iter().flat_map(|cpus| cpus.iter()) {
            sums.iter_mut().zip(own.counts).for_each(|(sum, n)| *sum += n);
        }
        sums
    }

    /// Returns the groups and their numbers.
    pub fn groups(&self) -> Vec<(IoKey, u32)> {
        let map = self.ebpf.map("groups").and_then(|m| HashMap::<_, IoKey, u32>::try_from(m).ok());
        map.map_or_else(Vec::new, |map| map.iter().filter_map(Result::ok).collect())
    }

    /// Calls `f` with each CPU's value of a group in this map.
    pub fn each_cpu<T: Pod>(&self, map: &str, group: u32, mut f: impl FnMut(usize, &T)) {
        let map = self.ebpf.map(map).and_then(|m| PerCpuArray::<_, T>::try_from(m).ok());
        if let Some(values) = map.and_then(|map| map.get(&group, 0).ok()) {
            values.iter().enumerate().for_each(|(cpu, value)| f(cpu, value));
        }
    }

    /// Returns the I/Os whose end the probes have not seen.
    pub fn under_way(&self) -> Vec<IoInFlight> {
        let map = self.ebpf.map("under_way").and_then(|m| Array::<_, Set>::try_from(m).ok());
        let Some(map) = map else { return Vec::new() };
        let all = (0..SETS).filter_map(|set| map.get(&set, 0).ok()).flatten();
        all.filter(|io| io.id != 0 && io.left_out == 0).collect()
    }

    /// Takes a ring out of the object, for a single reader.
    pub fn ring(&mut self, name: &str) -> Option<RingBuf<MapData>> {
        RingBuf::try_from(self.ebpf.take_map(name)?).ok()
    }

    /// Switches the kernel's timing of each run on or off. Timing costs as much as a cheap probe,
    /// so only a sample of the runs is timed.
    pub fn time_runs(&mut self, on: bool) {
        self.stats = if on { enable_stats(Stats::RunTime).ok() } else { None };
    }

    /// Returns the kernel's statistics of the probes' runs.
    pub fn run_time(&self) -> RunTime {
        let mut all = RunTime::default();
        for (name, program) in self.ebpf.programs() {
            let Some(text) = fdinfo(program) else { continue };
            let value = |key: &str| {
                let line = text.lines().find_map(|l| l.strip_prefix(key));
                line.and_then(|v| v.trim_start_matches(':').trim().parse::<u64>().ok())
            };
            let runs = value("run_cnt").unwrap_or(0);
            all.ns += value("run_time_ns").unwrap_or(0);
            all.missed += value("recursion_misses").unwrap_or(0);
            if matches!(name, "complete" | "bio_complete") {
                all.ends += runs;
            }
        }
        all
    }
}

fn wanted(attach: Attach) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tracked = attach.requests && attach.start;
    let starts = tracked && attach.kernel.starts;
    let queued = tracked && !attach.kernel.starts;
    [
        (attach.requests, "complete", "block_rq_complete"),
        (tracked, "requeued", "block_rq_requeue"),
        (tracked, "merged", "block_rq_merge"),
        (starts && attach.issue, "issue", "block_rq_issue"),
        (starts, "start", "block_io_start"),
        (queued, "start_or_issue", "block_rq_issue"),
        (queued, "queued", "block_rq_insert"),
        (queued && attach.waits, "got_request", "block_getrq"),
        (attach.bios, "bio_complete", "block_bio_complete"),
        (attach.bios, "bio_queue", "block_bio_queue"),
    ]
    .into_iter()
    .filter(|(on, ..)| *on)
    .map(|(_, name, tracepoint)| (name, tracepoint))
}

fn fill(
    ebpf: &mut Ebpf,
    map: &str,
    pairs: impl Iterator<Item = (u32, u32)>,
) -> Result<(), NotAvailable> {
    let missing = || NotAvailable::because(format!("the probes hold no map `{map}`"));
    let mut table = HashMap::<_, u32, u32>::try_from(ebpf.map_mut(map).ok_or_else(missing)?)
        .map_err(|e| refused(&e))?;
    for (key, value) in pairs {
        // On a machine with more devices than the map has room for, the others have no regions.
        if table.insert(key, value, 0).is_err() {
            break;
        }
    }
    Ok(())
}

/// Returns the address of a kernel function, if the kernel does not hide it.
pub(super) fn kernel_address(root: &Path, function: &str) -> Option<u64> {
    let text = std::fs::read_to_string(root.join("proc/kallsyms")).ok()?;
    let line = text.lines().find(|l| l.split(' ').nth(2) == Some(function))?;
    u64::from_str_radix(line.split(' ').next()?, 16).ok().filter(|address| *address != 0)
}

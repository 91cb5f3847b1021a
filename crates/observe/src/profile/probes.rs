//! Loads and attaches the profiler's probes, and reads their results. Nothing is pinned: when this
//! process ends, however it ends, the kernel removes the probes.

use std::collections::HashMap as Map;
use std::io::Read as _;
use std::path::Path;

use aya::maps::{HashMap, MapData, RingBuf};
use aya::programs::Iter;
use aya::programs::perf_event::{
    HardwareEvent, PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent,
};
use aya::{Btf, Ebpf, EbpfLoader, Pod};

use super::abi::{
    DEPTH, FollowedThread, OWN_REGISTERS, ProfileConfig, RawSample, Stack, StackGroup, StackTime,
};
use super::{ProfileRequest, Unwind};
use crate::NotAvailable;
use crate::ebpf::{attach, groups, object, program, refused};
use crate::io::kernel_types::KernelTypes;
use crate::io::perf_ring::cpus;

const OBJECT: &[u8] = include_bytes!("../../../../bpf/profile.bpf.o.gz");

/// Number of programs that a process has executed when it is first followed.
const FIRST_GENERATION: u32 = 0;

/// Loaded and attached probes.
pub(super) struct ProfileProbes {
    pub ebpf: Ebpf,
    /// True if samples are taken by hardware cycles, not by the CPU clock.
    pub cycles: bool,
    /// Ring of samples to be unwound; `None` if stacks are not copied.
    raws: Option<RingBuf<MapData>>,
}

/// Seconds of samples, with copied stacks, that the ring can hold while nobody reads it, as on a
/// loaded or emulated machine.
const RING_SECONDS: f64 = 0.25;
/// Spare entries of `amounts`: when two CPUs allocate an entry for the same group at once, one of
/// them stays unused.
const LEFT_EMPTY: u32 = 256;
const RING_BYTES: std::ops::RangeInclusive<u32> = 1 << 20..=1 << 26;

impl ProfileProbes {
    /// Loads the probes and attaches them.
    pub fn start(
        root: &Path,
        mut config: ProfileConfig,
        ask: &ProfileRequest,
    ) -> Result<Self, NotAvailable> {
        let types = KernelTypes::read(root)?;
        let arguments = types.arguments("sched_switch").ok_or_else(|| {
            NotAvailable::because("this kernel has no tracepoint sched_switch that eBPF can read")
        })?;
        // This function came with the atomic addition that returns the old value.
        if !types.has_value("bpf_func_id", "BPF_FUNC_check_mtu") {
            return Err(NotAvailable::because(
                "this kernel's eBPF has no atomic fetch-and-add (Linux 5.12 or later has it)",
            ));
        }
        config.state_argument = u8::from(arguments >= 4);
        config.kernel = 1;
        // Before Linux 5.15 a probe cannot read a program's registers.
        let registers = types.has_value("bpf_func_id", "BPF_FUNC_task_pt_regs");
        config.walks = u32::from(registers && cfg!(target_arch = "x86_64"));
        let unwinds = ask.unwind != Unwind::FramePointers && registers;
        config.registers = if unwinds { OWN_REGISTERS } else { 0 };
        let bytes =
            ask.rate_hz * cpus().len() as f64 * RING_SECONDS * size_of::<Stack>() as f64 * 18.0;
        let ring = (bytes as u32).clamp(*RING_BYTES.start(), *RING_BYTES.end()).next_power_of_two();
        let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("cfg", &config, true)
            .map_max_entries("groups", ask.room)
            .map_max_entries("amounts", ask.room.saturating_add(LEFT_EMPTY))
            .map_max_entries("stacks", ask.room)
            .map_max_entries("raws", if config.registers > 0 { ring } else { 4096 })
            .load(&object(OBJECT))
            .map_err(|e| refused(&e))?;
        let mut wanted = vec![
            ("forked", "sched_process_fork"),
            ("executed", "sched_process_exec"),
            ("freed", "sched_process_free"),
        ];
        if config.off_cpu > 0 {
            wanted.extend([("switched", "sched_switch"), ("woken", "sched_wakeup")]);
        }
        for (name, tracepoint) in wanted {
            attach(&mut ebpf, &btf, name, tracepoint)?;
        }
        if config.off_cpu > 0 {
            for name in ["there", "waiting"] {
                program::<Iter>(&mut ebpf, name)?.load("task", &btf).map_err(|e| refused(&e))?;
            }
        }
        let sample: &mut PerfEvent = program(&mut ebpf, "sample")?;
        sample.load().map_err(|e| refused(&e))?;
        let cycles = Self::sample(sample, ask.rate_hz)?;
        let raws = if config.registers > 0 { ebpf.take_map("raws") } else { None };
        Ok(ProfileProbes { ebpf, cycles, raws: raws.and_then(|m| RingBuf::try_from(m).ok()) })
    }

    /// Attaches the sampling probe to hardware cycles if there is a PMU, else to the CPU clock.
    /// Returns true for cycles.
    fn sample(program: &mut PerfEvent, rate_hz: f64) -> Result<bool, NotAvailable> {
        let clock = PerfEventConfig::Software(SoftwareEvent::CpuClock);
        let cycles = PerfEventConfig::Hardware(HardwareEvent::CpuCycles);
        let period = SamplePolicy::Period((1e9 / rate_hz) as u64);
        let frequency = SamplePolicy::Frequency(rate_hz.round() as u64);
        let mut counts = true;
        for cpu in cpus() {
            let scope = || PerfEventScope::AllProcessesOneCpu { cpu: cpu as u32 };
            // Either all CPUs count cycles, or cycles are not used.
            if counts && program.attach(cycles, scope(), frequency, false).is_ok() {
                continue;
            }
            if counts && cpu != cpus()[0] {
                return Err(NotAvailable::because(format!(
                    "CPU {cpu} counts no cycles, but others do"
                )));
            }
            counts = false;
            program.attach(clock, scope(), period, false).map_err(|e| refused(&e))?;
        }
        Ok(counts)
    }

    /// Marks a process as followed; returns false if the map is full.
    pub fn follow(&mut self, tgid: u32) -> bool {
        let map = self.ebpf.map_mut("targets");
        let map = map.and_then(|m| HashMap::<_, u32, u32>::try_from(m).ok());
        // A process that is already followed keeps its count of programs.
        map.is_some_and(|mut m| {
            m.get(&tgid, 0).is_ok() || m.insert(tgid, FIRST_GENERATION, 1).is_ok()
        })
    }

    /// Makes the probes record the kernel stacks of the threads that are waiting now.
    pub fn look_at_waiting(&mut self) {
        // If this fails, the reason for those waits remains unknown.
        let _ = self.iterate("waiting");
    }

    /// Runs an iterator probe over all threads.
    pub fn iterate(&mut self, name: &str) -> Result<(), NotAvailable> {
        let program: &mut Iter = program(&mut self.ebpf, name)?;
        let link = program.attach().map_err(|e| refused(&e))?;
        let link = program.take_link(link).map_err(|e| refused(&e))?;
        let mut file = link.into_file().map_err(|e| refused(&e))?;
        // The probe prints nothing: it runs while its file is read.
        let read = file.read_to_end(&mut Vec::new());
        read.map(|_| ()).map_err(|e| NotAvailable::because(format!("the probe `{name}`: {e}")))
    }

    /// Returns true if stacks are copied for unwinding.
    pub fn unwinds(&self) -> bool {
        self.raws.is_some()
    }

    /// Returns the samples that are waiting to be unwound.
    pub fn raws(&mut self) -> Vec<RawSample> {
        let mut all = Vec::new();
        if let Some(ring) = &mut self.raws {
            while let Some(item) = ring.next() {
                all.extend(RawSample::read(&item));
            }
        }
        all
    }

    /// Marks a stack as complete by frame pointers: it is not copied again.
    pub fn is_whole(&mut self, stack: u64) {
        let map = self.ebpf.map_mut("whole");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, u64, u8>::try_from(m).ok()) {
            // If the map is full, the stack is copied again.
            let _ = map.insert(stack, 1, 0);
        }
    }

    fn all<K: Pod, V: Pod>(&self, name: &str) -> Vec<(K, V)> {
        let map = self.ebpf.map(name);
        let map = map.and_then(|m: &aya::maps::Map| HashMap::<&MapData, K, V>::try_from(m).ok());
        map.map_or_else(Vec::new, |m| m.iter().filter_map(Result::ok).collect())
    }

    /// Returns the groups with their amounts, summed over all CPUs.
    pub fn groups(&self) -> Vec<(StackGroup, StackTime)> {
        let sum = |a: StackTime, b: &StackTime| StackTime { n: a.n + b.n, ns: a.ns + b.ns };
        let groups = groups::<StackGroup, StackTime>(&self.ebpf).into_iter();
        groups
            .map(|(group, by_cpu)| (group, by_cpu.iter().fold(StackTime::default(), sum)))
            .collect()
    }

    /// Returns the followed threads by thread id.
    pub fn tasks(&self) -> Vec<(u32, FollowedThread)> {
        self.all("tasks")
    }

    /// Returns the stacks by id, each innermost frame first.
    pub fn stacks(&self) -> Map<u64, Box<[u64]>> {
        let all = self.all::<u64, Stack>("stacks").into_iter();
        all.map(|(name, s)| (name, s.ip[..(s.n as usize).min(DEPTH)].into())).collect()
    }
}

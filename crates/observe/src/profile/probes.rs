//! Loads the profiler's probes, attaches them, and reads what they have added up. Nothing is pinned: when
//! this process ends, however it ends, the kernel takes them away.

use std::collections::HashMap as Map;
use std::path::Path;

use aya::maps::{Array, HashMap, MapData, PerCpuArray};
use aya::programs::perf_event::{
    HardwareEvent, PerfEvent, PerfEventConfig, PerfEventScope, SamplePolicy, SoftwareEvent,
};
use aya::programs::{BtfTracePoint, Program};
use aya::{Btf, Ebpf, EbpfLoader, Pod};

use super::abi::{Amount, Config, Group, Stack, Target, Task, Window};
use crate::NotAvailable;
use crate::io::kernel_types::KernelTypes;
use crate::io::perf_ring::cpus;
use crate::io::probe::refused;

/// The compiled probes. Aligned, since they are read as ELF in place.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);
static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!("../../../../bpf/profile.bpf.o"));

/// The probes at work.
pub(super) struct Probes {
    ebpf: Ebpf,
    /// Whether the samples are of hardware cycles, not of the CPU clock.
    pub cycles: bool,
}

impl Probes {
    /// Loads and attaches; `rate_hz` is of samples.
    pub fn start(root: &Path, mut config: Config, rate_hz: f64) -> Result<Self, NotAvailable> {
        let types = KernelTypes::read(root)?;
        let arguments = types.arguments("sched_switch").ok_or_else(|| {
            NotAvailable::because("this kernel has no tracepoint sched_switch that eBPF can read")
        })?;
        config.state_argument = u8::from(arguments >= 4);
        config.kernel = 1;
        let btf = Btf::from_sys_fs().map_err(|e| refused(&e))?;
        let mut ebpf = EbpfLoader::new()
            .btf(Some(&btf))
            .override_global("cfg", &config, true)
            .load(&OBJECT.0)
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
            let program: &mut BtfTracePoint =
                program(&mut ebpf, name)?.try_into().map_err(|_| missing(name))?;
            program.load(tracepoint, &btf).map_err(|e| refused(&e))?;
            program.attach().map_err(|e| refused(&e))?;
        }
        let sample: &mut PerfEvent =
            program(&mut ebpf, "sample")?.try_into().map_err(|_| missing("sample"))?;
        sample.load().map_err(|e| refused(&e))?;
        let cycles = Self::sample(sample, rate_hz)?;
        Ok(Probes { ebpf, cycles })
    }

    /// Attaches to hardware cycles where there is a PMU, else to the CPU clock.
    fn sample(program: &mut PerfEvent, rate_hz: f64) -> Result<bool, NotAvailable> {
        let clock = PerfEventConfig::Software(SoftwareEvent::CpuClock);
        let cycles = PerfEventConfig::Hardware(HardwareEvent::CpuCycles);
        let period = SamplePolicy::Period((1e9 / rate_hz) as u64);
        let frequency = SamplePolicy::Frequency(rate_hz.round() as u64);
        let mut counts = true;
        for cpu in cpus() {
            let scope = || PerfEventScope::AllProcessesOneCpu { cpu: cpu as u32 };
            // A machine has cycles on all of its CPUs or is not asked for them.
            if counts && program.attach(cycles, scope(), frequency, false).is_ok() {
                continue;
            }
            if counts && cpu != cpus()[0] {
                return Err(NotAvailable::because(format!(
                    "CPU {cpu} counts no cycles, others do"
                )));
            }
            counts = false;
            program.attach(clock, scope(), period, false).map_err(|e| refused(&e))?;
        }
        Ok(counts)
    }

    /// Says from when to when is measured; 0: not yet.
    pub fn set_window(&mut self, window: Window) {
        let map = self.ebpf.map_mut("window");
        if let Some(mut array) = map.and_then(|m| Array::<_, Window>::try_from(m).ok()) {
            // The map is there, since the probes were loaded with it.
            let _ = array.set(0, window, 0);
        }
    }

    /// Follows a process.
    pub fn follow(&mut self, tgid: u32) -> bool {
        let map = self.ebpf.map_mut("targets");
        let map = map.and_then(|m| HashMap::<_, u32, Target>::try_from(m).ok());
        // One that is followed already keeps its count of programs.
        map.is_some_and(|mut m| {
            m.get(&tgid, 0).is_ok() || m.insert(tgid, Target::default(), 1).is_ok()
        })
    }

    /// Says what a thread is doing that was there before.
    pub fn tell(&mut self, tid: u32, task: &Task) {
        let map = self.ebpf.map_mut("tasks");
        if let Some(mut map) = map.and_then(|m| HashMap::<_, u32, Task>::try_from(m).ok()) {
            // What the probes have seen meanwhile is newer.
            let _ = map.insert(tid, task, 1);
        }
    }

    /// Ends the looking; what was added up stays to be read.
    pub fn detach(&mut self) {
        for (_, program) in self.ebpf.programs_mut() {
            // One that cannot be taken off goes with the process.
            match program {
                Program::PerfEvent(p) => drop(p.unload()),
                Program::BtfTracePoint(p) => drop(p.unload()),
                _ => {}
            }
        }
    }

    /// A count over all CPUs.
    pub fn count(&self, what: u32) -> u64 {
        let map = self.ebpf.map("counters");
        let map = map.and_then(|m| PerCpuArray::<_, u64>::try_from(m).ok());
        map.and_then(|m| m.get(&what, 0).ok()).map_or(0, |values| values.iter().sum())
    }

    fn all<K: Pod, V: Pod>(&self, name: &str) -> Vec<(K, V)> {
        let map = self.ebpf.map(name);
        let map = map.and_then(|m: &aya::maps::Map| HashMap::<&MapData, K, V>::try_from(m).ok());
        map.map_or_else(Vec::new, |m| m.iter().filter_map(Result::ok).collect())
    }

    /// What was added up.
    pub fn groups(&self) -> Vec<(Group, Amount)> {
        self.all("groups")
    }

    /// The threads that are followed.
    pub fn tasks(&self) -> Vec<(u32, Task)> {
        self.all("tasks")
    }

    /// The stacks by name.
    pub fn stacks(&self) -> Map<u64, Stack> {
        self.all("stacks").into_iter().collect()
    }
}

fn missing(name: &str) -> NotAvailable {
    NotAvailable::because(format!("the probes hold no program `{name}`"))
}

fn program<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut Program, NotAvailable> {
    ebpf.program_mut(name).ok_or_else(|| missing(name))
}

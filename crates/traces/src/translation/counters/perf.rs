//! Opens counters with `perf_event_open(2)`, for a program that is about to start or for every CPU.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::maths::{CounterReading, Readings};
use super::{CpuIdentity, Microarch};
use crate::translation::perf_event::{Attributes, DISABLED};

const INHERIT: u64 = 1 << 1;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const ENABLE_ON_EXEC: u64 = 1 << 12;
/// Reads return the value, the time enabled and the time running.
const FORMAT: u64 = 1 | 2;

/// Programs whose events are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountScope {
    /// The program that the calling thread starts next, and all programs that it starts.
    NextProgram,
    /// All programs on every CPU.
    System,
}

/// Reason why nothing can be counted on this machine.
#[derive(Debug, thiserror::Error)]
pub enum CountersUnavailable {
    /// `/proc/cpuinfo` does not identify the processor.
    #[error("the processor is unknown: /proc/cpuinfo names no vendor, family and model")]
    Cpu,
    /// There is no events file for the processor.
    #[error("assay has no events file for this processor ({0}), so nothing is derived")]
    Model(CpuIdentity),
    /// The kernel has no counters for the processor.
    #[error(
        "this kernel shows no counters of the processor: /sys/bus/event_source/devices/{pmu} is \
        missing, as on most virtual machines ({cpu})"
    )]
    Pmu {
        /// Kernel's name of the counters.
        pmu: String,
        /// Processor that was identified.
        cpu: CpuIdentity,
    },
    /// The kernel has counters but could not open any of the events.
    #[error("perf_event_open: {source}{remedy}")]
    Open {
        source: io::Error,
        /// Advice, as the end of a sentence.
        remedy: &'static str,
    },
}

struct Event {
    name: String,
    files: Vec<File>,
}

/// Open events of a microarchitecture.
pub struct PerfGroup {
    arch: Microarch,
    events: Vec<Event>,
}

impl PerfGroup {
    /// Opens all events that this processor and kernel support.
    ///
    /// # Errors
    /// If no event can be opened, with the reason.
    pub fn open(scope: CountScope) -> Result<Self, CountersUnavailable> {
        let cpu = CpuIdentity::read(Path::new("/")).ok_or(CountersUnavailable::Cpu)?;
        let Some(arch) = Microarch::for_cpu(&cpu) else {
            return Err(CountersUnavailable::Model(cpu));
        };
        let folder = format!("/sys/bus/event_source/devices/{}", arch.pmu);
        let kind = std::fs::read_to_string(format!("{folder}/type")).ok();
        let Some(kind) = kind.and_then(|t| t.trim().parse().ok()) else {
            return Err(CountersUnavailable::Pmu { pmu: arch.pmu, cpu });
        };
        let mut events = Vec::new();
        let mut failed = None;
        for (name, encoding) in &arch.events {
            match open_all(kind, encoding.config(), scope) {
                Ok(files) => events.push(Event { name: name.clone(), files }),
                Err(e) => failed = Some(e),
            }
        }
        match failed {
            Some(source) if events.is_empty() => {
                let remedy = match source.raw_os_error() {
                    Some(libc::EACCES | libc::EPERM) => {
                        "; run as root, with CAP_PERFMON, or lower kernel.perf_event_paranoid"
                    }
                    Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
                        "; the kernel has no such counter on this machine"
                    }
                    _ => "",
                };
                Err(CountersUnavailable::Open { source, remedy })
            }
            _ => Ok(PerfGroup { arch, events }),
        }
    }

    /// Returns the microarchitecture whose events are counted.
    pub fn arch(&self) -> &Microarch {
        &self.arch
    }

    /// Returns the counts since the events were opened, without events that cannot be read.
    pub fn read(&mut self) -> Readings {
        let mut all = BTreeMap::new();
        self.read_into(&mut all);
        all
    }

    /// Reads the counts like [`PerfGroup::read`] into an existing map. It does not allocate once
    /// the map has all events.
    pub fn read_into(&mut self, all: &mut Readings) {
        for event in &mut self.events {
            match sum(&mut event.files) {
                Err(_) => {
                    all.remove(&event.name);
                }
                Ok(sum) => match all.get_mut(&event.name) {
                    Some(reading) => *reading = sum,
                    None => {
                        all.insert(event.name.clone(), sum);
                    }
                },
            }
        }
    }
}

/// Adds up the readings of an event on several CPUs.
fn sum(files: &mut [File]) -> io::Result<CounterReading> {
    let mut all = CounterReading::default();
    for file in files {
        let r = read(file)?;
        all.value += r.value;
        all.enabled_ns += r.enabled_ns;
        all.running_ns += r.running_ns;
    }
    Ok(all)
}

fn open_all(kind: u32, config: u64, scope: CountScope) -> io::Result<Vec<File>> {
    let open = |flags, pid, cpu| {
        let mut event = Attributes::new(kind, config);
        event.read_format = FORMAT;
        event.flags = flags;
        event.open(pid, cpu).map(File::from)
    };
    match scope {
        CountScope::NextProgram => {
            let flags = DISABLED | INHERIT | ENABLE_ON_EXEC | EXCLUDE_HYPERVISOR;
            Ok(vec![open(flags, 0, -1)?])
        }
        CountScope::System => {
            let cpus = std::thread::available_parallelism().map_or(1, usize::from);
            let one = |cpu| open(EXCLUDE_HYPERVISOR, -1, cpu as i32);
            (0..cpus).map(one).collect()
        }
    }
}

fn read(file: &mut File) -> io::Result<CounterReading> {
    let mut bytes = [0u8; 24];
    file.read_exact(&mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    let [value, enabled_ns, running_ns] = [0, 1, 2].map(|i: usize| u64::from_ne_bytes(words[i]));
    Ok(CounterReading { value, enabled_ns, running_ns })
}

//! What the loaders of all probes share: objects that are read in place, programs at tracepoints, counts of all CPUs, and
//! records out of rings.
#![allow(unsafe_code)]

use assay_sut::clock::monotonic_ns;
use aya::maps::{Array, PerCpuArray};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, Program};
use aya::{Btf, Ebpf, Pod};

use crate::NotAvailable;
use crate::io::probe::{missed_runs, refused};

/// Compiled probes. Aligned, since they are read as ELF in place.
#[repr(C, align(8))]
pub(crate) struct Aligned<T: ?Sized>(pub T);

/// The measured part, nanoseconds; 0: it has not begun, or not ended.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Window {
    pub begin_ns: u64,
    pub end_ns: u64,
}

// SAFETY: two integers without padding; every pattern of bits is a value.
unsafe impl Pod for Window {}

impl Window {
    /// Begins the measured part now.
    pub fn begin(&mut self) {
        *self = Window { begin_ns: monotonic_ns(), end_ns: 0 };
    }

    /// Ends the measured part now.
    pub fn end(&mut self) {
        self.end_ns = monotonic_ns();
    }

    /// The end of the measured part, else of the watching, else now.
    pub fn end_or(self, ended_ns: Option<u64>) -> u64 {
        match self.end_ns {
            0 => ended_ns.unwrap_or_else(monotonic_ns),
            end_ns => end_ns,
        }
    }

    /// Hands the window to the probes.
    pub fn hand_to(self, ebpf: &mut Ebpf) {
        let map = ebpf.map_mut("window");
        if let Some(mut array) = map.and_then(|m| Array::<_, Window>::try_from(m).ok()) {
            let _ = array.set(0, self, 0);
        }
    }
}

/// The program of this name, as one of its kind.
pub(crate) fn program<'a, P>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut P, NotAvailable>
where
    &'a mut P: TryFrom<&'a mut Program>,
{
    let program = ebpf.program_mut(name).and_then(|program| program.try_into().ok());
    program.ok_or_else(|| NotAvailable::because(format!("the probes hold no program `{name}`")))
}

/// Loads the program of this name and attaches it to a tracepoint.
pub(crate) fn attach(
    ebpf: &mut Ebpf,
    btf: &Btf,
    name: &str,
    tracepoint: &str,
) -> Result<BtfTracePointLinkId, NotAvailable> {
    let program: &mut BtfTracePoint = program(ebpf, name)?;
    program.load(tracepoint, btf).map_err(|e| refused(&e))?;
    program.attach().map_err(|e| refused(&e))
}

/// Unloads all programs; what they have counted stays to be read. Returns how often the kernel did not run one
/// because it was running there already.
pub(crate) fn unload(ebpf: &mut Ebpf) -> u64 {
    let missed = ebpf.programs().filter_map(|(_, program)| missed_runs(program)).sum();
    for (_, program) in ebpf.programs_mut() {
        match program {
            Program::BtfTracePoint(p) => drop(p.unload()),
            Program::PerfEvent(p) => drop(p.unload()),
            _ => {}
        }
    }
    missed
}

/// A counter of the probes, summed over all CPUs.
pub(crate) fn count(ebpf: &Ebpf, what: u32) -> u64 {
    let map = ebpf.map("counters");
    let map = map.and_then(|m| PerCpuArray::<_, u64>::try_from(m).ok());
    map.and_then(|m| m.get(&what, 0).ok()).map_or(0, |values| values.iter().sum())
}

/// A record out of a ring; `None`: it is of another length.
pub(crate) fn record<T: Pod>(bytes: &[u8]) -> Option<T> {
    // SAFETY: the length is checked, every pattern of bits is a value, and the read needs no alignment.
    (bytes.len() == size_of::<T>()).then(|| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

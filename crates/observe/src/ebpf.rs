//! Parts that the loaders of all probes share: their compressed objects, programs attached to
//! tracepoints, counters summed over all CPUs, and records read from rings.
#![allow(unsafe_code)]

use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};

use assay_system::clock::monotonic_ns;
use assay_system::process::tracing_copy;
use aya::maps::{Array, HashMap, PerCpuArray, PerCpuValues};
use aya::programs::tp_btf::BtfTracePointLinkId;
use aya::programs::{BtfTracePoint, Program};
use aya::{Btf, Ebpf, Pod};
use flate2::read::GzDecoder;

use crate::NotAvailable;

/// Decompresses the object of compiled probes, which `make bpf` wrote.
pub(crate) fn object(compressed: &[u8]) -> Vec<u8> {
    let mut object = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut object).expect("the embedded object is whole");
    object
}

/// Declares types as shared with the probes, each with its size there.
macro_rules! shared_with_probes {
    ($($type:ty: $size:expr),+ $(,)?) => {$(
        const _: () = assert!(size_of::<$type>() == $size);
        // SAFETY: integers and arrays of them in C layout without padding (the pads are fields), so
        // every pattern of bits is a value.
        unsafe impl aya::Pod for $type {}
    )+};
}
pub(crate) use shared_with_probes;

/// Measurement window, nanoseconds; 0 if it has not begun, or not ended.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct Window {
    pub begin_ns: u64,
    pub end_ns: u64,
}

shared_with_probes! { Window: 16 }

impl Window {
    /// Begins the measurement window now.
    pub fn begin(&mut self) {
        *self = Window { begin_ns: monotonic_ns(), end_ns: 0 };
    }

    /// Ends the measurement window now.
    pub fn end(&mut self) {
        self.end_ns = monotonic_ns();
    }

    /// Returns the end of the window, or `ended_ns` (the end of tracing), or the current time.
    pub fn end_or(self, ended_ns: Option<u64>) -> u64 {
        match self.end_ns {
            0 => ended_ns.unwrap_or_else(monotonic_ns),
            end_ns => end_ns,
        }
    }

    /// Copies the window to the probes.
    pub fn hand_to(self, ebpf: &mut Ebpf) {
        let map = ebpf.map_mut("window");
        if let Some(mut array) = map.and_then(|m| Array::<_, Window>::try_from(m).ok()) {
            // The map exists, since the probes were loaded with it.
            let _ = array.set(0, self, 0);
        }
    }
}

/// Returns the program with this name as one of type `P`.
pub(crate) fn program<'a, P>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut P, NotAvailable>
where
    &'a mut P: TryFrom<&'a mut Program>,
{
    let program = ebpf.program_mut(name).and_then(|program| program.try_into().ok());
    program.ok_or_else(|| NotAvailable::because(format!("the probes hold no program `{name}`")))
}

/// Loads the program with this name and attaches it to a tracepoint.
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

/// Unloads all programs; their counts can still be read.
pub(crate) fn unload(ebpf: &mut Ebpf) {
    for (_, program) in ebpf.programs_mut() {
        match program {
            // A program that cannot be unloaded goes with the process.
            Program::BtfTracePoint(p) => drop(p.unload()),
            Program::PerfEvent(p) => drop(p.unload()),
            _ => {}
        }
    }
}

/// Returns the number of runs that the kernel skipped because the program was already running on
/// that CPU.
pub(crate) fn missed(ebpf: &Ebpf) -> u64 {
    ebpf.programs().filter_map(|(_, program)| missed_runs(program)).sum()
}

/// Returns the amounts of each group by CPU: `groups` maps a group to the index of its entry in the
/// array `amounts`. Entries beyond the array do not exist; the probes count them as lost.
pub(crate) fn groups<G: Pod, A: Pod>(ebpf: &Ebpf) -> Vec<(G, PerCpuValues<A>)> {
    let (groups, amounts) = (ebpf.map("groups"), ebpf.map("amounts"));
    let groups = groups.and_then(|m| HashMap::<_, G, u32>::try_from(m).ok());
    let amounts = amounts.and_then(|m| PerCpuArray::<_, A>::try_from(m).ok());
    let Some((groups, amounts)) = groups.zip(amounts) else { return Vec::new() };
    let of = |(group, place): (G, u32)| Some((group, amounts.get(&place, 0).ok()?));
    groups.iter().filter_map(Result::ok).filter_map(of).collect()
}

/// Returns a counter of the probes, summed over all CPUs.
pub(crate) fn count(ebpf: &Ebpf, what: u32) -> u64 {
    let map = ebpf.map("counters");
    let map = map.and_then(|m| PerCpuArray::<_, u64>::try_from(m).ok());
    map.and_then(|m| m.get(&what, 0).ok()).map_or(0, |values| values.iter().sum())
}

/// Converts the bytes of a ring entry to a record; `None` if the length differs.
pub(crate) fn record<T: Pod>(bytes: &[u8]) -> Option<T> {
    // SAFETY: the length is checked, every pattern of bits is a value, and the read needs no
    // alignment.
    (bytes.len() == size_of::<T>()).then(|| unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

/// Returns the number of skipped runs of one program; `None` if the kernel does not report it.
fn missed_runs(program: &Program) -> Option<u64> {
    let text = fdinfo(program)?;
    text.lines().find_map(|l| l.strip_prefix("recursion_misses:"))?.trim().parse().ok()
}

/// Returns the kernel's description of a program from `/proc/self/fdinfo`.
pub(crate) fn fdinfo(program: &Program) -> Option<String> {
    let fd = program.fd().ok()?.as_fd().as_raw_fd();
    std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()
}

/// Text that precedes the verifier's output in an error.
const VERIFIER: &str = ". Verifier output:";

/// Converts an error of the kernel to a message with a remedy.
pub(crate) fn refused(error: &(dyn std::error::Error + 'static)) -> NotAvailable {
    // The verifier rejects with the same error number, but then has output.
    let text = error.to_string();
    let verified = text.split_once(VERIFIER).is_some_and(|(_, output)| !output.trim().is_empty());
    let mut cause = (!verified).then_some(error);
    while let Some(one) = cause {
        if let Some(io) = one.downcast_ref::<std::io::Error>()
            && io.kind() == std::io::ErrorKind::PermissionDenied
        {
            return NotAvailable::because(without_privilege());
        }
        cause = one.source();
    }
    NotAvailable::because(format!("the kernel rejected the eBPF probes: {}", in_short(&text)))
}

/// Shortens an error with the verifier's output to the operation that failed and the verifier's
/// reason, which is the last line before its statistics.
fn in_short(error: &str) -> String {
    let (what, output) = error.split_once(VERIFIER).unwrap_or((error, ""));
    let numbers = ["processed ", "verification time", "stack depth"];
    let why = output
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty() && !numbers.iter().any(|own| line.starts_with(own)));
    let what = what.lines().next().unwrap_or_default();
    let text = why.map_or_else(|| what.to_owned(), |why| format!("{what}: {why}"));
    text.chars().take(240).collect()
}

/// Returns the privileges that eBPF needs, or the lockdown that forbids it.
pub(crate) fn without_privilege() -> String {
    let lockdown = std::fs::read_to_string("/sys/kernel/security/lockdown").unwrap_or_default();
    if lockdown.contains("[confidentiality]") {
        return "the kernel is locked down (confidentiality), which forbids tracing by eBPF"
            .to_owned();
    }
    let missing = tracing_copy::missing().join(", ");
    format!("tracing needs root, or {missing} (`assay doctor` says how to get them)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verifiers_reason_is_its_last_words() {
        let output = "the BPF_PROG_LOAD syscall returned Invalid argument (os error 22). Verifier \
             output: 0: R1=ctx() R10=fp0\n\
             ; unsigned long word;\n24: (85) call unknown#195896080\n\
             invalid func unknown#195896080\n\
             processed 24 insns (limit 1000000) max_states_per_insn 0\n";
        let short = in_short(output);
        assert!(short.ends_with("(os error 22): invalid func unknown#195896080"), "{short}");
        assert_eq!(in_short("no such program\nmore"), "no such program");
    }
}

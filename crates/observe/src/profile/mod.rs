//! Live profiling: stacks sampled on CPU, and stacks of waits off CPU, aggregated in the kernel by
//! eBPF and symbolized afterwards. [`ProfileWatch`] profiles a trial or a command.

#[cfg(feature = "ebpf")]
mod abi;
#[cfg(feature = "ebpf")]
mod eh_frame;
#[cfg(feature = "ebpf")]
mod elf;
#[cfg(feature = "ebpf")]
mod gather;
#[cfg(feature = "ebpf")]
mod jit;
#[cfg(feature = "ebpf")]
mod kernel_symbols;
mod looking;
#[cfg(feature = "ebpf")]
mod maps;
#[cfg(feature = "ebpf")]
mod probes;
#[cfg(feature = "ebpf")]
mod profiler;
#[cfg(not(feature = "ebpf"))]
#[path = "no_ebpf.rs"]
mod profiler;
#[cfg(feature = "ebpf")]
mod sampler;
#[cfg(feature = "ebpf")]
mod spaces;
#[cfg(feature = "ebpf")]
mod symbols;
#[cfg(feature = "ebpf")]
mod unwind;
#[cfg(feature = "ebpf")]
mod unwound;
mod watch;

pub use watch::{ProfileResult, ProfileWatch, profile_ability};

use crate::process_filter::ProcessFilter;

/// Default sampling rate per second and CPU. Not 100, so that an activity that recurs every
/// hundredth of a second is not sampled always or never.
pub const RATE_HZ: f64 = 99.0;
/// Maximum sampling rate per second and CPU.
pub const MAX_RATE_HZ: f64 = 10_000.0;

/// Duration in nanoseconds below which waits are sampled: some of them represent all, as samples do
/// for time on CPU. Walking a stack in the kernel takes longer than many a wait.
pub const SHORT_NS: u64 = 400_000;

/// Default number of different stacks that are kept.
pub const ROOM: u32 = 16_384;

/// Method of unwinding the stacks of programs while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unwind {
    /// By frame pointers; by DWARF if these do not lead to the outermost frame.
    #[default]
    Auto,
    FramePointers,
    Dwarf,
}

assay_model::names! {
    pub Unwind::name, ALL: Auto = "auto", FramePointers = "fp", Dwarf = "dwarf"
}

/// Options of a profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRequest {
    pub whose: ProcessFilter,
    /// Sampling rate per second and CPU.
    pub rate_hz: f64,
    /// True to record waits (off-CPU time) too.
    pub off_cpu: bool,
    /// Method of unwinding stacks.
    pub unwind: Unwind,
    /// Number of different stacks that the kernel keeps.
    pub room: u32,
}

impl Default for ProfileRequest {
    fn default() -> Self {
        ProfileRequest {
            whose: ProcessFilter::Children,
            rate_hz: RATE_HZ,
            off_cpu: true,
            unwind: Unwind::Auto,
            room: ROOM,
        }
    }
}

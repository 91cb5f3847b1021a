//! Where programs spend their time, as it happens: stacks sampled on the CPU and stacks of what is waited
//! for, added up in the kernel by eBPF, named afterwards. [`ProfileWatch`] looks beside a trial or a command.

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

pub use watch::{ProfileWatch, Profiled, Snapshot, profile_ability};

use crate::follow::Whose;

/// Samples a second and CPU, unless another rate is asked for: not 100, so that what happens every hundredth
/// of a second is not always or never met.
pub const RATE_HZ: f64 = 99.0;
/// The highest rate.
pub const MAX_RATE_HZ: f64 = 10_000.0;

/// Of shorter waits some stand for all, as of time on CPU samples do: following a stack in the kernel takes longer than
/// many a wait.
pub const SHORT_NS: u64 = 400_000;

/// How many different stacks are kept, unless another number is asked for.
pub const ROOM: u32 = 16_384;

/// How the stacks of programs are followed while they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unwind {
    /// By frame pointers; where these do not lead to the beginning, by DWARF.
    #[default]
    Auto,
    /// By frame pointers alone.
    FramePointers,
    /// By DWARF alone.
    Dwarf,
}

impl Unwind {
    /// By the name that people give it: `auto`, `fp` or `dwarf`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Unwind::Auto),
            "fp" => Some(Unwind::FramePointers),
            "dwarf" => Some(Unwind::Dwarf),
            _ => None,
        }
    }
}

/// What is asked of a profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRequest {
    /// Whose time.
    pub whose: Whose,
    /// Samples a second and CPU.
    pub rate_hz: f64,
    /// Whether waits are recorded too.
    pub off_cpu: bool,
    /// How stacks are followed.
    pub unwind: Unwind,
    /// How many different stacks are kept in the kernel.
    pub room: u32,
}

impl Default for ProfileRequest {
    fn default() -> Self {
        ProfileRequest {
            whose: Whose::Children,
            rate_hz: RATE_HZ,
            off_cpu: true,
            unwind: Unwind::Auto,
            room: ROOM,
        }
    }
}

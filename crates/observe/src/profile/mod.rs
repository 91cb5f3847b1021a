//! Where programs spend their time, as it happens: stacks sampled on the CPU and stacks of what is waited
//! for, added up in the kernel by eBPF, named afterwards. [`ProfileWatch`] looks beside a trial or a command.

#[cfg(feature = "ebpf")]
mod abi;
#[cfg(feature = "ebpf")]
mod elf;
#[cfg(feature = "ebpf")]
mod jit;
#[cfg(feature = "ebpf")]
mod kernel_symbols;
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
mod spaces;
#[cfg(feature = "ebpf")]
mod symbols;
mod watch;

pub use watch::{ProfileWatch, Profiled, profile_ability};

use crate::follow::Whose;

/// Samples a second and CPU, unless another rate is asked for: not 100, so that what happens every hundredth
/// of a second is not always or never met.
pub const RATE_HZ: f64 = 99.0;
/// The highest rate.
pub const MAX_RATE_HZ: f64 = 10_000.0;

/// What is asked of a profiler.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileRequest {
    /// Whose time.
    pub whose: Whose,
    /// Samples a second and CPU.
    pub rate_hz: f64,
    /// Whether waits are recorded too.
    pub off_cpu: bool,
}

impl Default for ProfileRequest {
    fn default() -> Self {
        ProfileRequest { whose: Whose::Children, rate_hz: RATE_HZ, off_cpu: true }
    }
}

//! Block I/O as it happens. [`IoTracer`] asks the kernel for what a question needs and no more: counts
//! kept by eBPF at the end of each request, who asked for it where that is wanted, single I/Os where
//! those are. Where eBPF cannot be had it falls back to the kernel's tracepoints by perf, then to its
//! counters, and says what is missing.

#[cfg(feature = "ebpf")]
mod abi;
mod ability;
mod asked;
mod background;
#[cfg(feature = "ebpf")]
mod cgroups;
mod counters;
mod devices;
#[cfg(feature = "ebpf")]
mod ebpf;
#[cfg(not(feature = "ebpf"))]
#[path = "no_ebpf.rs"]
mod ebpf;
#[cfg(feature = "ebpf")]
mod files;
#[cfg(feature = "ebpf")]
pub(crate) mod kernel_types;
#[cfg(feature = "ebpf")]
mod lookup;
#[cfg(feature = "ebpf")]
mod missed;
mod mounts;
mod oldest;
pub(crate) mod perf_ring;
#[cfg(feature = "ebpf")]
pub(crate) mod probe;
#[cfg(feature = "ebpf")]
mod ring;
#[cfg(feature = "ebpf")]
mod settings;
mod stage_request;
#[cfg(feature = "ebpf")]
mod stages;
#[cfg(not(feature = "ebpf"))]
#[path = "no_stages.rs"]
mod stages;
#[cfg(feature = "ebpf")]
mod tally;
#[cfg(feature = "ebpf")]
mod tier;
mod tracepoints;
mod tracer;
mod way;

pub use ability::{IoAbility, io_ability};
pub use background::{IoWatch, Traced};
pub use devices::{BlockDevice, BlockDevices};
pub use oldest::Oldest;
pub use stage_request::StagesSeen;
pub use stages::StageTracer;
pub use tracer::IoTracer;
pub use way::{Method, TraceRequest};

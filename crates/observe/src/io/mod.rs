//! Live tracing of block I/O. [`IoTracer`] collects only the data that a question needs: counts
//! that eBPF keeps at the end of each request; the requesting program if the question needs it;
//! single I/Os if they are requested. Without eBPF it falls back to the kernel's tracepoints
//! through perf, then to the kernel's counters, and reports the missing data.

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
pub use background::{IoWatch, TraceResult};
pub use devices::{BlockDevice, BlockDevices};
pub use oldest::KernelFeatures;
pub use stage_request::ObservedStages;
pub use stages::StageTracer;
pub use tracer::IoTracer;
pub use way::{Method, TraceRequest};

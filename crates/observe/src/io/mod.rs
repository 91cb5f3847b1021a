//! Block I/O as it happens. [`IoTracer`] asks the kernel for what a question needs and no more: counts
//! kept by eBPF at the end of each request, who asked for it where that is wanted, single I/Os where
//! those are. Where eBPF cannot be had it falls back to the kernel's tracepoints by perf, then to its
//! counters, and says what is missing.

mod abi;
mod background;
mod cgroups;
mod counters;
mod devices;
mod ebpf;
mod files;
mod mounts;
mod perf_ring;
mod probe;
mod ring;
mod tally;
mod tracepoints;
mod tracer;
mod untold;

pub use background::{IoWatch, Traced};
pub use devices::{BlockDevice, BlockDevices};
pub use tracer::{IoAsk, IoTracer, Method};

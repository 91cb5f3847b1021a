//! Observes a running system. Monitors sample the kernel's counters on one clock: CPU, disks,
//! memory, pressure, context switches, network, power, temperature. Tracers use eBPF (or perf where
//! eBPF is unavailable) to record block I/O ([`io`]), profiles ([`profile`]), system calls
//! ([`syscalls`]) and waits for a CPU ([`runqueue`]).
//!
//! A [`Sampler`] owns one thread that samples every monitor at absolute points in time and keeps
//! rows of [`assay_model::SampleSet`]; [`stat`] shows the newest of them as a table. A monitor that
//! cannot read something reports what and why; a value that is unavailable is NaN, never 0.
//!
//! Example:
//!
//! ```no_run
//! # fn main() -> Result<(), assay_observe::ObserveError> {
//! use std::{path::Path, time::Duration};
//! let sampler = assay_observe::Sampler::start(
//!     Path::new("/"),
//!     &["cpu".to_owned(), "disk".to_owned()],
//!     Duration::from_secs(1),
//! )?;
//! let from = sampler.tick_now();
//! // ... the workload runs ...
//! let to = sampler.tick_now();
//! // A row covers the interval that ends at its time, so the row at `from` is excluded.
//! let samples = sampler.window(from + 1, to);
//! let reports = sampler.reports(from + 1, to);
//! # drop((samples, reports));
//! # Ok(())
//! # }
//! ```

pub mod counters;
mod device_stack;
#[cfg(feature = "ebpf")]
mod ebpf;
pub mod io;
pub mod meters;
mod monitors;
mod process_filter;
#[cfg(feature = "ebpf")]
mod processes;
pub mod profile;
pub mod runqueue;
mod sampling;
pub mod stat;
pub mod syscalls;
pub mod tasks;
mod tracer;

pub use monitors::sampler::{ObserveError, Sampler, check_monitors};
pub use monitors::tasks::{ALL as ALL_TASKS, NAME as TASKS};
pub use monitors::{Drawing, all, charts, every, field, find};
pub use process_filter::ProcessFilter;
pub use sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
pub use sampling::grid::MIN_INTERVAL;
pub use sampling::monitor::{Chart, Field, FieldRole, Monitor, MonitorSpec};
pub use sampling::recorder::{FirstSeries, Recorder};
pub use sampling::source::Tree;
pub use sampling::trouble::NotAvailable;
pub use tracer::{ProfileSnapshot, Tracer};

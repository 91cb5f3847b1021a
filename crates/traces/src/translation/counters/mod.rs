//! Measures address translation with the processor's counters: the events of each microarchitecture
//! (data files with their sources), the formulas for shares of time, and reading from the kernel.

mod cpu;
mod events;
mod maths;
mod perf;

pub use cpu::CpuIdentity;
pub use events::{Encoding, Microarch};
pub use maths::{CounterReading, Readings, difference, row, step, table};
pub use perf::{CountScope, CountersUnavailable, PerfGroup};

//! What the processor counts of address translation: which events a microarchitecture has (data files
//! with their sources), how counts become shares of time, and reading them from the kernel.

mod cpu;
mod events;
mod maths;
mod perf;

pub use cpu::Cpu;
pub use events::{Encoding, Microarch};
pub use maths::{Reading, Readings, difference, row, step, table};
pub use perf::{Group, Missing, Scope};

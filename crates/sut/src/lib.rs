//! The system under test: what it is, and whether it is fit to measure on.
//!
//! [`describe`] takes the facts of a machine, [`diff`] says what two machines differ in, [`Watch`] looks
//! again between trials, and [`fitness::check`] says what speaks against measuring now. [`process`] runs
//! the program.

mod capture;
mod class;
mod cpu_times;
pub mod cpulist;
mod describe;
mod diff;
mod digest;
pub mod fitness;
mod interrupt;
mod leftovers;
pub mod process;
mod root;
mod sysctl_name;
mod wait4;
mod watch;
mod which;

pub use capture::Capture;
pub use class::{FactClass, class_of};
pub use cpu_times::CpuTimes;
pub use describe::{describe, describe_toolchains};
pub use diff::{FactDiff, diff};
pub use digest::{sha256, sha256_file};
pub use interrupt::Interrupt;
pub use root::{Root, Unreadable};
pub use watch::{Watch, fingerprint};
pub use which::which;

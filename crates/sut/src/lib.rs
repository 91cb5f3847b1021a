//! Describes the system under test and controls it; every control can put back what it changed, also after a crash.

mod capture;
mod interrupt;
mod leftovers;
pub mod process;
mod wait4;

pub use capture::Capture;
pub use interrupt::Interrupt;

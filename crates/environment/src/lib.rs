//! A described system as data: what a difference in a fact means ([`classes`]), what follows from which
//! factor ([`entailments`]), and what two systems differ in ([`diff`]). Pure functions; reading a machine is
//! the crate `sut`'s business.

mod class;
mod cpu_limits;
pub mod cpulist;
mod diff;
mod entails;

pub use class::{FactClass, classes};
pub use cpu_limits::cpu_limits;
pub use diff::{AcceptError, DifferenceClass, EnvDiff, FactDiff, diff, entailments};

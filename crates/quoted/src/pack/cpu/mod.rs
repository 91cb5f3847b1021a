//! Rules for CPU suites: the data that a result must contain, and the checks that rules can name.

mod disclosure;
mod flags;
mod power;
mod result;
mod runs;

pub use result::*;

use super::judged::PackCheck;

/// Returns all checks for CPU suites.
pub(crate) fn checks() -> impl Iterator<Item = &'static PackCheck<CpuSuiteResult>> {
    [runs::CHECKS, flags::CHECKS, disclosure::CHECKS, power::CHECKS].into_iter().flatten()
}

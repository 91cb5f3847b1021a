//! What a CPU suite must show of a result, and the checks that a pack's rules name.

mod disclosure;
mod flags;
mod power;
mod result;
mod runs;

pub use result::*;

use super::judged::PackCheck;

/// Every check for a CPU suite.
pub(crate) fn checks() -> impl Iterator<Item = &'static PackCheck<CpuSuiteResult>> {
    [runs::CHECKS, flags::CHECKS, disclosure::CHECKS, power::CHECKS].into_iter().flatten()
}

//! What order processing must show of a result, and the checks that a pack's rules name.

mod conduct;
mod points;
mod result;

pub use result::*;

use super::judged::PackCheck;

/// Every check for order processing.
pub(crate) fn checks() -> impl Iterator<Item = &'static PackCheck<OrdersResult>> {
    [points::CHECKS, conduct::CHECKS].into_iter().flatten()
}

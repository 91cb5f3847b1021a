//! Rules for order processing: the data that a result must contain, and the checks that rules can
//! name.

mod conduct;
mod points;
mod result;

pub use result::*;

use super::judged::PackCheck;

/// Returns all checks for order processing.
pub(crate) fn checks() -> impl Iterator<Item = &'static PackCheck<OrdersResult>> {
    [points::CHECKS, conduct::CHECKS].into_iter().flatten()
}

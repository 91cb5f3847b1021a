//! Claims and their evidence in texts of today: a claim is decided by amounts that share its
//! subject, its metric and its unit, or not at all.
//!
//! A [`grid::Grid`] is a table with names for its rows and columns and amounts in base units. A claim's
//! names are looked up in these; what its words say of the metric picks columns (or rows); what is
//! left is its evidence. Where that leaves more than one value and they do not agree, the claim is
//! ambiguous; where a sentence speaks under a condition or for somebody else, too.

mod admit;
pub(crate) mod amount;
mod back;
pub(crate) mod bind;
mod caption;
mod cell;
mod cells;
mod change;
mod claims;
mod classes;
mod compare;
mod count;
pub(crate) mod extreme;
mod former;
pub(crate) mod grid;
mod inside;
mod known;
pub(crate) mod metric;
pub(crate) mod name;
mod owner;
mod prose;
mod rank;
mod rows;
mod scene;
mod sides;
pub(crate) mod statement;
mod value;
pub(crate) mod voice;

pub(crate) use admit::admit;
pub(crate) use claims::{Memory, judge};
pub(crate) use classes::classes;
pub(crate) use inside::judge as in_cells;

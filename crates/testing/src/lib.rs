//! What tests of several crates share. Nothing that ships uses it.

mod counting;

pub use counting::Counting;

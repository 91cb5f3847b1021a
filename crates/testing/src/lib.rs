//! What tests of several crates share. Nothing that ships uses it.

mod counting;
mod undisturbed;

pub use counting::Counting;
pub use undisturbed::undisturbed;

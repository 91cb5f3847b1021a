//! What tests of several crates share. Nothing that ships uses it.

mod counting;
mod git;
mod undisturbed;

pub use counting::Counting;
pub use git::{git, git_command};
pub use undisturbed::undisturbed;

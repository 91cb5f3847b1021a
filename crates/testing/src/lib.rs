//! What tests of several crates share. Nothing that ships uses it.

mod counting;
mod git;
mod own_process;
mod turn;
mod undisturbed;

pub use counting::Counting;
pub use git::{git, git_command};
pub use own_process::in_own_process;
pub use turn::{Turn, alone, shared};
pub use undisturbed::undisturbed;

//! Test support shared by several crates: git repositories, turns of tests that must run alone,
//! tests in separate processes, and an allocator that counts. It is only ever a dev-dependency.

mod counting;
mod git;
mod own_process;
mod turn;
mod undisturbed;

pub use counting::CountingAllocator;
pub use git::{git, git_command};
pub use own_process::in_own_process;
pub use turn::{Turn, alone, shared};
pub use undisturbed::undisturbed;

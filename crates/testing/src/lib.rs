//! Test support shared by several crates: git repositories, turns of tests that must run alone,
//! tests in separate processes, an allocator that counts, and unpacked pages. It is only ever a
//! dev-dependency.

mod counting;
mod git;
mod own_process;
mod turn;
mod undisturbed;
mod unpacked;

pub use counting::CountingAllocator;
pub use git::{git, git_command};
pub use own_process::in_own_process;
pub use turn::{Turn, alone, shared};
pub use undisturbed::undisturbed;
pub use unpacked::unpacked;

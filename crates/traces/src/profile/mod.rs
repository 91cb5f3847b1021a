//! Profiles of where a program spends its time: stacks, each with a number of samples and a
//! duration. This crate holds the data model, function tables and trees (for flame graphs) made
//! from it, readers and writers of other programs' formats, and the comparison of two sets of
//! trials. It has only pure functions: the live profiler is in `crates/observe`.

mod callgrind;
mod difference;
mod firefox;
mod folded;
mod instructions;
mod interner;
mod model;
mod perf_script;
mod pprof;
mod read;
mod speedscope;
mod table;
mod trace_file;
mod tree;
mod wait_reason;

pub use assay_model::{FunctionChange, FunctionDifferences};
pub use difference::{ProfiledTrial, differences};
pub use firefox::firefox;
pub use folded::folded;
pub use instructions::{InstructionChange, Instructions, instructions};
pub use model::{
    Builder, Frame, FrameKind, Loss, Profile, ProfileSide, Stack, ThreadState, ThreadTime,
};
pub use pprof::pprof;
pub use read::{ReadError, read};
pub use speedscope::speedscope;
pub use table::{FunctionTime, Truncation, UnnamedTime, functions, truncation, unresolved};
pub use trace_file::{FILE, INSTRUCTIONS, InstructionCounts};
pub use tree::{Node, Tree, tree};
pub use wait_reason::reason;

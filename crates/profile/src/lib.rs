//! Where the time of a program goes: stacks, each with how often it was seen and how long. Here are the
//! data, the tables and trees made of them, the formats of other programs in and out, and the difference
//! between two sets of trials. Pure functions: the live part is in `crates/observe`.

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
mod reason;
mod speedscope;
mod table;
mod tree;

pub use difference::{Change, Differences, Measured, differences};
pub use firefox::firefox;
pub use folded::folded;
pub use instructions::{Counted, Instructions, instructions};
pub use model::{Builder, Frame, Kind, Loss, Profile, Side, Stack, State, ThreadTime, VERSION};
pub use pprof::pprof;
pub use read::{ReadError, read};
pub use reason::reason;
pub use speedscope::speedscope;
pub use table::{FunctionTime, Names, Truncation, functions, truncation, unresolved};
pub use tree::{Node, Tree, tree};

//! System calls of programs: how often each call was made, how long it took, which errors it
//! returned, and on what kind of file descriptor. This crate holds the data model, the names of
//! calls and errors, tables over them and the comparison of two sets of trials. It has only pure
//! functions: the eBPF probes that count are in `crates/observe`.

mod difference;
mod model;
mod names;
mod numbers;
mod trace_file;

pub use difference::{CallChange, Differences, Measure, differences};
pub use model::{
    Amounts, BUCKETS, CallGroup, CallSubject, Calls, Dimension, Errors, LostCalls, Syscalls,
    VERSION,
};
pub use names::{Architecture, GIVES_AMOUNT, NEVER_FAILS, NUMBERS, RING_ENTER, TAKES_FD};
pub use names::{ReturnMeaning, error_name, returns};
pub use trace_file::FILE;

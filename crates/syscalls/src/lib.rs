//! System calls of programs: how often each was made, how long it took, which errors it returned, and on
//! what kind of file descriptor. Here are the data, the names, tables over them and the difference between
//! two sets of trials. Pure functions: the counting is in `crates/observe`.

mod difference;
mod model;
mod names;
mod numbers;

pub use difference::{Change, Differences, Measure, differences};
pub use model::{
    Amounts, BUCKETS, Calls, Dimension, Errors, Grouped, Lost, Subject, Syscalls, VERSION,
};
pub use names::{Architecture, GIVES_AMOUNT, NEVER_FAILS, NUMBERS, RING_ENTER, TAKES_FD};
pub use names::{Returns, error_name, returns};

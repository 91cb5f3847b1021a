//! The monitors and the sampler from outside: against this machine's own counters, against bytes
//! that no kernel would write, and against their documentation.
#![allow(clippy::unwrap_used)]

mod bytes;
mod docs;
mod iostat;
mod live;
mod sampler;

//! A load generator for memcached, Redis and Valkey. It sends gets, sets and other operations over
//! many connections, in a closed loop or at a fixed rate (open loop), verifies every byte of every
//! response, measures response times, and reports what limited the throughput.
//!
//! The entry points are [`preload()`], [`run()`] and, for the maximum rate, [`search_max`]: a
//! [`Config`] in, a [`LoadReport`] out; nothing is printed. [`LoadReport`] defines response time,
//! [`content`] how values are verified, [`config::Mix`] the choice of operations.

pub mod clock;
pub mod config;
mod connection;
mod end;
mod error;
mod gather;
pub mod latency;
pub mod limits;
mod link;
pub mod login;
mod preload;
pub mod protocol;
mod receive;
mod run;
pub mod send;
pub mod server_use;
pub mod sizes;
#[cfg_attr(not(feature = "tls"), path = "tls/missing.rs")]
mod tls;
mod worker;

pub use config::{
    Arrivals, Config, Mix, Mode, Popularity, Protocol, SizeClass, Target, Think, Trust,
};
pub use error::Error;
pub use latency::report::{ErrorKind, LoadEnd, LoadReport, Operation};
pub use latency::search::{RatePoint, SURE, SearchBound, SearchReport, search, search_max};
pub use preload::{PreloadReport, preload};
pub use run::run;

//! The memcached load generator. It sends gets and sets over many connections, in a closed loop or at
//! a rate (open loop), checks every answer to the byte, times every answer, and says what limited it.
//!
//! The front doors are [`preload()`], [`run()`] and, for the maximum, [`search_max`]: plain structs
//! in ([`Config`]), plain structs out ([`Report`]); nothing is printed. [`Report`] defines the response times,
//! [`content`] a wrong answer, [`config::Mix`] the choice of operations.

pub mod clock;
pub mod config;
mod conn;
pub mod content;
mod end;
mod error;
mod gather;
pub mod heat;
mod keys;
pub mod limiter;
pub mod limits;
mod link;
mod low_water;
pub mod mix;
mod pace;
mod pending;
mod preload;
pub mod protocol;
mod replies;
pub mod report;
mod run;
mod schedule;
mod search;
pub mod server_use;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod worker;
mod worker_stats;

pub use config::{
    Arrivals, Config, Mix, Mode, Popularity, Protocol, SizeClass, Target, Think, Trust,
};
pub use error::Error;
pub use preload::{PreloadReport, preload};
pub use report::{Ended, ErrorKind, Operation, Report};
pub use run::run;
pub use search::{Point, SearchBound, SearchReport, search_max};

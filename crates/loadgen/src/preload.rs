//! Sets every key once before a run.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::Error;
use crate::config::{Config, MAX_DEPTH, Mode, Protocol, Think};
use crate::gather;
use crate::latency::report::{Errors, LoadEnd, Operation};
use crate::latency::worker_stats::Timeline;
use crate::run::drive;
use crate::send::mix::OperationSource;

/// Result of a preload.
#[derive(Debug, Clone)]
pub struct PreloadReport {
    /// Number of keys that were stored.
    pub stored: u64,
    /// Number of keys in the mix.
    pub keys: u64,
    /// Total length of the values of all keys in bytes; the server needs more than that.
    pub value_bytes: u64,
    pub errors: Errors,
    /// Duration of the preload.
    pub took: Duration,
    pub ended: LoadEnd,
}

/// Minimum outstanding operations per connection.
const DEPTH: usize = 64;
/// Maximum connections per thread.
const CONNECTIONS: usize = 8;

/// Sets every key of the mix once. Errors of the server (out of memory, a value above its item
/// limit) are in the report.
///
/// # Errors
/// The preload could not start: see [`Error`].
pub fn preload(config: &Config, stop: &AtomicBool) -> Result<PreloadReport, Error> {
    config.check()?;
    let mut config = config.clone();
    config.mode = Mode::Closed { think: Think::None };
    config.connections = config.connections.min(CONNECTIONS * config.threads);
    config.depth = config.depth.clamp(DEPTH, MAX_DEPTH);
    if config.protocol == Protocol::Meta {
        // A rejected quiet set does not name its key. A server that supports meta also supports
        // text.
        config.protocol = Protocol::Text;
    }
    let line = |start: u64| {
        let end = start + 7 * 86_400_000_000_000;
        Timeline { start, steady: start, down: end, end, bin: end - start }
    };
    let (threads, keys) = (config.threads as u64, config.mix.keys);
    let part = |i: u64| (u128::from(keys) * u128::from(i) / u128::from(threads)) as u64;
    let source = |i: usize| {
        let i = i as u64;
        OperationSource::preload(&config.mix, config.seed, part(i), part(i + 1))
    };
    let outcome = drive(&config, &line, &source, stop, |_, _| {})?;
    let took = Duration::from_nanos(outcome.ended_ns.saturating_sub(outcome.line.start));
    let ended = outcome.ended;
    let report = gather::report(&config, outcome);
    let objects = crate::send::mix::Objects::new(&config.mix, config.seed);
    Ok(PreloadReport {
        stored: report.completed_of(Operation::Set),
        keys,
        value_bytes: (0..keys).map(|k| u64::from(objects.class_and_length(k).1)).sum(),
        errors: report.errors,
        took,
        ended,
    })
}

//! What the parts of a trial share.

use std::sync::atomic::AtomicBool;

use assay_memload::config::Config;
use assay_memload::report::Errors;

use super::talk::Endpoint;
use crate::work::Channel;

/// What the parts of a trial share.
pub struct Stage<'a> {
    /// The load, with target, CPUs and the server's process.
    pub config: Config,
    /// Where the server can be asked about itself; `None`: nowhere.
    pub place: Option<Endpoint>,
    /// How many CPUs the server has; `None`: that is not known.
    pub server_cpus: Option<usize>,
    /// Set by a signal.
    pub stop: &'a AtomicBool,
    /// Where events go.
    pub channel: &'a mut Channel,
    /// What was wrong in any of the runs; the trial is invalid if there is anything.
    pub wrong: Vec<String>,
    /// Wrong and missing answers of all runs together.
    pub errors: Errors,
    /// The share of missing answers that is allowed.
    pub max_missing: f64,
    /// What was checked.
    pub checked: Vec<String>,
}

//! Body of a trial: `assay __work memory JSON`, in a separate process.

use assay_system::Root;

use crate::Failure;
use crate::builtin::memory::params::{MemoryParams, Test};
use crate::builtin::memory::setup::MemoryTrial;
use crate::builtin::memory::{bandwidth, caches, core_to_core, loaded_latency, page_faults};
use crate::builtin::pointer_chase::from_control;
use crate::driver::work::Channel;
use crate::trial_spec::TrialSpec;

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if it could not be measured. Wrong values are not an error: they are reported as an
/// event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = TrialSpec::<u64>::read(json)?;
    let params = MemoryParams::from_map(&spec.params)?;
    let threads = params.threads.map_or(spec.cpus.len(), |n| n as usize);
    let cpus = spec.cpus.get(..threads).filter(|cpus| !cpus.is_empty()).ok_or_else(|| {
        let own = spec.cpus.len();
        Failure::other(format!("{threads} threads need a CPU each, and the trial has {own}"))
    })?;
    let caches = cpus.first().map_or_else(Vec::new, |cpu| caches::of_cpu(&Root::system(), *cpu));
    let sets = params.sets(&caches, cpus)?;
    let pages = params.pages.unwrap_or_else(from_control);
    let trial = MemoryTrial { cpus: cpus.to_vec(), caches, sets, pages, seed: spec.more, params };
    match trial.params.test {
        Test::Bandwidth => bandwidth::run(&trial, channel),
        Test::LoadedLatency => loaded_latency::run(&trial, channel),
        Test::CoreToCore => core_to_core::run(&trial, channel),
        Test::PageFaults => page_faults::run(&trial, channel),
    }
}

//! Body of a trial: `assay __work pointer-chase JSON`, in a separate process.

use std::time::Instant;

use assay_model::Phase;
use assay_stats::rng::Rng;
use rustix::param::page_size;

use crate::Failure;
use crate::builtin::pointer_chase::knees::{Plateau, describe, plateaus};
use crate::builtin::pointer_chase::memory::ChainMemory;
use crate::builtin::pointer_chase::params::{BackingPages, ChaseParams};
use crate::driver::work::{Channel, Curve};
use crate::trial_spec::TrialSpec;

/// Minimum share of the memory that must have huge pages if they were requested.
const ENOUGH: f64 = 0.95;
const LATENCY: Curve = Curve::measured(("latency", "s"), ("working set", "B"));

/// Runs the trial that `json` describes and reports it on `channel`.
///
/// # Errors
/// [`Failure`] if it could not be measured. Other pages than requested are not an error: they are
/// reported as an event, `valid: false`.
pub fn run(json: &str, channel: &mut Channel) -> Result<(), Failure> {
    let spec = TrialSpec::<u64>::read(json)?;
    let params = ChaseParams::from_map(&spec.params)?;
    let (sets, pages) = (params.sets()?, params.pages.unwrap_or_else(from_control));
    channel.phase(Phase::RampUp, None);
    let largest = sets.last().copied().unwrap_or(4096);
    // A link is one word, also where the last stride ends with the working set.
    let mut memory = ChainMemory::map(largest as usize, pages)?;
    channel.phase(Phase::Steady, None);
    let points = measure(&params, &sets, Rng::new(spec.more), &mut memory, channel);
    channel.phase(Phase::RampDown, None);
    channel.points(&LATENCY, points.iter().copied());
    let large = memory.large().map(|l| l as f64 / memory.bytes() as f64);
    let levels = plateaus(&points);
    report(&points, large, &levels, channel);
    channel.note(format!("the memory had {}", pages.name()));
    if levels.len() > 1 {
        channel.note(format!("knees between {}", describe(&levels, "s")));
    }
    let (valid, detail) = verdict(pages, large);
    channel.valid(valid, detail);
    Ok(())
}

/// Returns the pages that the control `pages` set in the environment; any pages without it.
pub fn from_control() -> BackingPages {
    let level = std::env::var("ASSAY_PAGES").ok();
    level.and_then(|l| BackingPages::of_control(&l)).unwrap_or(BackingPages::Any)
}

fn measure(
    params: &ChaseParams,
    sets: &[u64],
    mut rng: Rng,
    memory: &mut ChainMemory,
    channel: &mut Channel,
) -> Vec<[f64; 2]> {
    let ChaseParams { stride, order, min_time, rounds, .. } = params;
    let largest = sets.last().copied().unwrap_or(0) / stride;
    let mut places = Vec::with_capacity(largest as usize);
    let mut points = Vec::with_capacity(sets.len());
    for (done, set) in sets.iter().enumerate() {
        let links =
            memory.chain(*set as usize, *stride as usize, *order, &mut places, &mut rng) as u64;
        let mut minimum = f64::INFINITY;
        let mut at = None;
        // One full cycle first, to fill caches and TLBs.
        let mut loads = links.max(1000);
        let begin = Instant::now();
        let (place, walked) = memory.walk(at, loads);
        let each = begin.elapsed().as_secs_f64() / walked as f64;
        at = Some(place);
        loads = ((min_time.as_secs_f64() / each.max(1e-11)) as u64).clamp(1000, 1 << 40);
        for _ in 0..*rounds {
            let begin = Instant::now();
            let (place, walked) = memory.walk(at, loads);
            minimum = minimum.min(begin.elapsed().as_secs_f64() / walked as f64);
            at = Some(place);
        }
        points.push([*set as f64, minimum]);
        channel.progress((done + 1) as f64 / sets.len() as f64);
    }
    points
}

fn report(points: &[[f64; 2]], large: Option<f64>, levels: &[Plateau], channel: &mut Channel) {
    let logs: f64 = points.iter().map(|p| p[1].ln()).sum();
    let mean = (!points.is_empty()).then(|| (logs / points.len() as f64).exp());
    let metrics = [
        ("latency", points.last().map(|p| p[1])),
        ("mean_latency", mean),
        ("huge_page_coverage", large),
        ("plateaus", (!levels.is_empty()).then_some(levels.len() as f64)),
    ];
    channel.metrics(crate::builtin::pointer_chase::spec(), metrics);
}

/// Returns true if the memory had the requested pages, and a sentence with the reason.
pub fn verdict(pages: BackingPages, large: Option<f64>) -> (bool, String) {
    if pages == BackingPages::Any {
        let detail = "the chain is one cycle through every link; any pages are valid";
        return (true, detail.into());
    }
    let name = pages.name();
    let Some(share) = large else {
        return (false, format!("{name} were requested, but /proc/self/smaps lacks them"));
    };
    let percent = share * 100.0;
    let rest = BackingPages::Base.name();
    let detail = format!(
        "{name} were requested; large pages back {percent:.1} % of the memory (smaps), and \
         {rest} the rest"
    );
    let valid = match pages {
        BackingPages::Base => share == 0.0,
        BackingPages::Small => share == 0.0 && page_size() == 4096,
        _ => share >= ENOUGH,
    };
    (valid, detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_did_not_take_is_invalid() {
        let valid = |pages, large| verdict(pages, large).0;
        assert!(valid(BackingPages::Any, None) && valid(BackingPages::Base, Some(0.0)));
        assert_eq!(valid(BackingPages::Small, Some(0.0)), page_size() == 4096);
        assert!(!valid(BackingPages::Base, Some(0.01)) && !valid(BackingPages::Asked, Some(0.5)));
        assert!(
            valid(BackingPages::Asked, Some(0.97))
                && valid(BackingPages::Explicit(2 << 20), Some(1.0))
        );
        assert!(!valid(BackingPages::Asked, None) && !valid(BackingPages::Machine, Some(0.0)));
    }
}

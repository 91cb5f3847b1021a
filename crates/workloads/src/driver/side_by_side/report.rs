//! Body of a trial of copies: `assay __work copies FILE`, in a separate process.

use std::path::Path;

use assay_model::{Better, Event, MetricKind, Phase};

use crate::Failure;
use crate::driver::side_by_side::crew::{self, ReplicaResults};
use crate::driver::side_by_side::spec::ReplicasSpec;
use crate::driver::work::{Channel, life};

/// Runs the copies that the file `path` describes and reports on `channel`: elapsed time, CPU
/// times, memory, the spread of the start times, and the ratio to the reference.
///
/// # Errors
/// [`Failure`] if a copy could not be run or failed.
pub fn trial(path: &str, channel: &mut Channel) -> Result<(), Failure> {
    let file = Path::new(path);
    let text = std::fs::read_to_string(file).map_err(Failure::file("read", file))?;
    let spec: ReplicasSpec = serde_json::from_str(&text)?;
    if spec.copies.is_empty() {
        return Err(Failure::other("the specification has no copies"));
    }
    if !life::die_with(spec.lab).map_err(Failure::file("watch the process of the lab at", file))? {
        return Err(Failure::Stopped);
    }
    channel.phase(Phase::RampUp, None);
    let measured = crew::run(&spec, |t| {
        channel.phase(Phase::Steady, Some(t));
    })?;
    let end_ns = measured.copies.iter().map(|c| c.end_ns).max().unwrap_or(measured.start_ns);
    channel.phase(Phase::RampDown, Some(end_ns));
    report(&spec, &measured, end_ns, channel);
    Ok(())
}

fn report(spec: &ReplicasSpec, measured: &ReplicaResults, end_ns: u64, channel: &mut Channel) {
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let copies = &measured.copies;
    let elapsed = seconds(end_ns.saturating_sub(measured.start_ns));
    let first = copies.iter().map(|c| c.began_ns).min().unwrap_or(0);
    let last = copies.iter().map(|c| c.began_ns).max().unwrap_or(0);
    let soonest = copies.iter().map(|c| c.end_ns).min().unwrap_or(end_ns);
    let peak = copies.iter().map(|c| c.used.peak_memory_bytes).max().unwrap_or(0);
    // copies x reference time / time: the rate ratio, or the speed ratio for a single copy.
    let ratio = spec.reference_s.map(|reference| copies.len() as f64 * reference / elapsed);
    let (lower, neither) = (Better::Lower, Better::Neither);
    let (measured, derived) = (MetricKind::Measured, MetricKind::Derived);
    let user = copies.iter().map(|c| c.used.user_s).sum();
    let system = copies.iter().map(|c| c.used.system_s).sum();
    for (metric, value, unit, better, kind) in [
        ("ratio", ratio, "1", Better::Higher, derived),
        ("elapsed", Some(elapsed), "s", lower, measured),
        ("time_per_copy", Some(elapsed / copies.len() as f64), "s", lower, derived),
        ("user", Some(user), "s", lower, measured),
        ("system", Some(system), "s", lower, measured),
        ("peak_memory", Some(peak as f64), "B", lower, measured),
        ("start_spread", Some(seconds(last - first)), "s", neither, measured),
        ("end_spread", Some(seconds(end_ns - soonest)), "s", neither, measured),
    ] {
        let (metric, unit, counted) = (metric.to_owned(), unit.to_owned(), false);
        let (better, kind) = (Some(better), Some(kind));
        channel.send(&Event::Metric { metric, value, unit, better, kind, counted });
    }
}

//! The workload `block-size`: reads or writes a file sequentially with many buffer sizes, with one
//! or several processes at once, to find the smallest size that reaches nearly full throughput. It
//! chooses the sizes itself ([`planner`]), measures them in slices mixed over the trial ([`slots`],
//! [`slice`]) in separate processes ([`crew`], [`worker`]), and models the curve between them
//! ([`model`]). `docs/workloads/block-size.md` has the definitions.

mod content;
mod crew;
mod file;
mod model;
mod params;
mod planner;
mod points;
mod preemption;
mod slice;
mod slots;
mod trial;
mod trial_spec;
mod verify;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::{CurvePoint, Fact, Interval, Scalar, WorkloadSpec, units};
use assay_stats::curves::curve::NEARLY;

pub use crew::WORKER;
pub use model::{CurveModel, Prediction};
pub use trial::run as trial;
pub use worker::{run as worker, stay_on};

use crate::capability::{CurveChooser, NotablePoints};
use crate::declare::{spec, wrong};
use crate::driver::program::fact;
use crate::{Capabilities, Failure, Launch, TrialContext, Workload, WorkloadError};
use file::FileLocation;
use params::{Cache, Direction, SweepParams};
use planner::Range;
use trial_spec::{Timing, TrialSpec};

/// Name of the workload and of its trial program.
pub const NAME: &str = "block-size";

spec! {
    /// Reads or writes a file sequentially with read(2) or write(2) at many buffer sizes, through
    /// the page cache or with O_DIRECT, in one or several processes at once.
    NAME, SweepParams::rows();
    /// Geometric mean of the throughput at the powers of two from 512 B to 64 KiB; if the trial
    /// visits none of those, at all powers of two, or else at all sizes; missing if one of the
    /// sizes could not be measured.
    "throughput", "B/s", Higher, Measured;
    /// Throughput at `best_size`: on the smoothed curve, or as measured for fewer than 50 sizes.
    "peak_throughput", "B/s", Higher, Estimated;
    /// Visited size with the highest throughput: on the smoothed curve, or as measured for fewer
    /// than 50 sizes.
    "best_size", "B", Neither, Estimated;
    /// Time that dd adds to each read(2): one write(2) to /dev/null.
    "dd_overhead", "s", Lower, Measured;
    /// Share of slices that were excluded because the kernel gave the CPU to another program or the
    /// slice began late.
    "excluded_fraction", "1", Neither, Measured;
}

/// Measures the throughput of read(2) or write(2) by buffer size. Metrics: `throughput` (primary),
/// `peak_throughput`, `best_size`, `excluded_fraction`, and for one reading process `dd_overhead`.
/// Curves: `throughput`, and for one reading process `dd`, both in bytes per second over bytes.
#[derive(Debug)]
pub struct BlockSize;

impl Workload for BlockSize {
    fn spec(&self) -> &WorkloadSpec {
        spec()
    }

    fn check(&self, params: &BTreeMap<String, Scalar>) -> Result<(), WorkloadError> {
        let params = SweepParams::from_map(params)?;
        // The run's folder is unknown here; this checks a path given by the user.
        FileLocation::from_params(&params, Path::new("")).map(|_| ())
    }

    fn describe(&self, params: &BTreeMap<String, Scalar>) -> BTreeMap<String, Fact> {
        let params = SweepParams::from_map(params).map_err(|e| e.to_string());
        let of = |read: &dyn Fn(&SweepParams) -> Result<String, String>| {
            fact(params.as_ref().map_err(String::clone).and_then(read))
        };
        let page = units::format_bytes(rustix::param::page_size() as u64);
        let file_system = |params: &SweepParams| match &params.path {
            Some(path) => {
                file::file_system(path).map_err(|e| format!("statfs of {}: {e}", path.display()))
            }
            None => {
                Err("the file is made in the run's folder; each trial notes its file system".into())
            }
        };
        BTreeMap::from([
            ("workload.page_size".into(), Fact::known(page)),
            ("workload.file_size".into(), of(&|p| Ok(units::format_bytes(file_size(p))))),
            ("workload.file_system".into(), of(&file_system)),
        ])
    }

    fn prepare(&self, ctx: &TrialContext<'_>) -> Result<(), WorkloadError> {
        let params = SweepParams::from_map(ctx.params)?;
        let place = FileLocation::from_params(&params, ctx.run_dir)?;
        if place.foreign {
            return Ok(());
        }
        let count = if params.direction == Direction::Read { 1 } else { params.processes };
        let files: Vec<PathBuf> = (0..count).map(|i| place.file_of(params.direction, i)).collect();
        let there = |f: &&PathBuf| f.metadata().is_ok_and(|m| m.len() == params.file_size);
        let missing = (files.len() - files.iter().filter(there).count()) as u64;
        file::check_room(&files[0], params.file_size.saturating_mul(missing))?;
        for (i, path) in files.iter().enumerate() {
            if let Err(error) = file::make(path, params.file_size) {
                for made in &files[..i] {
                    let _ = std::fs::remove_file(made);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn launch(&self, ctx: &TrialContext<'_>) -> Result<Launch, WorkloadError> {
        let params = SweepParams::from_map(ctx.params)?;
        let place = FileLocation::from_params(&params, ctx.run_dir)?;
        let file_size = if place.foreign { file_size(&params) } else { params.file_size };
        let sample = place.file_of(params.direction, 0);
        let failed = |e: Failure| WorkloadError::step("looking at the file", e.to_string());
        let grain = file::grain(&sample, params.cache).map_err(failed)?;
        let timing = Timing::from_params(&params, ctx.cpus.len());
        let (sizes, notes) = sizes(&params, grain, &timing, ctx)?;
        let spec = TrialSpec {
            location: place,
            file_size,
            direction: params.direction,
            cache: params.cache,
            processes: params.processes,
            cpus: if params.pin { ctx.cpus.to_vec() } else { Vec::new() },
            sizes,
            timing,
            seed: u64::from(ctx.number),
            notes,
        };
        Launch::own(ctx, NAME, &spec, "`path`")
    }

    fn offers(&self) -> Capabilities<'_> {
        Capabilities { chooses: Some(self), ..Capabilities::default() }
    }
}

impl CurveChooser for BlockSize {
    fn choose(&self, curve: &str, trials: &[Vec<[f64; 2]>]) -> Option<NotablePoints> {
        if !matches!(curve, "throughput" | "dd") {
            return None;
        }
        let model = CurveModel::fit(trials);
        let point = |size: u64, predicted: Prediction| CurvePoint {
            x: size as f64,
            value: predicted.value,
            interval: Some(Interval { low: predicted.low, high: predicted.high, level: 0.95 }),
            n: trials.len() as u32,
        };
        let (best, predicted) = model.best()?;
        let nearly = |size: &u64| {
            model.predict(*size).filter(|p| p.value >= predicted.value * (1.0 - NEARLY))
        };
        let (efficient, its) =
            model.visited().iter().find_map(|size| nearly(size).map(|p| (*size, p)))?;
        Some(NotablePoints {
            best: point(best, predicted),
            efficient: point(efficient, its),
            judged: "judged on the curve fitted through all visited sizes",
        })
    }
}

/// Returns the size of the file in bytes: that of an existing file, rounded down to whole pages for
/// `O_DIRECT`, or else `file_size`.
fn file_size(params: &SweepParams) -> u64 {
    let own =
        params.path.as_ref().and_then(|p| p.metadata().ok()).filter(std::fs::Metadata::is_file);
    match (own, params.cache) {
        (Some(about), Cache::Page) => about.len(),
        (Some(about), Cache::Direct) => about.len() / 4096 * 4096,
        (None, _) => params.file_size,
    }
}

/// Returns the sizes that this trial visits, and notes about them.
fn sizes(
    params: &SweepParams,
    grain: u64,
    timing: &Timing,
    ctx: &TrialContext<'_>,
) -> Result<(Vec<u64>, Vec<String>), WorkloadError> {
    if let Some(sizes) = &params.sizes {
        return match sizes.iter().find(|s| !s.is_multiple_of(grain)) {
            Some(odd) => Err(wrong(format!(
                "without the page cache this device takes multiples of {grain} B, not {odd} B"
            ))),
            None => Ok((sizes.clone(), Vec::new())),
        };
    }
    let (min, max) = (params.min_size, params.max_size);
    let range = Range::inward(min, max, grain).ok_or_else(|| {
        wrong(format!(
            "without the page cache this device takes multiples of {grain} B; there is none from \
             {min} to {max} B"
        ))
    })?;
    let previous: Vec<Vec<[f64; 2]>> = ctx
        .previous
        .iter()
        .filter_map(|r| r.curve("throughput").map(|c| c.points.clone()))
        .collect();
    let count = timing.sizes_within(params.budget);
    let choice = planner::choose(&range, count, &previous, u64::from(ctx.number));
    let mut notes = Vec::new();
    if grain > 1 {
        notes.push(format!("without the page cache only multiples of {grain} B were visited"));
    }
    if choice.omitted > 0 {
        notes.push(format!(
            "`budget` was too short for {} of the page multiples and their neighbours",
            choice.omitted
        ));
    }
    if choice.sizes.len() > count {
        notes.push(format!(
            "the ends and the powers of two alone take longer than `budget`: {} sizes were \
             visited, {count} fit",
            choice.sizes.len()
        ));
    }
    Ok((choice.sizes, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ready_made_experiment_is_right() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/block-size.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let experiment: assay_model::Experiment = toml::from_str(&text).unwrap();
        let workload = BlockSize;
        assert_eq!(experiment.workload, workload.spec().name);
        for factor in experiment.factors.keys() {
            assert!(workload.spec().param(factor).is_some(), "{factor}");
        }
        let changes: Vec<(&str, Scalar)> =
            experiment.params.iter().map(|(k, v)| (k.as_str(), v.clone())).collect();
        workload.check(&params::tests::map(&changes)).unwrap();
    }
}

//! Computes the results from the slices: the throughput at each size, the overhead of dd, and the
//! metrics of the trial.

use assay_stats::means::geometric;
use assay_stats::summary::median;

use crate::builtin::block_size::crew::SliceMeasurements;
use crate::builtin::block_size::model::CurveModel;
use crate::builtin::block_size::slice::SliceOutcome;
use crate::builtin::block_size::slots::{SliceRole, SliceSlot};
use crate::builtin::block_size::trial_spec::TrialSpec;

/// Number of sizes from which the best one is taken from the smoothed curve.
const SMOOTHED_FROM: usize = 50;

/// Throughput at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeThroughput {
    /// Size of the buffer in bytes.
    pub size: u64,
    /// Throughput of all processes together in bytes per second: the median over the slices.
    pub throughput: f64,
}

/// Results of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    /// Points in the order in which the sizes were first visited. Sizes for which there was no time
    /// are missing.
    pub points: Vec<SizeThroughput>,
    /// Time that dd adds to each read, in seconds; `None` if it does not apply or too little was
    /// measured.
    pub dd_overhead: Option<f64>,
    /// Share of slices that were excluded; `None` if there was no slice.
    pub excluded_fraction: Option<f64>,
}

/// Returns the throughput of all processes in a slice in bytes per second: the sum of the
/// throughputs of the processes, each over its own time.
fn together(outcomes: &[SliceOutcome]) -> f64 {
    outcomes.iter().map(|o| o.bytes as f64 / (o.elapsed_ns.max(1) as f64 / 1e9)).sum()
}

/// Returns the seconds per call in a slice of a single process.
fn per_call(outcome: &SliceOutcome) -> f64 {
    outcome.elapsed_ns as f64 / 1e9 / outcome.calls.max(1) as f64
}

/// Computes the results of a trial. If no slice of a size counts, all slices are used in which
/// every process made a call: a disturbed number is better than a gap, and `excluded_fraction`
/// reports the disturbance.
pub fn results(spec: &TrialSpec, slots: &[SliceSlot], measured: &SliceMeasurements) -> Results {
    let n = measured.outcomes.iter().map(Vec::len).min().unwrap_or(0).min(slots.len());
    let mut visits: Vec<Vec<(bool, f64)>> = vec![Vec::new(); spec.sizes.len()];
    let mut first_visits = Vec::new();
    let mut pairs: Vec<(SliceSlot, SliceOutcome)> = Vec::new();
    let mut counted = 0usize;
    for (i, slot) in slots.iter().enumerate().take(n) {
        let outcomes: Vec<SliceOutcome> = measured.outcomes.iter().map(|o| o[i]).collect();
        let undisturbed = outcomes.iter().all(|o| !o.preempted && !o.late);
        let good = spec.timing.shared || undisturbed;
        counted += usize::from(good);
        if !spec.timing.shared && outcomes.iter().any(|o| o.calls == 0) {
            continue;
        }
        match slot.role {
            SliceRole::Visit(size) => {
                if visits[size].is_empty() {
                    first_visits.push(size);
                }
                visits[size].push((good, together(&outcomes)));
            }
            SliceRole::Plain(_) | SliceRole::Copy(_) if good => pairs.push((*slot, outcomes[0])),
            SliceRole::Plain(_) | SliceRole::Copy(_) => {}
        }
    }
    let points = first_visits
        .into_iter()
        .filter_map(|i| {
            let any = !visits[i].iter().any(|(good, _)| *good);
            let values: Vec<f64> =
                visits[i].iter().filter(|(good, _)| *good || any).map(|(_, v)| *v).collect();
            let throughput = median(&values)?;
            Some(SizeThroughput { size: spec.sizes[i], throughput })
        })
        .collect();
    let excluded_fraction = (n > 0).then(|| (n - counted) as f64 / n as f64);
    Results { points, dd_overhead: dd_overhead(&pairs), excluded_fraction }
}

/// Returns the median difference between reading with and without the write to `/dev/null` over the
/// adjacent pairs of slices, or `None` for fewer than three pairs or if it is not positive (then
/// the reads themselves vary by more).
fn dd_overhead(slices: &[(SliceSlot, SliceOutcome)]) -> Option<f64> {
    let mut differences = Vec::new();
    for (slot, copy) in slices {
        let SliceRole::Copy(k) = slot.role else { continue };
        let plain =
            slices.iter().find(|(s, _)| s.role == SliceRole::Plain(k) && s.pass == slot.pass);
        if let Some((_, plain)) = plain {
            differences.push(per_call(copy) - per_call(plain));
        }
    }
    if differences.len() < 3 {
        return None;
    }
    median(&differences).filter(|d| *d > 0.0)
}

impl Results {
    /// Returns the points of the curve as `[bytes, bytes per second]`.
    pub fn curve(&self) -> Vec<[f64; 2]> {
        self.points.iter().map(|p| [p.size as f64, p.throughput]).collect()
    }

    /// Returns the throughput that dd would report at each size, as `[bytes, bytes per second]`:
    /// the size divided by the time of a read plus the overhead of dd.
    pub fn dd_curve(&self) -> Vec<[f64; 2]> {
        let Some(overhead) = self.dd_overhead else { return Vec::new() };
        self.points
            .iter()
            .map(|p| {
                let size = p.size as f64;
                [size, size / (size / p.throughput + overhead)]
            })
            .collect()
    }

    /// Returns the primary metric in bytes per second: the geometric mean over the powers of two
    /// from 512 B to 64 KiB. They are part of every sweep, so the choice of the other sizes does
    /// not affect it. If `spec` has none of them, the mean is over all powers of two, or else over
    /// all sizes. `None` if one of the sizes could not be measured, because a mean over the others
    /// would be a different quantity.
    pub fn throughput(&self, spec: &TrialSpec) -> Option<f64> {
        let rules: [fn(u64) -> bool; 3] =
            [|s| s.is_power_of_two() && (512..=65536).contains(&s), u64::is_power_of_two, |_| true];
        let sizes = rules.iter().find_map(|rule| {
            let sizes: Vec<u64> = spec.sizes.iter().copied().filter(|s| rule(*s)).collect();
            (!sizes.is_empty()).then_some(sizes)
        })?;
        let at = |size| self.points.iter().find(|p| p.size == size).map(|p| p.throughput);
        geometric(&sizes.into_iter().map(at).collect::<Option<Vec<f64>>>()?)
    }

    /// Returns the best size and its throughput. From 50 sizes on, they come from the smoothed
    /// curve: the maximum of many noisy values is biased upwards, the curve through them much less.
    /// For fewer sizes it is the maximum, because they are too far apart for a curve.
    pub fn best(&self) -> Option<(u64, f64)> {
        if self.points.len() < SMOOTHED_FROM {
            let best = self.points.iter().max_by(|a, b| a.throughput.total_cmp(&b.throughput))?;
            return Some((best.size, best.throughput));
        }
        let model = CurveModel::fit(&[self.curve()]);
        model.best().map(|(size, prediction)| (size, prediction.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::block_size::slots::{slots, tests::spec};

    /// Simulates slices on a machine where a read takes `0.3 us + 0.05 ns/B` and a write to
    /// /dev/null 0.15 us.
    fn ideal(slots: &[SliceSlot], processes: usize) -> SliceMeasurements {
        let of = |slot: &SliceSlot| {
            let copy = if matches!(slot.role, SliceRole::Copy(_)) { 150.0 } else { 0.0 };
            let call_ns = 300.0 + 0.05 * slot.size as f64 + copy;
            SliceOutcome {
                bytes: slot.size * 1000,
                calls: 1000,
                elapsed_ns: (call_ns * 1000.0) as u64,
                preempted: false,
                late: false,
            }
        };
        SliceMeasurements {
            end_ns: 1,
            outcomes: vec![slots.iter().map(of).collect(); processes],
            checked: 0,
            wrong: None,
        }
    }

    #[test]
    fn numbers_of_an_ideal_machine() {
        let spec = spec(&[512, 4096, 65536], 1);
        let slots = slots(&spec);
        let results = results(&spec, &slots, &ideal(&slots, 1));
        assert_eq!(results.points.len(), 3);
        let at = |size| results.points.iter().find(|p| p.size == size).unwrap().throughput;
        assert!((at(4096) / (4096.0 / 504.8e-9) - 1.0).abs() < 1e-9);
        assert!((results.dd_overhead.unwrap() - 150e-9).abs() < 1e-12);
        let dd = results.dd_curve().into_iter().find(|p| p[0] == 4096.0).unwrap()[1];
        assert!((dd / (4096.0 / 654.8e-9) - 1.0).abs() < 1e-9);
        assert_eq!(results.best(), Some((65536, at(65536))));
        let mean = (at(512) * at(4096) * at(65536)).cbrt();
        assert!((results.throughput(&spec).unwrap() / mean - 1.0).abs() < 1e-9);
    }

    #[test]
    fn processes_add_up_and_interrupted_slices_do_not_count() {
        let spec = spec(&[512, 4096], 2);
        let slots = slots(&spec);
        let alone = results(&spec, &slots, &ideal(&slots, 1)).points;
        let mut measured = ideal(&slots, 2);
        let both = results(&spec, &slots, &measured);
        assert_eq!(both.points[0].throughput, 2.0 * alone[0].throughput);
        assert_eq!(both.excluded_fraction, Some(0.0));
        measured.outcomes[1][0].elapsed_ns *= 10;
        measured.outcomes[1][0].preempted = true;
        let disturbed = results(&spec, &slots, &measured);
        assert_eq!(disturbed.points, both.points);
        assert_eq!(disturbed.excluded_fraction, Some(1.0 / 6.0));
    }

    #[test]
    fn what_was_not_reached_is_not_there() {
        let spec = spec(&[512, 4096], 2);
        let slots = slots(&spec);
        let mut measured = ideal(&slots, 2);
        measured.outcomes[0].truncate(2);
        measured.outcomes[1][0] = SliceOutcome::nothing(1_000_000);
        let results = results(&spec, &slots, &measured);
        assert_eq!(results.points.len(), 1);
        assert_eq!(results.excluded_fraction, Some(0.5));
        assert_eq!(results.throughput(&spec), None);
        assert_eq!(results.dd_overhead, None);
        assert!(results.dd_curve().is_empty());
    }
}

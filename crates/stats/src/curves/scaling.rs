//! Scaling of a metric with a count: speedup and efficiency of every measured size, and fitted
//! laws.

use assay_model::{Better, Interval, Scaling, ScalingModel, ScalingPoint};

use crate::comparison::ratio::{compare_paired, compare_unpaired};
use crate::curves::usl::{Law, fit};
use crate::summary::{logs, mean};

/// Trials of one size.
#[derive(Debug, Clone, PartialEq)]
pub struct Size {
    /// Number of processes, threads or copies.
    pub count: f64,
    /// Values of the metric, one per block in block order; `None` for a trial without a value.
    pub values: Vec<Option<f64>>,
}

/// Analyzes `metric` over the sizes of `factor`. A metric for which lower is better is taken as the
/// time of a fixed amount of work, so that its speedup is time at the smallest count / time.
///
/// Every size with only positive values becomes a point: the geometric mean, the speedup over the
/// smallest such count with its interval at `confidence` (paired by block if both sizes are
/// complete and of the same length, else Welch; `None` below three), and the efficiency. From six
/// sizes on, Amdahl's law and the USL are fitted; below that, `note` gives the reason. It also
/// names sizes that were left out.
pub fn scaling(
    factor: &str,
    (metric, unit): (&str, &str),
    better: Better,
    sizes: &[Size],
    confidence: f64,
) -> Scaling {
    let mut notes: Vec<String> = Vec::new();
    let mut whole: Vec<(f64, Vec<f64>, &Size)> = Vec::new();
    for size in sizes {
        let values: Vec<f64> = size.values.iter().copied().flatten().collect();
        if logs(&values).is_some() && size.count > 0.0 && size.count.is_finite() {
            whole.push((size.count, values, size));
        } else {
            notes.push(format!("the size {} is left out: it has no positive values", size.count));
        }
    }
    whole.sort_by(|a, b| a.0.total_cmp(&b.0));
    let points: Vec<ScalingPoint> = match whole.first() {
        Some(smallest) => {
            whole.iter().filter_map(|s| point(smallest, s, better, confidence)).collect()
        }
        None => Vec::new(),
    };
    if better == Better::Lower {
        notes.push(format!(
            "lower is better for {metric}, so it counts as the time of the same work at every count"
        ));
    }
    let rate = |p: &ScalingPoint| if better == Better::Lower { 1.0 / p.value } else { p.value };
    let rates: Vec<ScalingPoint> =
        points.iter().map(|p| ScalingPoint { value: rate(p), ..p.clone() }).collect();
    let (models, fit_note) = models(&rates);
    notes.push(fit_note);
    Scaling {
        factor: factor.to_owned(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
        points,
        models,
        note: notes.join("; "),
    }
}

/// Fits Amdahl's law and the USL to points whose values are rates (higher is better). Returns the
/// models with a sentence about the measured range, or no models with the reason (such as fewer
/// than six sizes).
fn models(points: &[ScalingPoint]) -> (Vec<ScalingModel>, String) {
    let rates: Vec<(f64, f64)> = points.iter().map(|p| (p.count, p.value)).collect();
    let fits: Result<Vec<ScalingModel>, _> =
        [Law::Amdahl, Law::Usl].into_iter().map(|law| fit(&rates, law)).collect();
    match fits {
        Ok(models) => {
            let low = rates.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
            let high = rates.iter().map(|r| r.0).fold(0.0, f64::max);
            (models, format!("measured from {low} to {high}; anything beyond is extrapolated"))
        }
        Err(error) => (Vec::new(), format!("not fitted: {error}")),
    }
}

fn point(
    smallest: &(f64, Vec<f64>, &Size),
    this: &(f64, Vec<f64>, &Size),
    better: Better,
    confidence: f64,
) -> Option<ScalingPoint> {
    let value = mean(&logs(&this.1)?)?.exp();
    let base = mean(&logs(&smallest.1)?)?.exp();
    // For times the ratio is inverted: smallest / this.
    let (from, to) = if better == Better::Lower { (this, smallest) } else { (smallest, this) };
    let speedup = if better == Better::Lower { base / value } else { value / base };
    let complete = |s: &(f64, Vec<f64>, &Size)| s.1.len() == s.2.values.len();
    let paired = complete(from) && complete(to) && from.1.len() == to.1.len();
    let ratio = if paired {
        compare_paired(&from.1, &to.1, confidence)
    } else {
        compare_unpaired(&from.1, &to.1, confidence)
    };
    let interval: Option<Interval> = ratio.ok().and_then(|r| r.interval);
    let efficiency = speedup / (this.0 / smallest.0);
    let usable = value.is_finite() && speedup.is_finite() && efficiency.is_finite();
    usable.then_some(ScalingPoint { count: this.0, value, speedup, interval, efficiency })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(count: f64, values: &[f64]) -> Size {
        Size { count, values: values.iter().copied().map(Some).collect() }
    }

    #[test]
    fn speedup_and_efficiency_from_the_smallest() {
        let sizes = [
            size(4.0, &[30.0, 33.0, 31.0]),
            size(2.0, &[20.0, 22.0, 21.0]),
            size(8.0, &[0.0, 1.0]),
        ];
        let s = scaling("threads", ("throughput", "ops/s"), Better::Higher, &sizes, 0.95);
        assert_eq!(s.points.iter().map(|p| p.count).collect::<Vec<_>>(), [2.0, 4.0]);
        assert_eq!(s.points[0].speedup, 1.0);
        let four = &s.points[1];
        assert!((four.speedup - (1.5 * 1.5 * 31.0 / 21.0f64).cbrt()).abs() < 1e-12);
        assert!((four.efficiency - four.speedup / 2.0).abs() < 1e-12);
        assert!(four.interval.unwrap().contains(four.speedup));
        assert!(s.models.is_empty());
        assert!(s.note.contains("size 8") && s.note.contains("2 sizes are too few"), "{}", s.note);
    }

    #[test]
    fn six_sizes_are_fitted_and_times_turn_over() {
        let law = |n: f64| 10.0 * n / (1.0 + 0.05 * (n - 1.0));
        let rates: Vec<Size> =
            [1.0, 2.0, 4.0, 6.0, 8.0, 16.0].map(|n| size(n, &[law(n), law(n)])).to_vec();
        let s = scaling("copies", ("rate", ""), Better::Higher, &rates, 0.95);
        assert_eq!(s.models.len(), 2);
        assert!((s.models[0].sigma - 0.05).abs() < 1e-9 && s.models[0].model == "amdahl");
        assert!(s.note.contains("extrapolated"));
        assert_eq!(s.points[3].interval, None, "two trials carry none");
        let times: Vec<Size> =
            [1.0, 2.0, 4.0, 6.0, 8.0, 16.0].map(|n| size(n, &[1.0 / law(n); 3])).to_vec();
        let t = scaling("threads", ("elapsed", "s"), Better::Lower, &times, 0.95);
        for (a, b) in s.points.iter().zip(&t.points) {
            assert!((a.speedup - b.speedup).abs() < 1e-9);
        }
        assert!((t.models[1].sigma - 0.05).abs() < 1e-6);
    }

    #[test]
    fn missing_trials_break_the_pairs_only() {
        let mut sizes =
            [size(1.0, &[10.0, 11.0, 12.0, 10.5]), size(2.0, &[20.0, 21.0, 23.0, 20.0])];
        sizes[1].values[0] = None;
        let s = scaling("threads", ("throughput", "ops/s"), Better::Higher, &sizes, 0.95);
        assert!(s.points[1].interval.unwrap().contains(s.points[1].speedup));
        let none = scaling("threads", ("throughput", "ops/s"), Better::Higher, &[], 0.95);
        assert!(none.points.is_empty() && !none.note.is_empty());
    }
}

//! F61: trials of one treatment that differ: an outlying first trial, or a trend over the run.

use assay_model::Order;
use assay_stats::summary::median;

use super::trend::own_trends;
use crate::prelude::*;

pub const COLD_START: CheckRow = CheckRow {
    id: "F61",
    name: "cold-start",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "",
    needs: "six trials of a treatment with their values, in the order in which they ran",
    fires: "the first trial of a treatment lies far outside all its others (eight times their \
        spread, and 2 %); a warm-up that wrote files is twice as long as the others; or the trials \
        of one treatment alone change over the run (p < 0.001, and 5 %)",
    why: "caches, lazy set-up or the clock of the CPU were cold, or later trials reuse the files \
        of earlier ones: the trials measured different things",
    remedy: "`--warmup 1` excludes it; `--prepare 'rm -f FILE'` gives every trial the same start",
    source: "Georges, Buytaert and Eeckhout 2007; Kalibera and Jones 2013",
    evidence: "start times and values of the trials; files that the first wrote into its folder",
};

pub const CHECK: Check = Check::new(&COLD_START, evaluate);

/// Minimum distance of the first trial from the median of the others, as a multiple of their spread
/// (the median absolute deviation, scaled to a normal distribution's standard deviation).
const MIN_SPREADS: f64 = 8.0;
/// Minimum distance of the first trial from that median, as a fraction of the median.
const MIN_SHARE: f64 = 0.02;
/// Minimum number of trials to estimate the spread.
const MIN_TRIALS: usize = 6;
/// A warm-up that takes this many times the median of the others may have left its result for them.
const WARMUP_RATIO: f64 = 2.0;
/// Maximum p-value and minimum change of a trend that only one treatment has.
const MAX_TREND_P: f64 = 0.001;
const MIN_TREND: f64 = 0.05;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let schedule = need(e.schedule.as_ref(), "the start times of the trials")?;
    if schedule.order == Some(Order::Unknown) {
        return missing("the order in which the trials ran");
    }
    let all: Vec<Vec<f64>> =
        (0..treatments.len()).map(|treatment| in_order(schedule, treatment)).collect();
    if all.iter().all(|values| values.len() < MIN_TRIALS) {
        return missing(format!("{MIN_TRIALS} trials of a treatment"));
    }
    let mut found = Vec::new();
    let trends = own_trends(schedule, treatments.len());
    for ((values, treatment), trend) in all.iter().zip(treatments).zip(trends) {
        let label = &treatment.label;
        let first = treatment.first.as_ref();
        let wrote = first.map(|f| f.wrote.join("`, `")).filter(|files| !files.is_empty());
        let files = wrote.as_ref().map_or_else(String::new, |files| {
            format!("; it wrote `{files}`, which the others find in the working folder")
        });
        let warmup = first.filter(|f| f.warmup && wrote.is_some()).and_then(|f| f.value);
        let warmup_ratio = warmup.zip(median(values)).map(|(first, others)| first / others);
        let text = if let Some(times) = outlying_first(values) {
            format!(
                "the first trial of {label} is {times:.3} times the median of its others{files}"
            )
        } else if let Some(times) =
            warmup_ratio.filter(|t| *t >= WARMUP_RATIO || *t <= 1.0 / WARMUP_RATIO)
        {
            format!("the warm-up of {label} is {times:.3} times the median of its trials{files}")
        } else if let Some((times, p)) = trend
            && p < MAX_TREND_P
            && times.ln().abs() > MIN_TREND.ln_1p()
        {
            let files = files.replacen("; it wrote", "; its first trial wrote", 1);
            format!(
                "only the trials of {label} change over the run, by a factor of {times:.3}{files}"
            )
        } else {
            continue;
        };
        found.push(about(finding(text), &[treatment], treatments));
    }
    Ok(found)
}

/// Returns a treatment's positive values in the order in which its trials began.
fn in_order(schedule: &Schedule, treatment: usize) -> Vec<f64> {
    let mut of: Vec<(f64, f64)> = schedule
        .trials
        .iter()
        .filter(|t| t.treatment == treatment)
        .filter_map(|t| Some((t.start_s, t.value.filter(|v| v.is_finite() && *v > 0.0)?)))
        .collect();
    of.sort_by(|a, b| a.0.total_cmp(&b.0));
    of.into_iter().map(|(_, value)| value).collect()
}

/// Returns the first value as a multiple of the others' median, if it is an outlier.
fn outlying_first(values: &[f64]) -> Option<f64> {
    let (first, others) = values.split_first()?;
    if values.len() < MIN_TRIALS {
        return None;
    }
    let middle = median(others)?;
    let deviations: Vec<f64> = others.iter().map(|v| (v - middle).abs()).collect();
    let spread = 1.4826 * median(&deviations)?;
    let distance = (first - middle).abs();
    let outside = others.iter().all(|v| (v - middle).abs() < distance);
    (outside && distance > MIN_SPREADS * spread && distance > MIN_SHARE * middle)
        .then(|| first / middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::rng::Rng;

    use crate::Scheduled;

    /// Builds two alternating treatments; the first trial takes `first`, the others about 1.
    fn evidence(first: f64) -> Evidence {
        let trial = |i: usize| Scheduled {
            treatment: i % 2,
            start_s: i as f64,
            end_s: i as f64 + 0.5,
            value: Some(if i == 0 { first } else { 1.0 + 0.01 * (i % 3) as f64 }),
        };
        let treatment =
            |label: &str| TreatmentEvidence { label: label.into(), ..Default::default() };
        Evidence {
            treatments: vec![treatment("a"), treatment("b")],
            schedule: Some(Schedule {
                trials: (0..20).map(trial).collect(),
                ..Schedule::default()
            }),
            ..Evidence::default()
        }
    }

    #[test]
    fn it_fires_passes_and_cannot_say() {
        assert_eq!(evaluate(&evidence(1.0)), Ok(Vec::new()));
        let found = evaluate(&evidence(3.0)).unwrap();
        assert!(found[0].message.starts_with("the first trial of a is 2.9"), "{found:?}");
        let mut unordered = evidence(3.0);
        unordered.schedule.as_mut().unwrap().order = Some(Order::Unknown);
        assert!(evaluate(&unordered).is_err());
        assert!(evaluate(&Evidence { schedule: None, ..evidence(3.0) }).is_err());
    }

    #[test]
    fn what_a_trial_leaves_in_its_folder_is_named() {
        let mut cached = evidence(1.0);
        let wrote = vec!["result.cache".to_owned()];
        cached.treatments[1].first =
            Some(FirstTrial { value: Some(130.0), warmup: true, wrote: wrote.clone() });
        let found = evaluate(&cached).unwrap();
        assert!(found[0].message.starts_with("the warm-up of b is 12"), "{found:?}");
        assert!(found[0].message.contains("`result.cache`"), "{found:?}");
        // A long warm-up that leaves no files did what a warm-up is for.
        cached.treatments[1].first.as_mut().unwrap().wrote.clear();
        assert_eq!(evaluate(&cached), Ok(Vec::new()));
        // A growing log slows one treatment and not the other.
        let mut growing = evidence(1.0);
        growing.treatments[1].first = Some(FirstTrial { value: None, warmup: false, wrote });
        for trial in
            growing.schedule.as_mut().unwrap().trials.iter_mut().filter(|t| t.treatment == 1)
        {
            trial.value = trial.value.map(|v| v * (1.0 + 0.02 * trial.start_s));
        }
        let found = evaluate(&growing).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].message.contains("the trials of b change over the run, by a factor of 1.3"),
            "{found:?}"
        );
        assert!(found[0].message.contains("its first trial wrote `result.cache`"), "{found:?}");
        // A drift of both treatments comes from the machine; pairs cancel it.
        let mut both = evidence(1.0);
        for trial in &mut both.schedule.as_mut().unwrap().trials {
            trial.value = trial.value.map(|v| v * (1.0 + 0.02 * trial.start_s));
        }
        assert_eq!(evaluate(&both), Ok(Vec::new()));
    }

    #[test]
    fn a_cold_first_trial_stands_apart_and_a_slow_later_one_does_not() {
        let others = [1.0, 1.01, 0.99, 1.0, 1.005];
        assert!(
            outlying_first(&[&[1.5][..], &others].concat()).is_some_and(|t| (t - 1.5).abs() < 0.01)
        );
        assert_eq!(outlying_first(&[&others[..], &[1.5]].concat()), None);
        assert_eq!(outlying_first(&[1.5, 1.0, 1.0, 1.0, 1.0]), None, "too few");
        assert_eq!(outlying_first(&[1.01, 1.0, 1.0, 1.0, 1.0, 1.0]), None, "less than 2 %");
    }

    /// False alarms are rare: 2000 treatments without a cold start, with normal noise of 2 %, from
    /// 6 trials on.
    #[test]
    fn noise_rarely_looks_cold() {
        let mut rng = Rng::new(7);
        for n in [6, 10, 30] {
            let wrong = (0..2000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| (0.02 * rng.normal()).exp()).collect();
                    outlying_first(&values).is_some()
                })
                .count();
            assert!(wrong <= 60, "{wrong} of 2000 at {n}");
        }
    }
}

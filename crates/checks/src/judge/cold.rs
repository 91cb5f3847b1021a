//! F61: whether the first trial of a treatment stands apart from the others.

use assay_model::Order;
use assay_stats::summary::median;

use crate::check::{Evaluation, about, missing, need, plain};
use crate::{Evidence, Schedule};

/// How many times the spread of the others (the median absolute deviation, scaled to a normal distribution's
/// standard deviation) the first must lie away from their median.
const SPREADS: f64 = 8.0;
/// And by how much at least, as a fraction.
const MIN_SHARE: f64 = 0.02;
/// Trials below which the spread of the others is not known.
const MIN_TRIALS: usize = 6;

pub(crate) fn cold_start(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let schedule = need(e.schedule.as_ref(), "when the trials ran")?;
    if schedule.order == Some(Order::Unknown) {
        return missing("the order in which the trials ran");
    }
    let all: Vec<Vec<f64>> =
        (0..treatments.len()).map(|treatment| in_order(schedule, treatment)).collect();
    if all.iter().all(|values| values.len() < MIN_TRIALS) {
        return missing(format!("{MIN_TRIALS} trials of a treatment"));
    }
    let cold = all.iter().zip(treatments).filter_map(|(values, treatment)| {
        let times = apart(values)?;
        let text = format!(
            "the first trial of {} is {times:.3} times the median of its others, far outside them",
            treatment.label
        );
        Some(about(plain(text), &[treatment], treatments))
    });
    Ok(cold.collect())
}

/// The values of a treatment in the order in which its trials began.
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

/// The first as a multiple of the others' median, if it stands apart.
fn apart(values: &[f64]) -> Option<f64> {
    let (first, others) = values.split_first()?;
    if values.len() < MIN_TRIALS {
        return None;
    }
    let middle = median(others)?;
    let away: Vec<f64> = others.iter().map(|v| (v - middle).abs()).collect();
    let spread = 1.4826 * median(&away)?;
    let distance = (first - middle).abs();
    let outside = others.iter().all(|v| (v - middle).abs() < distance);
    (outside && distance > SPREADS * spread && distance > MIN_SHARE * middle)
        .then(|| first / middle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::rng::Rng;

    use crate::{Scheduled, TreatmentEvidence};

    /// Two treatments in turn, the first trial `first` times as long as the others.
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
        assert_eq!(cold_start(&evidence(1.0)), Ok(Vec::new()));
        let found = cold_start(&evidence(3.0)).unwrap();
        assert!(found[0].message.starts_with("the first trial of a is 2.9"), "{found:?}");
        let mut unordered = evidence(3.0);
        unordered.schedule.as_mut().unwrap().order = Some(Order::Unknown);
        assert!(cold_start(&unordered).is_err());
        assert!(cold_start(&Evidence { schedule: None, ..evidence(3.0) }).is_err());
    }

    #[test]
    fn a_cold_first_trial_stands_apart_and_a_slow_later_one_does_not() {
        let others = [1.0, 1.01, 0.99, 1.0, 1.005];
        assert!(apart(&[&[1.5][..], &others].concat()).is_some_and(|t| (t - 1.5).abs() < 0.01));
        assert_eq!(apart(&[&others[..], &[1.5]].concat()), None);
        assert_eq!(apart(&[1.5, 1.0, 1.0, 1.0, 1.0]), None, "too few");
        assert_eq!(apart(&[1.01, 1.0, 1.0, 1.0, 1.0, 1.0]), None, "less than 2 %");
    }

    /// Of 2,000 treatments without a cold start, few are called so: normal noise of 2 %, from 6 trials on.
    #[test]
    fn noise_rarely_looks_cold() {
        let mut rng = Rng::new(7);
        for n in [6, 10, 30] {
            let wrong = (0..2000)
                .filter(|_| {
                    let values: Vec<f64> = (0..n).map(|_| (0.02 * rng.normal()).exp()).collect();
                    apart(&values).is_some()
                })
                .count();
            assert!(wrong <= 60, "{wrong} of 2000 at {n}");
        }
    }
}

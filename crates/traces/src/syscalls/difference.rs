//! Compares the system calls of two sets of trials: which calls were made more or less often, took
//! more or less time, failed or moved bytes. The trial is the unit of replication: it gives one
//! value per call and measure.

use std::collections::BTreeSet;

use assay_stats::comparison::estimate::{Estimate, adjust, variance_at_least};
use assay_stats::summary::mean;

use crate::syscalls::{Amounts, Dimension, Syscalls};

/// A call is not compared if its share of the calls, errors, time and bytes of both sides is below
/// this: every further comparison weakens the others through the Holm correction.
const LEAST_SHARE: f64 = 0.005;
/// Minimum number of trials per side for an interval and a p-value.
const LEAST_TRIALS: usize = 3;
/// Variance of rounding to whole numbers, the lower bound of the variance of a side: values that
/// all happen to be equal would have none.
const ROUNDING: f64 = 1.0 / 12.0;

/// Quantity of a call that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// Number of calls made.
    Calls,
    /// Number of calls that returned an error.
    Errors,
    /// Time from entry to return, nanoseconds.
    Time,
    /// Bytes that the calls returned.
    Bytes,
}

assay_model::names! {
    pub Measure::name, ALL: Calls = "calls", Errors = "errors", Time = "time", Bytes = "bytes"
}

impl Measure {
    /// Returns this measure of `amounts`: a count, nanoseconds or bytes.
    pub fn amount(self, amounts: &Amounts) -> f64 {
        let n = match self {
            Measure::Calls => amounts.calls,
            Measure::Errors => amounts.errors,
            Measure::Time => amounts.ns,
            Measure::Bytes => amounts.bytes.unwrap_or(0),
        };
        n as f64
    }
}

/// Difference of one measure of one call.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CallChange {
    /// Name of the call.
    pub call: String,
    pub measure: Measure,
    /// Mean per trial of the first and second side.
    pub mean: [f64; 2],
    /// Mean of the second side minus mean of the first.
    pub difference: f64,
    /// Confidence interval of the difference, for this measure alone (uncorrected); `None` with too
    /// few trials.
    pub interval: Option<[f64; 2]>,
    /// p-value, corrected by Holm's method for all compared measures.
    pub p: Option<f64>,
    /// True if the difference is significant after the correction.
    pub clear: bool,
}

/// Comparison of all calls of two sets of trials.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Differences {
    /// Number of trials on each side.
    pub trials: [usize; 2],
    /// Confidence level of the intervals. `1 - confidence` bounds the probability that any change
    /// is marked clear by mistake.
    pub confidence: f64,
    /// Number of measures that were compared.
    pub compared: usize,
    /// Calls that were too small a share to be compared.
    pub too_small: usize,
    /// Compared measures: clear ones first, then by p-value, then by relative size of the
    /// difference.
    pub changes: Vec<CallChange>,
}

/// Compares the calls of two sets of trials at a confidence level such as 0.95.
pub fn differences(first: &[&Syscalls], second: &[&Syscalls], confidence: f64) -> Differences {
    let sides = [first, second]
        .map(|trials| trials.iter().map(|t| t.by(&[Dimension::Call])).collect::<Vec<_>>());
    let every = || sides.iter().flatten().flatten();
    let total = Measure::ALL.map(|m| every().map(|g| m.amount(&g.amounts)).sum::<f64>());
    let calls: BTreeSet<&str> = every().map(|g| g.key[0].as_str()).collect();
    let mut changes = Vec::new();
    let mut too_small = 0;
    for call in calls {
        let of = |measure: Measure| {
            [0, 1].map(|side: usize| -> Vec<f64> {
                let value = |trial: &Vec<crate::syscalls::CallGroup>| {
                    let of = trial.iter().find(|g| g.key[0] == call);
                    of.map_or(0.0, |g| measure.amount(&g.amounts))
                };
                sides[side].iter().map(value).collect()
            })
        };
        let all = Measure::ALL.map(|m| (m, of(m)));
        let sum = |v: &[Vec<f64>; 2]| v.iter().flatten().sum::<f64>();
        if all
            .iter()
            .zip(total)
            .all(|((_, v), total)| sum(v) < LEAST_SHARE * total || sum(v) == 0.0)
        {
            too_small += 1;
            continue;
        }
        let there = all.iter().filter(|(_, v)| sum(v) > 0.0);
        changes.extend(there.map(|(measure, values)| change(call, *measure, values, confidence)));
    }
    adjust(changes.iter_mut().map(|c| &mut c.p));
    for change in &mut changes {
        change.clear = change.p.is_some_and(|p| p <= 1.0 - confidence);
    }
    let share = |c: &CallChange| c.difference.abs() / (c.mean[0] + c.mean[1]);
    changes.sort_by(|a, b| {
        (b.clear.cmp(&a.clear))
            .then_with(|| a.p.unwrap_or(1.0).total_cmp(&b.p.unwrap_or(1.0)))
            .then_with(|| share(b).total_cmp(&share(a)))
            .then_with(|| (&a.call, a.measure).cmp(&(&b.call, b.measure)))
    });
    let trials = [first.len(), second.len()];
    Differences { trials, confidence, compared: changes.len(), too_small, changes }
}

/// Compares one measure by Welch's test (Biometrika 34 (1947) 28), with at least the variance of
/// rounding.
fn change(call: &str, measure: Measure, values: &[Vec<f64>; 2], confidence: f64) -> CallChange {
    let means = [0, 1].map(|s: usize| mean(&values[s]).unwrap_or(0.0));
    let enough = values.iter().all(|v| v.len() >= LEAST_TRIALS);
    let estimate =
        enough.then(|| Estimate::welch(&values[0], &values[1], |v| variance_at_least(v, ROUNDING)));
    let interval = estimate.as_ref().and_then(|e| e.interval(confidence));
    CallChange {
        call: call.to_owned(),
        measure,
        mean: means,
        difference: means[1] - means[0],
        interval: interval.map(|i| [i.low, i.high]),
        p: estimate.and_then(|e| e.p_beyond(0.0)),
        clear: false,
    }
}

#[cfg(test)]
mod tests {
    use assay_stats::rng::Rng;

    use super::*;
    use crate::syscalls::{CallSubject, Calls};

    fn trial(calls: &[(&str, u64, u64)]) -> Syscalls {
        let calls = calls.iter().map(|(call, n, ns)| Calls {
            call: (*call).into(),
            program: "p".into(),
            process: None,
            on: CallSubject::Nothing,
            amounts: Amounts { calls: *n, ns: *ns, ..Amounts::default() },
        });
        Syscalls { version: 1, calls: calls.collect(), ..Syscalls::default() }
    }

    fn compare(a: &[Syscalls], b: &[Syscalls]) -> Differences {
        let (a, b): (Vec<&Syscalls>, Vec<&Syscalls>) = (a.iter().collect(), b.iter().collect());
        differences(&a, &b, 0.95)
    }

    #[test]
    fn more_calls_are_named_and_a_call_more_is_not() {
        let a: Vec<_> =
            (0..5).map(|i| trial(&[("read", 1000, 5000 + i), ("mmap", 20, 900 + i)])).collect();
        let b: Vec<_> = (0..5)
            .map(|i| trial(&[("read", 4000, 20_000 + i), ("mmap", 20, 900 + i), ("fsync", 1, 10)]))
            .collect();
        let d = compare(&a, &b);
        let clear: Vec<_> =
            d.changes.iter().filter(|c| c.clear).map(|c| (c.call.as_str(), c.measure)).collect();
        assert!(
            clear.contains(&("read", Measure::Calls)) && clear.contains(&("read", Measure::Time))
        );
        assert!(!clear.iter().any(|c| c.0 == "mmap"), "{clear:?}");
        // The single fsync among some 25,000 calls is too small to be compared.
        assert_eq!(d.too_small, 1);
        assert!(compare(&a[..2], &b).changes.iter().all(|c| c.p.is_none() && !c.clear));
    }

    /// Returns a trial of a program whose call counts are partly random, like those of a program
    /// that waits; most of them are always the same.
    fn chance(rng: &mut Rng) -> Syscalls {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let calls: Vec<(&str, u64, u64)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let n = match i {
                    0..5 => 10 + i as u64,
                    5..8 => u64::from(rng.uniform() < 0.5),
                    _ => (50.0 + 7.0 * rng.normal()).max(0.0) as u64,
                };
                (*name, n, (n as f64 * 1000.0 * (1.0 + 0.1 * rng.normal())) as u64)
            })
            .collect();
        trial(&calls)
    }

    #[test]
    fn a_program_compared_with_itself_names_calls_rarely() {
        let mut rng = Rng::new(23);
        for n in [3, 5, 10] {
            let mut named = 0;
            for _ in 0..400 {
                let a: Vec<_> = (0..n).map(|_| chance(&mut rng)).collect();
                let b: Vec<_> = (0..n).map(|_| chance(&mut rng)).collect();
                named += usize::from(compare(&a, &b).changes.iter().any(|c| c.clear));
            }
            eprintln!("{n} trials a side: names a call in {named} of 400");
            // 5 % are 20 of 400; the limit is three standard deviations of 4.4 above that.
            assert!(named <= 33, "{n} trials: {named} of 400");
        }
    }
}

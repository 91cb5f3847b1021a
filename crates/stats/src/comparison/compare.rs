//! Entry point for comparisons: turns the values of two treatments into a complete [`Comparison`]
//! with verdict and reason.

use assay_model::{Better, Comparison, Method, Verdict};

use crate::comparison::aa::holm;
use crate::comparison::ratio::{Ratio, RatioError, compare_paired, compare_unpaired};
use crate::comparison::verdict::{VerdictRule, judge};

/// Values of the two treatments. `None` is a trial without a value.
#[derive(Debug, Clone, Copy)]
pub enum Samples<'a> {
    /// One (baseline, treatment) pair per block. A pair without one of the two is left out, and the
    /// reason reports it.
    Paired(&'a [(Option<f64>, Option<f64>)]),
    /// Two samples that share no blocks. Missing values are left out, and the reason reports it.
    Independent {
        /// Values of the baseline.
        baseline: &'a [Option<f64>],
        /// Values of the treatment.
        treatment: &'a [Option<f64>],
    },
}

/// Input of [`compare`] for one metric.
#[derive(Debug, Clone, Copy)]
pub struct CompareInput<'a> {
    pub metric: &'a str,
    /// Unit of the metric.
    pub unit: &'a str,
    /// Direction in which the metric is better.
    pub better: Better,
    /// Id of the baseline treatment.
    pub baseline: u32,
    /// Id of the compared treatment.
    pub treatment: u32,
    pub samples: Samples<'a>,
    /// Confidence level of the intervals, 0.5 to 0.999.
    pub confidence: f64,
    /// Differences up to this fraction do not matter (0.02 for 2 %).
    pub margin: Option<f64>,
    /// True if `better` and `worse` require a difference beyond the margin.
    pub gate: bool,
}

/// Compares a treatment with the baseline.
///
/// With R = treatment / baseline (ratio of geometric means), its interval at `confidence` = 1 − α,
/// and the margin m (0 if none is given), the verdict of an interval is the first that holds:
///
/// 1. `equivalent`: the interval of level 1 − 2α (0.90 for 0.95) lies inside [1/(1+m), 1+m], which
///    is two one-sided tests at α (Schuirmann 1987). It has precedence over `better`: a clear
///    difference that is too small to matter is equivalent, and the reason states both. Without a
///    margin only values that are exactly equal are equivalent.
/// 2. `better` or `worse`: the interval lies above 1 or below 1. With `gate` it must lie beyond the
///    margin: above 1+m or below 1/(1+m).
/// 3. `inconclusive`, also if `better` is [`Better::Neither`] and the interval excludes 1: the size
///    is known, but neither direction is better.
///
/// The sensitivity check by ranks (signed ranks from six pairs, Mann-Whitney from four values on
/// each side) gets its own verdict by the same rules. If the two verdicts differ, the comparison is
/// `inconclusive`, because the shape of the data decides. Below three pairs there is a ratio but no
/// interval, and the verdict is `inconclusive`. It is `invalid` if there are no values, a value is
/// not positive, or the confidence or margin is out of range. Every float in the result is finite.
pub fn compare(input: &CompareInput<'_>) -> Comparison {
    compared(input).0
}

/// Compares several treatments, each as [`compare`] does. If more than one gate has a test, their
/// `better` and `worse` hold only if Holm's adjusted p ([`holm`]) of "the ratio lies within the
/// margin" is at most α = 1 − confidence, so that the chance of any false alarm among them is at
/// most α; the others become `inconclusive`. The intervals remain those of each comparison alone.
pub fn compare_family(inputs: &[CompareInput<'_>]) -> Vec<Comparison> {
    corrected(inputs, |input| input.gate)
}

/// Compares the benchmarks of a suite, as [`compare_family`] does for gates: `better` and `worse`
/// hold only among all benchmarks, also without a gate.
pub fn compare_suite(inputs: &[CompareInput<'_>]) -> Vec<Comparison> {
    corrected(inputs, |_| true)
}

fn corrected(
    inputs: &[CompareInput<'_>],
    member: impl Fn(&CompareInput<'_>) -> bool,
) -> Vec<Comparison> {
    let (mut all, tests): (Vec<Comparison>, Vec<Option<f64>>) = inputs.iter().map(compared).unzip();
    let gated = |i: &usize| member(&inputs[*i]);
    let family: Vec<(usize, f64)> =
        (0..all.len()).filter(gated).filter_map(|i| Some((i, tests[i]?))).collect();
    let Some(adjusted) = holm(&family.iter().map(|f| f.1).collect::<Vec<_>>()) else { return all };
    let m = family.len();
    for ((i, _), p) in family.into_iter().zip(adjusted).filter(|_| m > 1) {
        let c = &mut all[i];
        if !matches!(c.verdict, Verdict::Better | Verdict::Worse) {
            continue;
        }
        if p <= 1.0 - inputs[i].confidence {
            c.reason = format!("{}, also among {m} comparisons (Holm)", c.reason);
        } else {
            let reason = std::mem::take(&mut c.reason);
            c.reason = format!(
                "{reason}; but of {m} comparisons one may do so by chance, and it is not clear \
                 enough for Holm's correction"
            );
            c.verdict = Verdict::Inconclusive;
        }
    }
    all
}

/// Returns the comparison, and the p of "the ratio lies within the margin" for use in a family.
fn compared(input: &CompareInput<'_>) -> (Comparison, Option<f64>) {
    let mut tested = None;
    let rule = VerdictRule { better: input.better, margin: input.margin, gate: input.gate };
    let (method, sensitivity_method) = match input.samples {
        Samples::Paired(_) => (Method::PairedT, Method::SignedRank),
        Samples::Independent { .. } => (Method::Welch, Method::RankSum),
    };
    let mut comparison = Comparison {
        metric: input.metric.to_owned(),
        unit: input.unit.to_owned(),
        better: input.better,
        baseline: input.baseline,
        treatment: input.treatment,
        n: 0,
        ratio: None,
        interval: None,
        method,
        sensitivity: None,
        sensitivity_method,
        detectable: None,
        margin: input.margin.filter(|m| m.is_finite()),
        verdict: Verdict::Invalid,
        reason: String::new(),
    };
    if input.margin.is_some_and(|m| !(m >= 0.0 && m.is_finite())) {
        let reason = "the margin must be a fraction of 0 or more, such as 0.02".to_owned();
        return (Comparison { reason, ..comparison }, None);
    }
    let (n, missing, ratio) = measure(input);
    comparison.n = n as u32;
    let mut reason = match ratio {
        Ok(ratio) if ratio.ratio.is_finite() && ratio.ratio > 0.0 => {
            let (verdict, reason) = judge(&ratio, rule);
            comparison.ratio = Some(ratio.ratio);
            let limit = 1.0 + input.margin.unwrap_or(0.0);
            tested = ratio.interval.and_then(|_| ratio.estimate.p_beyond(limit.ln()));
            comparison.interval = ratio.interval;
            comparison.sensitivity = ratio.sensitivity;
            comparison.detectable = ratio.detectable;
            comparison.verdict = verdict;
            reason
        }
        Ok(_) => "the ratio is too large or too small to be written as a number".to_owned(),
        Err(error) => error.to_string(),
    };
    if let Some(missing) = missing {
        reason = format!("{reason} ({missing})");
    }
    comparison.reason = reason;
    (comparison, tested)
}

/// Returns the number of values that count, a description of missing values, and the ratio.
fn measure(input: &CompareInput<'_>) -> (usize, Option<String>, Result<Ratio, RatioError>) {
    match input.samples {
        Samples::Paired(pairs) => {
            let whole: Vec<(f64, f64)> = pairs.iter().filter_map(|(b, t)| b.zip(*t)).collect();
            let (b, t): (Vec<f64>, Vec<f64>) = whole.into_iter().unzip();
            let lost = pairs.len() - b.len();
            let lost = (lost > 0)
                .then(|| format!("{lost} of {} pairs lack a value and are left out", pairs.len()));
            let side =
                match (pairs.iter().any(|p| p.0.is_some()), pairs.iter().any(|p| p.1.is_some())) {
                    (true, true) => "two in one block",
                    (true, false) => "treatment",
                    (false, _) => "baseline",
                };
            let ratio = if b.is_empty() {
                Err(RatioError::Empty { side })
            } else {
                compare_paired(&b, &t, input.confidence)
            };
            (b.len(), lost, ratio)
        }
        Samples::Independent { baseline, treatment } => {
            let b: Vec<f64> = baseline.iter().copied().flatten().collect();
            let t: Vec<f64> = treatment.iter().copied().flatten().collect();
            let all = baseline.len() + treatment.len();
            let lost = all - b.len() - t.len();
            let lost =
                (lost > 0).then(|| format!("{lost} of {all} trials lack a value and are left out"));
            (b.len().min(t.len()), lost, compare_unpaired(&b, &t, input.confidence))
        }
    }
}

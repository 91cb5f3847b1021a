//! Scores of a suite: the ratio that counts for each member, the geometric mean of these, and
//! comparisons of toolchains or settings, paired by block.

use std::collections::BTreeMap;

use assay_model::{
    Better, Experiment, Interval, Plan, Scalar, Scaling, SuiteComparison, SuiteMember,
    SuiteResults, SuiteScore, SuiteSpec, Treatment, TrialOutcome, TrialRecord,
};
use assay_stats::curves::scaling::Size;
use assay_stats::means::{self, MeanInput, Quantity};
use assay_stats::{CompareInput, Samples, compare, summarize};

use crate::pairs::{apart, values};
use crate::plan::margin;

/// Returns the results of the suite; `None` if the workload is not a suite or ran only one member.
pub(crate) fn results(
    experiment: &Experiment,
    plan: &Plan,
    records: &[TrialRecord],
    confidence: f64,
) -> Option<SuiteResults> {
    let suite = plan.workload.suite.as_ref()?;
    let groups = groups(plan, suite);
    if groups.iter().all(|(_, treatments)| treatments.len() < 2) {
        return None;
    }
    let scores: Vec<SuiteScore> = groups
        .into_iter()
        .map(|(levels, treatments)| score(suite, levels, &treatments, records, confidence))
        .collect();
    let comparisons =
        (1..scores.len()).map(|i| comparison(experiment, plan, &scores, i, confidence)).collect();
    Some(SuiteResults {
        member: suite.member.clone(),
        metric: suite.metric.clone(),
        scores,
        comparisons,
    })
}

/// Computes the growth of the geometric mean with the factor that the experiment names. The other
/// factors are at the baseline's levels.
pub(crate) fn scaling(
    experiment: &Experiment,
    suite: &SuiteResults,
    confidence: f64,
) -> Option<Scaling> {
    let factor = experiment.compare.scaling.as_ref()?;
    let first = suite.scores.first()?;
    let sizes: Vec<Size> = suite
        .scores
        .iter()
        .filter(|s| s.levels.iter().all(|(k, v)| k == factor || first.levels.get(k) == Some(v)))
        .filter_map(|s| {
            let count = s.levels.get(factor)?.as_f64()?;
            Some(Size { count, values: s.blocks.clone() })
        })
        .collect();
    let metric = (suite.metric.as_str(), "1"); // ratio to a reference
    Some(assay_stats::curves::scaling::scaling(factor, metric, Better::Higher, &sizes, confidence))
}

type TreatmentGroup<'a> = (BTreeMap<String, Scalar>, Vec<&'a Treatment>);

/// Groups the treatments by the levels of all factors except the member. The baseline's group comes
/// first.
fn groups<'a>(plan: &'a Plan, suite: &SuiteSpec) -> Vec<TreatmentGroup<'a>> {
    let others = |t: &Treatment| {
        let mut levels = t.levels.clone();
        levels.remove(&suite.member);
        levels
    };
    let mut found: Vec<TreatmentGroup<'_>> = Vec::new();
    let baseline = plan.treatment(plan.baseline);
    for treatment in baseline.into_iter().chain(&plan.treatments) {
        let levels = others(treatment);
        let at = found.iter().position(|(l, _)| *l == levels).unwrap_or_else(|| {
            found.push((levels, Vec::new()));
            found.len() - 1
        });
        if !found[at].1.iter().any(|t| t.id == treatment.id) {
            found[at].1.push(treatment);
        }
    }
    for (_, treatments) in &mut found {
        treatments.sort_by_key(|t| t.id);
    }
    found
}

fn score(
    suite: &SuiteSpec,
    levels: BTreeMap<String, Scalar>,
    treatments: &[&Treatment],
    records: &[TrialRecord],
    confidence: f64,
) -> SuiteScore {
    let members: Vec<SuiteMember> = treatments.iter().map(|t| member(suite, t, records)).collect();
    let all =
        |f: fn(&SuiteMember) -> Option<f64>| members.iter().map(f).collect::<Option<Vec<f64>>>();
    let blocks = by_block(suite, treatments, records);
    let present: Vec<f64> = blocks.iter().copied().flatten().collect();
    let label = Treatment {
        id: 0,
        levels: levels.clone(),
        names: treatments.first().map(|t| t.names.clone()).unwrap_or_default(),
        params: BTreeMap::new(),
        controls: vec![],
    };
    let geomean = all(|m| m.ratio).and_then(|r| means::geometric(&r));
    SuiteScore {
        label: label.label(),
        levels,
        geomean,
        total_s: all(|m| m.time_s).map(|t| t.iter().sum()),
        interval: summarize(&present, confidence).interval.map(|i| holding(i, geomean)),
        blocks,
        members,
    }
}

/// Widens an interval so that it contains its score. The score is made of medians and the interval
/// of block means: with few blocks that differ much, the score may lie outside the interval.
fn holding(interval: Interval, score: Option<f64>) -> Interval {
    let score = score.unwrap_or(interval.low);
    Interval { low: interval.low.min(score), high: interval.high.max(score), ..interval }
}

fn member(suite: &SuiteSpec, treatment: &Treatment, records: &[TrialRecord]) -> SuiteMember {
    let present = |metric: &str| -> Vec<f64> {
        values(records, treatment.id, metric).into_iter().flatten().collect()
    };
    let wrong = records
        .iter()
        .any(|r| r.treatment == treatment.id && !r.warmup && r.outcome == TrialOutcome::Invalid);
    let ratios = present(&suite.metric);
    let name = treatment.params.get(&suite.member).map(Scalar::to_text).unwrap_or_default();
    SuiteMember {
        name,
        treatment: treatment.id,
        n: ratios.len() as u32,
        ratio: counting(&ratios, Better::Higher).filter(|_| !wrong),
        time_s: counting(&present(&suite.time), Better::Lower).filter(|_| !wrong),
        wrong,
    }
}

/// Returns the value that counts: the worse of two trials, else the median. For an even number of
/// trials it is the worse of the two in the middle, so that it is always a measured value.
fn counting(values: &[f64], better: Better) -> Option<f64> {
    let mut sorted = values.to_vec();
    // Sort from the best to the worst.
    sorted.sort_by(|a, b| if better == Better::Higher { b.total_cmp(a) } else { a.total_cmp(b) });
    sorted.get(sorted.len() / 2).copied()
}

/// Returns the geometric mean over the members for each block; `None` if a member has no trial that
/// counts in the block.
fn by_block(
    suite: &SuiteSpec,
    treatments: &[&Treatment],
    records: &[TrialRecord],
) -> Vec<Option<f64>> {
    let Some(last) = records.iter().map(|r| r.block).max() else { return Vec::new() };
    let of = |block: u32, id: u32| {
        records
            .iter()
            .find(|r| r.block == block && r.treatment == id && r.counts())
            .and_then(|r| r.metric(&suite.metric))
    };
    (0..=last)
        .map(|block| {
            let ratios: Option<Vec<f64>> = treatments.iter().map(|t| of(block, t.id)).collect();
            means::geometric(&ratios?)
        })
        .collect()
}

fn comparison(
    experiment: &Experiment,
    plan: &Plan,
    scores: &[SuiteScore],
    index: usize,
    confidence: f64,
) -> SuiteComparison {
    let (base, other) = (&scores[0], &scores[index]);
    let paired: Vec<(Option<f64>, Option<f64>)> =
        base.blocks.iter().copied().zip(other.blocks.iter().copied()).collect();
    let first = |s: &SuiteScore| s.members.first().map(|m| m.treatment);
    let separate = first(base).zip(first(other)).is_some_and(|(b, o)| apart(plan, b, o));
    let metric = plan.workload.suite.as_ref().map_or("", |s| s.metric.as_str());
    let geomean = compare(&CompareInput {
        metric,
        unit: "1",
        better: Better::Higher,
        baseline: 0,
        treatment: index as u32,
        samples: if separate {
            Samples::Independent { baseline: &base.blocks, treatment: &other.blocks }
        } else {
            Samples::Paired(&paired)
        },
        confidence,
        margin: margin(experiment, metric),
        gate: experiment.compare.gate,
    });
    let of = |f: fn(&SuiteMember) -> Option<f64>| -> Option<Vec<MeanInput>> {
        base.members
            .iter()
            .map(|b| {
                let o = other.members.iter().find(|o| o.name == b.name)?;
                Some(MeanInput {
                    name: b.name.clone(),
                    baseline: f(b)?,
                    treatment: f(o)?,
                    weight: 1.0,
                })
            })
            .collect()
    };
    let ratios = of(|m| m.ratio).and_then(|m| means::suite(&m, Quantity::Amount));
    let totals = of(|m| m.time_s)
        .and_then(|m| means::ratio_of_totals(&m, Quantity::Amount))
        .map(|slower| 1.0 / slower);
    let geo = ratios.as_ref().map(|r| r.geomean);
    SuiteComparison {
        score: index,
        geomean,
        totals,
        best: ratios.as_ref().map(|r| (r.highest.name.clone(), r.highest.ratio)),
        worst: ratios.as_ref().map(|r| (r.lowest.name.clone(), r.lowest.ratio)),
        means_disagree: geo.zip(totals).is_some_and(|(g, t)| (g - 1.0) * (t - 1.0) < 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_holds_its_score() {
        let interval = Interval { low: 0.7, high: 0.8, level: 0.95 };
        assert_eq!(holding(interval, Some(0.69)), Interval { low: 0.69, ..interval });
        assert_eq!(holding(interval, Some(0.75)), interval);
        assert_eq!(holding(interval, None), interval);
    }

    #[test]
    fn three_give_the_median_two_the_slower() {
        assert_eq!(counting(&[3.0, 1.0, 2.0], Better::Lower), Some(2.0));
        assert_eq!(counting(&[3.0, 1.0], Better::Lower), Some(3.0));
        assert_eq!(counting(&[3.0, 1.0], Better::Higher), Some(1.0));
        assert_eq!(counting(&[5.0], Better::Higher), Some(5.0));
        assert_eq!(counting(&[], Better::Higher), None);
    }
}

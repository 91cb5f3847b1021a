//! F29: intervals are computed over independent trials.

use assay_stats::comparison::variance::by_level;

use crate::prelude::*;

pub const UNIT_OF_REPLICATION: CheckRow = CheckRow {
    id: "F29",
    name: "unit-of-replication",
    section: CheckSection::Statistics,
    severity: INVALID,
    escalation: "",
    needs: "the unit of replication of the interval, and the samples inside trials",
    fires: "it was computed over samples while trials differ by more than samples explain, from \
        one trial, or over repetitions that share a process",
    why: "a thousand samples of one trial are one trial: the interval is too narrow by far",
    remedy: "compute the interval over trial means, and run more trials",
    source: "Kalibera and Jones 2013, 2020; simulated",
    evidence: "the run: intervals are computed over trials; the importer of Google Benchmark \
        records which repetitions share a process",
};

pub const CHECK: Check = Check::new(&UNIT_OF_REPLICATION, evaluate).always_checked(
    "intervals are computed over trials; importers record which trials share a process",
);

/// Share of the variance between trials above which samples must not count as n.
const MAX_BETWEEN_SHARE: f64 = 0.05;

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = shared_processes(e);
    if !found.is_empty() {
        return Ok(found);
    }
    let comparisons = e.comparisons.need("the unit of replication of the intervals")?;
    let mut over_samples = false;
    let mut shown = false;
    for c in comparisons.iter().filter(|c| c.interval.is_some()) {
        let unit = need(
            c.unit.as_ref(),
            format!("the unit of replication of the interval of {}", c.label),
        )?;
        over_samples |= *unit == Unit::Samples;
        shown = true;
    }
    for treatment in e.treatments.iter().filter(|_| shown) {
        let label = &treatment.label;
        let text = if treatment.n == Some(1) {
            format!("{label} is one trial; its samples carry no interval")
        } else if over_samples {
            let (trials, samples, share) = variance_between(treatment)?;
            if share <= MAX_BETWEEN_SHARE {
                continue;
            }
            format!("{samples} samples of {label} are {trials} trials: the interval is too narrow")
        } else {
            continue;
        };
        found.push(about(finding(text), &[treatment], &e.treatments));
    }
    Ok(found)
}

/// Finds treatments whose trials share processes while an interval is computed from them.
fn shared_processes(e: &Evidence) -> Vec<FiredCheck> {
    let numbers = e.numbers.get().into_iter().flatten().any(|n| n.interval.is_some());
    let comparisons = e.comparisons.get().into_iter().flatten().any(|c| c.interval.is_some());
    let treatments = e.treatments.iter().filter(|_| numbers || comparisons);
    let shared =
        treatments.filter_map(|treatment| Some((treatment, treatment.n?, treatment.processes?)));
    shared
        .filter(|(_, n, processes)| processes < n)
        .map(|(treatment, n, processes)| {
            let of = if processes == 1 { "process" } else { "processes" };
            let text = format!(
                "the {n} repetitions of {} ran in {processes} {of} and are not independent: the \
                 interval is too narrow",
                treatment.label
            );
            about(finding(text), &[treatment], &e.treatments)
        })
        .collect()
}

/// Returns the number of trials, of samples, and the share of the variance that lies between
/// trials. Series of different lengths are cut to the shortest, since variance components need a
/// balanced design.
fn variance_between(treatment: &TreatmentEvidence) -> Result<(usize, usize, f64), Unevaluated> {
    let series = treatment.need(treatment.samples.as_ref(), "the samples inside the trials")?;
    let shortest = series.iter().map(Vec::len).min().unwrap_or(0);
    let values: Vec<f64> = series.iter().flat_map(|s| &s[..shortest]).copied().collect();
    let Ok(t2) = by_level(&values, &[shortest, series.len()]) else {
        let label = &treatment.label;
        return missing(format!("at least two samples in each of two trials of {label}"));
    };
    let (within, between) = (t2[0].max(0.0), t2[1].max(0.0));
    let share = if within + between > 0.0 { between / (within + between) } else { 0.0 };
    Ok((series.len(), series.iter().map(Vec::len).sum(), share))
}

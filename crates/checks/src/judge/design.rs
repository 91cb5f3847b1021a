//! F28 to F31: enough independent trials, in interleaved order.

use assay_model::{FiredCheck, Method, Order};
use assay_stats::comparison::variance::by_level;

use super::trend::trend_p;
use crate::check::{Evaluation, about, grave, missing, need, not_applicable, plain};
use crate::{Evidence, Schedule, Statistic, TreatmentEvidence, Unit};

/// Share of the variance between trials above which samples must not count as n.
const BETWEEN: f64 = 0.05;
/// p-value below which a trend counts as real.
const TREND_P: f64 = 0.01;

pub(crate) fn enough_runs(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut trials = Vec::new();
    for treatment in treatments {
        let n =
            *need(treatment.n.as_ref(), format!("the number of trials of {}", treatment.label))?;
        trials.push((treatment, n));
    }
    let minimum = trials.iter().map(|(_, n)| *n).filter(|n| *n > 0).min().unwrap_or(0);
    let mut found = Vec::new();
    let mut reported: Vec<&str> = Vec::new();
    for c in e.comparisons.get().into_iter().flatten() {
        let needed = match c.method {
            Some(Method::SignedRank) => 6,
            Some(Method::RankSum) => 4,
            Some(_) => 3,
            None => continue,
        };
        if c.interval.is_some() && c.n.is_some_and(|n| n < needed) {
            let n = c.n.unwrap_or(0);
            let text = format!(
                "{}: {n} trials cannot carry a 95 % interval of this kind; {needed} can",
                c.label
            );
            let treatment: Vec<&TreatmentEvidence> =
                treatments.iter().filter(|a| a.label == c.label).collect();
            found.push(about(grave(text), &treatment, treatments));
            reported.push(&c.label);
        }
    }
    let median = treatments.iter().any(|a| a.statistic == Some(Statistic::Median));
    let shown = e.numbers.get().into_iter().flatten().any(|n| n.interval.is_some());
    if median && minimum < 6 && shown {
        found.push(grave(format!("{minimum} trials cannot carry the interval of a median; 6 can")));
    }
    let compared = treatments.len() > 1 && e.comparisons.get().is_none_or(|c| !c.is_empty());
    // A treatment without any counting trial has failed, which the check of exclusions reports.
    let short: Vec<_> = trials.iter().filter(|(_, n)| (1..3).contains(n)).collect();
    if compared && short.len() < treatments.len() {
        for (treatment, n) in
            short.into_iter().filter(|(a, _)| !reported.contains(&a.label.as_str()))
        {
            let trials = if *n == 1 { "trial that counts" } else { "trials that count" };
            let text =
                format!("{} has only {n} {trials}; that carries no interval", treatment.label);
            found.push(about(grave(text), &[treatment], treatments));
        }
    }
    if minimum < 6 && found.is_empty() {
        let carries = match minimum {
            0..3 => "no interval",
            _ => "an interval by Student's t alone, without its sensitivity check by ranks",
        };
        let text =
            format!("a treatment has only {minimum} trials that count; that carries {carries}");
        found.push(if minimum < 3 && compared { grave(text) } else { plain(text) });
    }
    Ok(found)
}

pub(crate) fn replication(e: &Evidence) -> Evaluation {
    let mut found = shared_processes(e);
    if !found.is_empty() {
        return Ok(found);
    }
    let comparisons = e.comparisons.need("what the intervals were computed over")?;
    let mut over_samples = false;
    let mut shown = false;
    for c in comparisons.iter().filter(|c| c.interval.is_some()) {
        let unit = need(c.unit.as_ref(), format!("what the interval of {} is over", c.label))?;
        over_samples |= *unit == Unit::Samples;
        shown = true;
    }
    for treatment in e.treatments.iter().filter(|_| shown) {
        let text = if treatment.n == Some(1) {
            format!("{} is one trial; its samples carry no interval", treatment.label)
        } else if over_samples {
            let (trials, samples, share) = between(treatment)?;
            if share <= BETWEEN {
                continue;
            }
            format!(
                "{samples} samples of {} are {trials} independent trials; the interval is too narrow",
                treatment.label
            )
        } else {
            continue;
        };
        found.push(about(plain(text), &[treatment], &e.treatments));
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
            about(plain(text), &[treatment], &e.treatments)
        })
        .collect()
}

/// Returns the number of trials, of samples, and the share of the variance that lies between
/// trials. Series of different lengths are cut to the shortest, since variance components need a
/// balanced design.
fn between(treatment: &TreatmentEvidence) -> Result<(usize, usize, f64), crate::check::Stop> {
    let series = need(
        treatment.samples.as_ref(),
        format!("the samples inside {}'s trials", treatment.label),
    )?;
    let shortest = series.iter().map(Vec::len).min().unwrap_or(0);
    let values: Vec<f64> = series.iter().flat_map(|s| &s[..shortest]).copied().collect();
    let Ok(t2) = by_level(&values, &[shortest, series.len()]) else {
        return missing(format!(
            "at least two samples in each of two trials of {}",
            treatment.label
        ));
    };
    let (within, between) = (t2[0].max(0.0), t2[1].max(0.0));
    let share = if within + between > 0.0 { between / (within + between) } else { 0.0 };
    Ok((series.len(), series.iter().map(Vec::len).sum(), share))
}

pub(crate) fn interleaved(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let schedule = need(e.schedule.as_ref(), "when the trials ran")?;
    if schedule.order == Some(Order::Unknown) {
        return Ok(vec![plain(
            "the trials were imported and their order is unknown, so treatments are compared as independent samples and drift between them cannot be separated from the difference",
        )]);
    }
    let spans = spans(schedule, treatments.len());
    if let Some(i) = spans.iter().position(Option::is_none) {
        return missing(format!("when the trials of {} ran", treatments[i].label));
    }
    if let Some((i, j)) = first_apart(&spans) {
        return Ok(vec![apart(
            schedule,
            &treatments[i].label,
            &treatments[j].label,
            treatments.len(),
        )]);
    }
    if schedule.order == Some(Order::Sequential) {
        return Ok(vec![plain(
            "the order is the same in every block, so drift within a block falls on the treatments unequally",
        )]);
    }
    if schedule.trials.is_empty() {
        return not_applicable("no trial ran");
    }
    Ok(Vec::new())
}

/// Returns the time span and number of trials of each treatment, in one pass. `None`: no trial ran.
fn spans(schedule: &Schedule, treatments: usize) -> Vec<Option<Span>> {
    let mut spans: Vec<Option<Span>> = vec![None; treatments];
    for trial in &schedule.trials {
        let Some(span) = spans.get_mut(trial.treatment) else { continue };
        let (from, to, n) = span.unwrap_or((trial.start_s, trial.end_s, 0));
        *span = Some((from.min(trial.start_s), to.max(trial.end_s), n + 1));
    }
    spans
}

/// Start and end in seconds, and the number of trials.
type Span = (f64, f64, u32);

/// Finds two treatments of which one ended before the other began. Two single trials never overlap
/// and are skipped; the check of enough runs reports those.
fn first_apart(spans: &[Option<Span>]) -> Option<(usize, usize)> {
    let known: Vec<(usize, Span)> =
        spans.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))).collect();
    let with = |several: bool| known.iter().filter(move |(_, s)| !several || s.2 > 1);
    // Some pair is apart if and only if the earliest end and the latest begin are, and one of the
    // two has several trials.
    let pairs = [(true, false), (false, true)];
    pairs.into_iter().find_map(|(first, second)| {
        let ends = with(first).min_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
        let begins = with(second).max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let apart = ends.0 != begins.0 && ends.1.1 <= begins.1.0;
        apart.then(|| (ends.0.min(begins.0), ends.0.max(begins.0)))
    })
}

fn apart(schedule: &Schedule, a: &str, b: &str, treatments: usize) -> FiredCheck {
    let text = format!(
        "{a} and {b} were made one after the other, so drift between them cannot be separated from the difference"
    );
    match trend_p(schedule, treatments) {
        Some(p) if p < TREND_P => {
            grave(format!("{text}; the trials show a trend (p = {})", words(p)))
        }
        _ => plain(text),
    }
}

fn words(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".to_owned() } else { format!("{p:.4}") }
}

//! F22 to F26: load generator, coordinated omission, percentiles, steady state and warm-up.

use assay_stats::percentile::{TAIL_SAMPLES, supports};

use assay_model::SeriesShape;

use super::environment::shortened;
use crate::check::{Evaluation, at, found_or_missing, grave, missing, need, not_applicable, plain};
use crate::rows::{N, W};
use crate::{
    Evidence, Generator, Loop, Merge, PercentileEvidence, RecordedValue, TreatmentEvidence,
    WarmupRule,
};

/// Use of its CPUs or network above which a generator may be the limit.
const GENERATOR: f64 = 0.80;
/// Share of trials without a steady state that is tolerated.
const UNSETTLED: f64 = 0.10;

pub(crate) fn generator(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    let mut absent = None;
    let mut configs: Vec<&str> = Vec::new();
    for treatment in treatments {
        let g = match &treatment.generator {
            RecordedValue::Absent(why) => {
                absent = Some(why.clone());
                continue;
            }
            other => other.need(&format!("the load generator of {}", treatment.label))?,
        };
        let shares = [("CPUs", g.cpu_share), ("network", g.network_share)];
        for (what, share) in shares {
            match share {
                Some(s) if s > GENERATOR => {
                    let label = &treatment.label;
                    let percent = s * 100.0;
                    found.push(plain(format!(
                        "the load generator used {percent:.0} % of its {what} and may limit {label}"
                    )));
                }
                Some(_) => {}
                None => lacking
                    .push(format!("the generator's use of its {what} in {}", treatment.label)),
            }
        }
        shared(treatment, g, &mut found, &mut lacking);
        match &g.config {
            Some(config) => configs.push(config),
            None => lacking.push(format!("the generator's configuration in {}", treatment.label)),
        }
    }
    if configs.windows(2).any(|c| c[0] != c[1]) && !e.declares("generator") {
        found.push(plain("the load generator was configured differently for the treatments"));
    }
    match absent {
        Some(why) if treatments.iter().all(|a| a.generator.get().is_none()) => not_applicable(why),
        _ => found_or_missing(found, &lacking),
    }
}

fn shared(
    treatment: &TreatmentEvidence,
    g: &Generator,
    found: &mut Vec<assay_model::FiredCheck>,
    lacking: &mut Vec<String>,
) {
    match (g.same_host, g.pinned_apart) {
        // The generator's own CPU use shows if sharing made it the limit.
        (Some(true), Some(false)) => found.push(at(
            N,
            format!(
                "the load generator of {} shares its CPUs and is not pinned apart",
                treatment.label
            ),
        )),
        (Some(true), None) | (None, _) => {
            lacking.push(format!("where the load generator of {} ran", treatment.label));
        }
        _ => {}
    }
}

pub(crate) fn omission(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let (mut lacking, mut uncharged) = (Vec::new(), Vec::new());
    for p in e.percentiles.need("how the percentiles were measured")? {
        let name = name(p);
        let hidden = p.hidden.map_or(String::new(), |n| format!("; waiting hid {n} requests"));
        match (p.load, p.as_arrivals, p.slips_charged) {
            (Some(Loop::Closed), Some(true), _) => found.push(plain(format!(
                "{name} is of a closed loop and is stated as what arrivals see{hidden}"
            ))),
            (Some(Loop::Open), _, Some(false)) => uncharged.push(format!("{name}{hidden}")),
            (Some(Loop::Closed), Some(false), _) | (Some(Loop::Open), _, Some(true)) => {}
            _ => lacking.push(name),
        }
    }
    if !uncharged.is_empty() {
        found.push(plain(format!(
            "the time that requests waited to be sent is not counted in {}",
            each(uncharged)
        )));
    }
    let lacking = lack("how the requests were sent behind", lacking);
    found_or_missing(found, &lacking)
}

/// Joins the names without repetitions, shortened.
fn each(mut names: Vec<String>) -> String {
    names.dedup();
    shortened(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns one line on evidence that these percentiles lack; empty for an empty list.
fn lack(what: &str, names: Vec<String>) -> Vec<String> {
    if names.is_empty() { Vec::new() } else { vec![format!("{what} {}", each(names))] }
}

/// Returns the name of a percentile: its metric, else `p99`, `p99.9`.
fn name(p: &PercentileEvidence) -> String {
    if !p.metric.is_empty() {
        return p.metric.clone();
    }
    let percent = format!("{:.6}", p.quantile * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

pub(crate) fn percentile_support(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let (mut uncounted, mut unmerged) = (Vec::new(), Vec::new());
    let (mut averaged, mut of_programs) = (Vec::new(), Vec::new());
    for p in e.percentiles.need("the samples behind the percentiles")? {
        let name = name(p);
        match p.n_eff {
            Some(n) if !supports(n, p.quantile) => found.push(plain(format!(
                "{name} rests on {:.1} samples beyond it; {TAIL_SAMPLES:.0} are needed",
                (n * (1.0 - p.quantile)).max(0.0)
            ))),
            Some(_) => {}
            None => uncounted.push(name.clone()),
        }
        match p.merge {
            Some(Merge::Averaged) if p.metric.is_empty() => averaged.push(name),
            Some(Merge::Averaged) => of_programs.push(name),
            Some(_) => {}
            None => unmerged.push(name),
        }
    }
    let no_percentile = "a mean of the percentiles of trials is no percentile";
    if !averaged.is_empty() {
        found.push(plain(format!("{no_percentile}: {}", each(averaged))));
    }
    // A program's own percentiles leave no histograms to merge: each describes one trial only.
    if !of_programs.is_empty() {
        found.push(at(W, format!("{no_percentile}: {}", each(of_programs))));
    }
    let mut lacking = lack("the number of samples behind", uncounted);
    lacking.extend(lack("how several trials were put together in", unmerged));
    found_or_missing(found, &lacking)
}

pub(crate) fn settled(e: &Evidence) -> Evaluation {
    let mut shapes: Vec<SeriesShape> = Vec::new();
    for treatment in e.measured()? {
        shapes.extend(
            treatment.series.need(&format!("the samples inside {}'s trials", treatment.label))?,
        );
    }
    let long = |s: &&SeriesShape| **s != SeriesShape::TooShort;
    let classes: Vec<&SeriesShape> = shapes.iter().filter(long).collect();
    if classes.is_empty() {
        return missing(format!(
            "a series of at least {} stretches inside a trial (make `steady` longer)",
            assay_stats::curves::warmup::SHORTEST
        ));
    }
    let never = classes.iter().filter(|c| ***c == SeriesShape::NoSteadyState).count();
    let all = classes.len();
    let of_peak = e.claim.get().and_then(|c| c.of_peak) == Some(true);
    let text = format!("{never} of {all} trials never settled");
    Ok(match never {
        0 => Vec::new(),
        _ if of_peak => vec![grave(format!("{text}, and the claim is about peak performance"))],
        n if n as f64 > UNSETTLED * all as f64 => vec![plain(text)],
        _ => Vec::new(),
    })
}

pub(crate) fn warmup(e: &Evidence) -> Evaluation {
    let treatments = e.measured()?;
    let first =
        *need(treatments[0].warmup.as_ref(), format!("the warm-up of {}", treatments[0].label))?;
    let mut found = Vec::new();
    for treatment in treatments {
        let rule = *need(treatment.warmup.as_ref(), format!("the warm-up of {}", treatment.label))?;
        if rule != first {
            let text = format!(
                "{} and {} were warmed up by different rules",
                treatments[0].label, treatment.label
            );
            found.push(at(W, text));
        }
    }
    if let WarmupRule::Fixed(count) = first
        && found.is_empty()
    {
        found.push(plain(format!("a warm-up of {count} was assumed to suffice, not tested")));
    }
    Ok(found)
}

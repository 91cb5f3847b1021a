//! F24: enough samples lie beyond each percentile, and trials were merged.

use assay_stats::percentile::{TAIL_SAMPLES, supports};

use crate::prelude::*;

pub const PERCENTILE_SUPPORT: CheckRow = CheckRow {
    id: "F24",
    name: "percentile-support",
    section: CheckSection::Workload,
    severity: INVALID,
    escalation: "a warning for a mean of percentiles that programs computed, which cannot be \
                 merged",
    needs: "independent samples behind each percentile, and how trials were merged",
    fires: "fewer than 10 samples lie beyond it, or percentiles of trials were averaged",
    why: "a tail of three samples is luck, and the mean of two p99 is the p99 of nothing",
    remedy: "measure longer, state a lower percentile, merge histograms",
    source: "Tene; HdrHistogram documentation",
    evidence: "the merged histograms of the run; metrics that are percentiles (`p99`, \
        `latency.p99.9`) of trials without a histogram",
};

pub const CHECK: Check = Check::new(&PERCENTILE_SUPPORT, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let (mut uncounted, mut unmerged) = (Vec::new(), Vec::new());
    let (mut averaged, mut of_programs) = (Vec::new(), Vec::new());
    for p in e.percentiles.need("the samples behind the percentiles")? {
        let name = percentile_name(p);
        match p.n_eff {
            Some(n) if !supports(n, p.quantile) => found.push(finding(format!(
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
        found.push(finding(format!("{no_percentile}: {}", name_list(averaged))));
    }
    // A program's own percentiles leave no histograms to merge: each describes one trial only.
    if !of_programs.is_empty() {
        found.push(warning(format!("{no_percentile}: {}", name_list(of_programs))));
    }
    let mut lacking = lacking_for("the number of samples behind", uncounted);
    lacking.extend(lacking_for("the method of combining trials in", unmerged));
    found_or_missing(found, &lacking)
}

/// Joins the names without repetitions, shortened.
pub(super) fn name_list(mut names: Vec<String>) -> String {
    names.dedup();
    shortened_list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns one line on evidence that these percentiles lack; empty for an empty list.
pub(super) fn lacking_for(what: &str, names: Vec<String>) -> Vec<String> {
    if names.is_empty() { Vec::new() } else { vec![format!("{what} {}", name_list(names))] }
}

/// Returns the name of a percentile: its metric, else `p99`, `p99.9`.
pub(super) fn percentile_name(p: &PercentileEvidence) -> String {
    if !p.metric.is_empty() {
        return p.metric.clone();
    }
    let percent = format!("{:.6}", p.quantile * 100.0);
    format!("p{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

//! F46: both sides state the same metric.

use std::collections::BTreeSet;

use crate::prelude::*;

pub const SAME_METRIC: CheckRow = CheckRow {
    id: "F46",
    name: "same-metric",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "a note where a base result is compared with a peak result",
    needs: "metric, unit, benchmark, version and category (scenario, division, base, peak) of both",
    fires: "one of them differs, or the versions are not declared comparable",
    why: "numbers of two metrics have no ratio",
    remedy: "compare results of one metric in one version, or name the difference without a ratio",
    source: "MLPerf messaging guidelines; SPEC OSG fair use",
    evidence: "both sides in a post; runs in `assay compare`",
};

pub const CHECK: Check = Check::new(&SAME_METRIC, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let metrics = e.metrics.need("the metric of each side")?;
    let [first, others @ ..] = metrics.as_slice() else {
        return not_applicable("no metric is stated");
    };
    if others.is_empty() {
        return not_applicable("one result stands alone");
    }
    let mut found = Vec::new();
    let mut lacking = BTreeSet::new();
    for other in others {
        let same_benchmark = first.benchmark == other.benchmark;
        if same_benchmark && is_base_of(first.metric.as_deref(), other.metric.as_deref()) {
            let (a, b) = (metric_name(first), metric_name(other));
            found.push(note(format!("{a} is compared with {b}: base with peak")).remedy(""));
            continue;
        }
        if first.metric.is_none() || other.metric.is_none() {
            lacking.insert("the metric of both sides".to_owned());
        } else if first.benchmark.is_some() != other.benchmark.is_some() {
            lacking.insert("the benchmark of both sides".to_owned());
        } else if !same_benchmark || first.metric != other.metric {
            let (a, b) = (metric_name(first), metric_name(other));
            found.push(finding(format!("{a} and {b} are different metrics and have no ratio")));
        } else if first.unit != other.unit {
            let unit = |m: &MetricIdentity| m.unit.clone().unwrap_or_else(|| "no unit".to_owned());
            let (a, b) = (unit(first), unit(other));
            found.push(finding(format!(
                "{} is in {a} on one side and in {b} on the other",
                metric_name(first)
            )));
        }
        match (&first.version, &other.version) {
            (None, None) => {}
            (Some(a), Some(b)) => {
                if a != b && !first.compatible.contains(b) && !other.compatible.contains(a) {
                    let text = format!("versions {a} and {b} are not declared comparable");
                    found.push(finding(text));
                }
            }
            _ => {
                lacking.insert("the version of the benchmark on both sides".to_owned());
            }
        }
        let names: BTreeSet<&String> = first.category.keys().chain(other.category.keys()).collect();
        for name in names {
            let (a, b) = (first.category.get(name), other.category.get(name));
            if a != b {
                found.push(finding(format!("{name} differs: {}", versus(a, b, "not stated"))));
            }
        }
    }
    found_or_missing(found, &lacking.into_iter().collect::<Vec<_>>())
}

/// Formats a metric's name with its benchmark or workload.
fn metric_name(m: &MetricIdentity) -> String {
    let metric = m.metric.clone().unwrap_or_default();
    m.benchmark
        .as_ref()
        .map_or_else(|| format!("{metric} in {}", m.label), |b| format!("{metric} of {b}"))
}

/// True if `base` names the base metric of the peak metric `peak`. Base may replace peak, never the
/// reverse.
fn is_base_of(base: Option<&str>, peak: Option<&str>) -> bool {
    base.zip(peak).is_some_and(|(b, p)| b.contains("base") && b.replacen("_base", "", 1) == p)
}

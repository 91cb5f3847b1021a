//! F46 to F48: both sides state the same metric, kinds are not mixed, derived values are marked.

use std::collections::BTreeSet;

use assay_model::MetricKind;

use super::environment::shortened;
use crate::check::{Evaluation, at, found_or_missing, need, not_applicable, plain};
use crate::rows::{N, W};
use crate::{Evidence, MetricIdentity};

pub(crate) fn same_metric(e: &Evidence) -> Evaluation {
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
            let (a, b) = (words(first), words(other));
            found.push(at(N, format!("{a} stands against {b}: base against peak")).remedy(""));
            continue;
        }
        if first.metric.is_none() || other.metric.is_none() {
            lacking.insert("the metric of both sides".to_owned());
        } else if first.benchmark.is_some() != other.benchmark.is_some() {
            lacking.insert("the benchmark of both sides".to_owned());
        } else if !same_benchmark || first.metric != other.metric {
            let (a, b) = (words(first), words(other));
            found.push(plain(format!("{a} and {b} are different metrics and have no ratio")));
        } else if first.unit != other.unit {
            let unit = |m: &MetricIdentity| m.unit.clone().unwrap_or_else(|| "no unit".to_owned());
            let (a, b) = (unit(first), unit(other));
            found.push(plain(format!(
                "{} is in {a} on one side and in {b} on the other",
                words(first)
            )));
        }
        versions(first, other, &mut found, &mut lacking);
        let names: BTreeSet<&String> = first.category.keys().chain(other.category.keys()).collect();
        for name in names {
            let (a, b) = (first.category.get(name), other.category.get(name));
            if a != b {
                let word = |v: Option<&String>| v.map_or("not stated".to_owned(), Clone::clone);
                found.push(plain(format!("{name} differs: {} vs {}", word(a), word(b))));
            }
        }
    }
    found_or_missing(found, &lacking.into_iter().collect::<Vec<_>>())
}

/// Formats a metric's name with its benchmark or workload.
fn words(m: &MetricIdentity) -> String {
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

fn versions(
    a: &MetricIdentity,
    b: &MetricIdentity,
    found: &mut Vec<assay_model::FiredCheck>,
    lacking: &mut BTreeSet<String>,
) {
    let (va, vb) = match (&a.version, &b.version) {
        (Some(va), Some(vb)) => (va, vb),
        (None, None) => return,
        _ => {
            lacking.insert("the version of the benchmark on both sides".to_owned());
            return;
        }
    };
    if va != vb && !a.compatible.contains(vb) && !b.compatible.contains(va) {
        found.push(plain(format!("versions {va} and {vb} are not declared comparable")));
    }
}

pub(crate) fn kinds(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the kind of each number")?;
    let mut lacking = Vec::new();
    for n in numbers {
        if n.kind.is_none() {
            lacking.push(format!("the kind of {}", n.what));
        }
    }
    let measured = numbers.iter().any(|n| n.kind == Some(MetricKind::Measured));
    let unlabelled: Vec<String> = numbers
        .iter()
        .filter(|n| !n.labelled && measured)
        .filter_map(|n| match n.kind {
            Some(MetricKind::Estimated) => Some(format!("{} is an estimate", n.what)),
            Some(MetricKind::Quoted) => Some(format!("{} is quoted", n.what)),
            _ => None,
        })
        .collect();
    if unlabelled.is_empty() {
        let of = |kind| numbers.iter().find(|n| n.kind == Some(kind));
        if let (Some(own), Some(other)) = (of(MetricKind::Measured), of(MetricKind::Quoted)) {
            let text = format!(
                "{} was measured here, {} is quoted; nothing shows that both measure the same",
                own.what, other.what
            );
            let remedy = "take their order or ratio as orientation only";
            return Ok(vec![at(W, text).remedy(remedy)]);
        }
        return found_or_missing(Vec::new(), &lacking);
    }
    let names: Vec<&str> = unlabelled.iter().map(String::as_str).collect();
    Ok(vec![plain(format!("{}, without a label, next to measured numbers", shortened(&names)))])
}

pub(crate) fn derived(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("how derived numbers are presented")?;
    let mut found = Vec::new();
    for n in
        numbers.iter().filter(|n| n.kind == Some(MetricKind::Derived) || n.derivation.is_some())
    {
        let d = need(n.derivation.as_ref(), format!("how {} is presented", n.what))?;
        if !d.marked {
            found.push(plain(format!("{} is derived and not marked", n.what)));
        }
        if d.shown_as_official {
            found.push(plain(format!("{} is derived and shown as an official metric", n.what)));
        }
        if !d.base_nearby {
            found.push(plain(format!("{} stands without its base metric", n.what)));
        }
    }
    Ok(found)
}

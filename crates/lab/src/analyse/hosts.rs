//! The hosts of a run, each with its metric relative to the others'.

use std::collections::{BTreeMap, BTreeSet};

use assay_model::{Plan, Scalar, TrialRecord};
use assay_stats::comparison::aa::holm;
use assay_stats::outlier::among_others;
use assay_stats::summary::mean;
use serde::Serialize;

use crate::experiment::place::HOST;

/// Significance level at which a host is called out of line, corrected for their number (Holm).
const LEVEL: f64 = 0.05;

/// A host of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostResult {
    pub host: String,
    /// Number of trials that count.
    pub trials: usize,
    /// Number of trials that do not count, without warm-ups.
    pub failed: usize,
    /// Deciding metric relative to the geometric mean of the other hosts; `null` if it or they have
    /// no positive value of a treatment.
    pub ratio: Option<f64>,
    /// Range of the ratio in which one more host like the others is with probability 0.95; `null`
    /// below four hosts.
    pub expected: Option<[f64; 2]>,
    /// True if the host differs from the others by more than they differ among each other; `null`
    /// below four hosts.
    pub out_of_line: Option<bool>,
}

/// Returns the hosts of a run in the order of their names; none if its hosts are neither a factor
/// nor replicates.
pub fn hosts(plan: &Plan, records: &[TrialRecord]) -> Vec<HostResult> {
    // Treatments that differ in nothing but the host do the same work.
    let mut values: BTreeMap<Vec<String>, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    let (mut counts, mut failed) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
    let mut all = BTreeSet::new();
    for record in records.iter().filter(|r| !r.warmup) {
        let Some(treatment) = plan.treatment(record.treatment) else { continue };
        let mut levels = treatment.levels.clone();
        let level = levels.remove(HOST).filter(|_| record.host.is_none());
        let Some(host) = record.host.clone().or(level.as_ref().map(Scalar::to_text)) else {
            continue;
        };
        let work = levels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>();
        all.insert(host.clone());
        if record.counts() {
            *counts.entry(host.clone()).or_default() += 1;
            let value = record.metric(&plan.metric).filter(|v| *v > 0.0);
            let of = values.entry(work).or_default().entry(host).or_default();
            of.extend(value.map(f64::ln));
        } else {
            *failed.entry(host).or_insert(0) += 1;
        }
    }
    // A host's value is its mean over the treatments that every host completed.
    let complete = |of: &&BTreeMap<String, Vec<f64>>| {
        all.iter().all(|host| of.get(host).is_some_and(|v| !v.is_empty()))
    };
    let shared: Vec<_> = values.values().filter(complete).collect();
    let effect = |host: &String| {
        let means: Option<Vec<f64>> = shared.iter().map(|of| mean(of.get(host)?)).collect();
        mean(&means?)
    };
    let effects: Option<Vec<f64>> = all.iter().map(effect).collect();
    let compared = effects.as_deref().and_then(among_others);
    let p: Option<Vec<f64>> = compared.as_ref().map(|c| c.iter().map(|a| a.p).collect());
    let adjusted = p.and_then(|p| holm(&p));
    let result = |(i, host): (usize, &String)| {
        let others = |effects: &Vec<f64>| mean(&[&effects[..i], &effects[i + 1..]].concat());
        let ratio = effects.as_ref().and_then(|e| Some((e[i] - others(e)?).exp()));
        HostResult {
            host: host.clone(),
            trials: counts.get(host).copied().unwrap_or(0),
            failed: failed.get(host).copied().unwrap_or(0),
            ratio,
            expected: compared.as_ref().map(|c| [(-c[i].expected).exp(), c[i].expected.exp()]),
            out_of_line: adjusted.as_ref().map(|p| p[i] <= LEVEL),
        }
    };
    all.iter().enumerate().map(result).collect()
}

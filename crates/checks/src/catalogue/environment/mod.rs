//! Checks F01 to F15 and F62: equal machines, programs, resources and settings.

pub(crate) mod binary_identity;
pub(crate) mod built_for_host;
pub(crate) mod clock_and_heat;
pub(crate) mod confounder;
pub(crate) mod cpu_resources;
pub(crate) mod env_captured;
pub(crate) mod environment_stable;
pub(crate) mod factor_declared;
pub(crate) mod flags_disclosed_equal;
pub(crate) mod layout_sampled;
pub(crate) mod memory_nodes;
pub(crate) mod os_tunables;
pub(crate) mod page_size;
pub(crate) mod quiet_host;
pub(crate) mod timer_and_length;

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;

/// Returns true if all treatments ran the same program, `None` if that is not recorded.
pub(super) fn one_program(treatments: &[TreatmentEvidence]) -> Option<bool> {
    let hashes: Option<Vec<_>> =
        treatments.iter().map(|a| a.binary.as_ref().map(|b| &b.hashes)).collect();
    hashes.map(|h| h.windows(2).all(|w| w[0] == w[1] && !w[0].is_empty()))
}

/// Difference above which a comparison is invalid, for huge-page coverage and for the share of
/// CPU-quota periods in which the program was throttled.
const MAX_SHARE_DIFFERENCE: f64 = 0.10;

/// Returns the smallest and the largest of the treatments' shares if they differ too much to
/// compare.
pub(super) fn far_apart<'a>(shares: &[(f64, &'a str)]) -> Option<[(f64, &'a str); 2]> {
    let low = shares.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let high = shares.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
    (high.0 - low.0 > MAX_SHARE_DIFFERENCE).then_some([low, high])
}

/// Returns the undeclared differences between the treatments' records. Stops at a treatment without
/// a record.
pub(super) fn undeclared_differences<'a, M: Borrow<BTreeMap<String, String>>>(
    e: &Evidence,
    of: impl Fn(&'a TreatmentEvidence) -> Option<M>,
    treatments: &'a [TreatmentEvidence],
    what: &str,
) -> Result<Vec<(String, String)>, Unevaluated> {
    let record = |treatment: &'a TreatmentEvidence| {
        need(of(treatment), format!("{what} of {}", treatment.label))
    };
    let first = record(&treatments[0])?;
    let first = first.borrow();
    let mut found = Vec::new();
    for treatment in &treatments[1..] {
        let other = record(treatment)?;
        let other = other.borrow();
        // Treatments may share one record.
        if std::ptr::eq(first, other) {
            continue;
        }
        let keys: BTreeSet<&String> = first.keys().chain(other.keys()).collect();
        for key in keys {
            let (a, b) = (first.get(key), other.get(key));
            if a != b && !e.declares(key) {
                found.push((key.clone(), format!("{key}: {}", versus(a, b, "not set"))));
            }
        }
    }
    Ok(found)
}

//! What a result must disclose, the system it is of, estimates, and its publication.

use super::CpuSuiteResult;
use crate::pack::fair_use;
use crate::pack::judged::{Judged, PackCheck, Parameters, Takes, fail, pass, unknown, verdict};

pub(super) const CHECKS: &[PackCheck<CpuSuiteResult>] = &[
    PackCheck { name: "disclosed", parameters: &[("fields", Takes::Words)], evaluate: disclosed },
    PackCheck { name: "one-system", parameters: &[], evaluate: one_system },
    PackCheck { name: "estimates", parameters: &[], evaluate: estimates },
    PackCheck { name: "publication", parameters: &[], evaluate: publication },
];

fn disclosed(r: &CpuSuiteResult, p: &Parameters<'_>) -> Judged {
    let filled = |name: &str| r.disclosure.get(name).is_some_and(|v| !v.trim().is_empty());
    let absent: Vec<&str> = p.words("fields").into_iter().filter(|f| !filled(f)).collect();
    if r.disclosure.is_empty() {
        return unknown("the disclosure");
    }
    if absent.is_empty() {
        return pass(format!("{} fields are disclosed", r.disclosure.len()));
    }
    fail(format!("not disclosed: {}", absent.join(", ")))
}

fn one_system(r: &CpuSuiteResult, _: &Parameters<'_>) -> Judged {
    let (Some(measured), Some(reported), Some(available)) =
        (&r.system_measured, &r.system_reported, r.parts_available)
    else {
        return unknown("the measured and the reported system and whether its parts can be had");
    };
    let mut wrong = Vec::new();
    if measured != reported {
        wrong.push(format!("measured was {measured}, reported is {reported}"));
    }
    if !available {
        wrong.push("a part cannot be had or is not supported".to_owned());
    }
    verdict(&wrong, &[], "the result is of the system measured, whose parts can be had")
}

fn estimates(r: &CpuSuiteResult, _: &Parameters<'_>) -> Judged {
    let (Some(estimated), Some(energy)) = (r.estimated, r.energy_estimated) else {
        return unknown("which numbers are estimates");
    };
    if energy {
        return fail("energy is estimated");
    }
    match (estimated, r.estimates_marked) {
        (false, _) => pass("nothing is estimated"),
        (true, Some(true)) => pass("every estimate is marked at its number"),
        (true, Some(false)) => fail("an estimate is not marked at its number"),
        (true, None) => unknown("whether estimates are marked"),
    }
}

/// The result beside others: what fair use of results wants of the publication.
fn publication(r: &CpuSuiteResult, _: &Parameters<'_>) -> Judged {
    match (r.published, &r.publication) {
        (Some(false), _) => pass("the result is not published beside others"),
        (Some(true), Some(record)) => fair_use::basics(record),
        (Some(true), None) => unknown("the record of the publication"),
        (None, _) => unknown("whether the result is published"),
    }
}

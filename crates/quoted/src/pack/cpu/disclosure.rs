//! Checks of disclosures, the system under test, estimates and publication.

use super::CpuSuiteResult;
use crate::pack::fair_use;
use crate::pack::judged::{
    CheckParamType, CheckVerdict, PackCheck, Parameters, check, disclosed, fail, pass, unknown,
    verdict,
};

pub(super) const CHECKS: &[PackCheck<CpuSuiteResult>] = &[
    check("disclosed", &[("fields", CheckParamType::Words)], |r, p| disclosed(&r.disclosure, p)),
    check("one-system", &[], one_system),
    check("estimates", &[], estimates),
    check("publication", &[], publication),
];

fn one_system(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    let (Some(measured), Some(reported), Some(available)) =
        (&r.system_measured, &r.system_reported, r.parts_available)
    else {
        return unknown("the measured and the reported system and the availability of its parts");
    };
    let mut wrong = Vec::new();
    if measured != reported {
        wrong.push(format!("measured was {measured}, reported is {reported}"));
    }
    if !available {
        wrong.push("a part is unavailable or unsupported".to_owned());
    }
    verdict(&wrong, &[], "the result is of the measured system, whose parts are available")
}

fn estimates(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
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

/// Checks the fair-use requirements if the result is published in comparison with others.
fn publication(r: &CpuSuiteResult, _: &Parameters<'_>) -> CheckVerdict {
    match (r.published, &r.publication) {
        (Some(false), _) => pass("the result is not published next to others"),
        (Some(true), Some(record)) => fair_use::basics(record),
        (Some(true), None) => unknown("the record of the publication"),
        (None, _) => unknown("whether the result is published"),
    }
}

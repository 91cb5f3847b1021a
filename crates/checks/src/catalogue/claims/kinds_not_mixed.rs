//! F47: measured numbers are not mixed with unlabelled numbers of another kind.

use assay_model::MetricKind;

use crate::prelude::*;

pub const KINDS_NOT_MIXED: CheckRow = CheckRow {
    id: "F47",
    name: "kinds-not-mixed",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "a warning where measured and quoted numbers are labelled and compared",
    needs: "the kind of each number: measured, derived, estimated, quoted",
    fires: "a measured number is shown with one of another kind that is not labelled",
    why: "an estimate shown with a measurement borrows its credibility",
    remedy: "label every number that was not measured, at the number",
    source: "SPEC OSG fair use; Heiser C1",
    evidence: "kinds of the numbers of a post, of the lines of a landscape",
};

pub const CHECK: Check = Check::new(&KINDS_NOT_MIXED, evaluate)
    .always_checked("every number of a run, post or landscape has its kind");

fn evaluate(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the kind of each number")?;
    let unknown = numbers.iter().filter(|n| n.kind.is_none());
    let lacking: Vec<String> = unknown.map(|n| format!("the kind of {}", n.what)).collect();
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
            return Ok(vec![warning(text).remedy(remedy)]);
        }
        return found_or_missing(Vec::new(), &lacking);
    }
    let names: Vec<&str> = unlabelled.iter().map(String::as_str).collect();
    Ok(vec![finding(format!(
        "{}, without a label, next to measured numbers",
        shortened_list(&names)
    ))])
}

//! F32: measured numbers have an interval.

use assay_model::MetricKind;

use crate::NumberEvidence;
use crate::prelude::*;

pub const INTERVAL_PRESENT: CheckRow = CheckRow {
    id: "F32",
    name: "interval-present",
    section: CheckSection::Statistics,
    severity: NOTE_OR_INVALID,
    escalation: "a note for quoted results, whose sources print none",
    needs: "the numbers that are shown, their intervals, and whether they are deterministic",
    fires: "a measured number has no interval and is not marked as deterministic",
    why: "a number without its uncertainty cannot be compared with anything",
    remedy: "run at least 3 trials, or mark the number as deterministic",
    source: "Kalibera and Jones 2020; Heiser B4; Hoefler and Belli rule 5",
    evidence: "summaries of a run; the values that a post prints",
};

pub(crate) const CHECK: Check = Check::new(&INTERVAL_PRESENT, evaluate)
    .always_checked("a number without an interval is what it finds");

fn evaluate(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the numbers that are shown")?;
    let bare: Vec<&str> = numbers
        .iter()
        .filter(|n| n.interval.is_none() && !n.deterministic)
        .filter(|n| n.kind.is_none_or(|k| k != MetricKind::Quoted))
        .map(|n| n.what.as_str())
        .collect();
    let quoted = |n: &&NumberEvidence| {
        n.kind == Some(MetricKind::Quoted) && n.interval.is_none() && !n.deterministic
    };
    let printed_without = numbers.iter().filter(quoted).count();
    if bare.is_empty() && printed_without == 0 {
        return Ok(Vec::new());
    }
    if bare.is_empty() {
        let (results, carry) =
            if printed_without == 1 { ("result", "carries") } else { ("results", "carry") };
        let text = format!(
            "{printed_without} quoted {results} {carry} no interval: their sources print none"
        );
        return Ok(vec![note(text).remedy("")]);
    }
    let have = if bare.len() == 1 { "has" } else { "have" };
    Ok(vec![finding(format!("{} {have} no interval", shortened_list(&bare)))])
}

//! F32: measured numbers have an interval.

use assay_model::MetricKind;

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

pub const CHECK: Check = Check::new(&INTERVAL_PRESENT, evaluate)
    .always_checked("a number without an interval is a finding");

fn evaluate(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the numbers that are shown")?;
    let without = numbers.iter().filter(|n| n.interval.is_none() && !n.deterministic);
    let (quoted, measured): (Vec<_>, Vec<_>) =
        without.partition(|n| n.kind == Some(MetricKind::Quoted));
    if !measured.is_empty() {
        let names: Vec<&str> = measured.iter().map(|n| n.what.as_str()).collect();
        let have = if names.len() == 1 { "has" } else { "have" };
        return Ok(vec![finding(format!("{} {have} no interval", shortened_list(&names)))]);
    }
    let (n, (results, carry)) = match quoted.len() {
        0 => return Ok(Vec::new()),
        1 => (1, ("result", "carries")),
        n => (n, ("results", "carry")),
    };
    let text = format!("{n} quoted {results} {carry} no interval: their sources print none");
    Ok(vec![note(text).remedy("")])
}

//! F38: several comparisons are corrected for.

use crate::prelude::*;

pub const MANY_COMPARISONS: CheckRow = CheckRow {
    id: "F38",
    name: "many-comparisons",
    section: CheckSection::Statistics,
    severity: NOTE_OR_WARNING,
    escalation: "invalid when the headline is the best of them",
    needs: "the number of comparisons, and the correction",
    fires: "more than one comparison without a correction",
    why: "of twenty comparisons without an effect, one is significant by chance",
    remedy: "use Holm's correction for a gate, or confirm the important comparison by a fresh run",
    source: "Holm 1979; Benjamini and Hochberg 1995",
    evidence: "the comparisons of the run, `compare.gate`",
};

pub const CHECK: Check =
    Check::new(&MANY_COMPARISONS, evaluate).always_checked("comparisons are counted");

fn evaluate(e: &Evidence) -> Evaluation {
    let m = need(e.multiplicity.as_ref(), "the number of comparisons")?;
    if m.tests <= 1 || m.correction.is_some() {
        return Ok(Vec::new());
    }
    let (n, alarms) = (m.tests, 0.05 * f64::from(m.tests));
    let text =
        format!("{n} comparisons without a correction: about {alarms:.2} false alarms expected");
    Ok(vec![match m.headline_is_best {
        Some(true) => invalid(format!("{text}, and the headline is the best of them")),
        _ => finding(text),
    }])
}

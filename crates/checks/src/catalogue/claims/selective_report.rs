//! F59: everything that was registered or measured is shown.

use crate::prelude::*;

pub const SELECTIVE_REPORT: CheckRow = CheckRow {
    id: "F59",
    name: "selective-report",
    section: CheckSection::Claims,
    severity: NOTE_OR_WARNING,
    escalation: "invalid when the hidden items reverse the headline",
    needs: "registered metrics, workloads and treatments, and those that are shown",
    fires: "a registered item or a measured loss is not shown",
    why: "the bad results are the ones left out",
    remedy: "show everything that was registered, losses too",
    source: "van der Kouwe et al. 2018; Heiser A1",
    evidence: "the plan and the metrics of the run; a post: the treatments that it shows",
};

pub const CHECK: Check =
    Check::new(&SELECTIVE_REPORT, evaluate).always_checked("the plan lists the registered items");

fn evaluate(e: &Evidence) -> Evaluation {
    let r = need(e.registered.as_ref(), "the items registered before the run")?;
    let absent: Vec<&str> =
        r.items.iter().filter(|i| !r.shown.contains(i)).map(String::as_str).collect();
    if absent.is_empty() {
        return Ok(Vec::new());
    }
    let text = match &r.headline {
        Some(both) => format!("{both}; ahead there, but not shown: {}", shortened_list(&absent)),
        None => format!("measured or registered, but not shown: {}", shortened_list(&absent)),
    };
    Ok(vec![match r.reverses_headline {
        Some(true) => invalid(format!("{text}; it reverses the headline")),
        _ => finding(text),
    }])
}

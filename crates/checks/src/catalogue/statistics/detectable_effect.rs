//! F36: the design detects the effects that matter.

use assay_model::Verdict;

use crate::prelude::*;

pub const DETECTABLE_EFFECT: CheckRow = CheckRow {
    id: "F36",
    name: "detectable-effect",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "",
    needs: "the smallest effect that the design detects, the margin, the claimed effect",
    fires: "an inconclusive comparison cannot detect the margin, or the design cannot detect the \
        claimed effect",
    why: "a design that cannot detect an effect shows nothing about it",
    remedy: "run more blocks",
    source: "power analysis, 80 % at 5 %",
    evidence: "the comparisons and the margin of the run",
};

pub const CHECK: Check = Check::new(&DETECTABLE_EFFECT, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let comparisons = e.comparisons.need("the smallest effect that the design detects")?;
    if comparisons.is_empty() {
        return not_applicable("nothing is compared");
    }
    let claimed = e.claim.get().and_then(|c| c.ratio).map(|r| r.ln().abs().exp() - 1.0);
    let mut blind: Option<(f64, String)> = None;
    for c in comparisons {
        let what = format!("the smallest effect that the comparison of {} detects", c.label);
        let mde = need_number(c.detectable, what)? - 1.0;
        let open = c.verdict.is_none_or(|v| v == Verdict::Inconclusive);
        let beyond = match (c.margin, claimed) {
            (Some(m), _) if open && mde > m => Some(format!("the margin is {:.1} %", m * 100.0)),
            (_, Some(x)) if mde > x => Some(format!("the claim is about {:.1} %", x * 100.0)),
            _ => None,
        };
        if let Some(beyond) = beyond
            && blind.as_ref().is_none_or(|(worst, _)| mde > *worst)
        {
            blind = Some((mde, beyond));
        }
    }
    match blind {
        Some((mde, beyond)) => Ok(vec![finding(format!(
            "this design detects effects above {:.1} %, and {beyond}",
            mde * 100.0
        ))]),
        None if comparisons.iter().all(|c| c.margin.is_none()) && claimed.is_none() => {
            // No margin or claim defines the effect that matters.
            not_applicable("no margin is declared and no effect is claimed")
        }
        None => Ok(Vec::new()),
    }
}

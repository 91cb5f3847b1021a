//! F37: identical code was compared, and differed by less than the effect.

use assay_model::Verdict;

use crate::prelude::*;

pub const SELF_COMPARISON: CheckRow = CheckRow {
    id: "F37",
    name: "self-comparison",
    section: CheckSection::Statistics,
    severity: NOTE_OR_WARNING,
    escalation: "invalid when the effect does not exceed the difference between identical code",
    needs: "a recent comparison of identical code on this host, by this schedule, of this workload",
    fires: "there is none, or it is older than the limit",
    why: "identical code can differ by more than the effect, and no interval shows that",
    remedy: "measure the A/A floor of one of the commands: `assay run --aa -- COMMAND`",
    source: "larql#370; rue#2028; nvbench#478",
    evidence: "the A/A comparisons that this machine keeps",
};

pub const CHECK: Check =
    Check::new(&SELF_COMPARISON, evaluate).always_checked("a missing A/A comparison is a finding");

fn evaluate(e: &Evidence) -> Evaluation {
    e.compared()?;
    let made = match &e.self_comparison {
        RecordedValue::Absent(why) => {
            return Ok(vec![finding(format!("no comparison of identical code: {why}"))]);
        }
        other => other.need("a comparison of identical code on this machine")?,
    };
    let age = need_number(made.age_days, "the age of the comparison of identical code")?;
    let alike = *need(made.alike.as_ref(), "the conditions of the comparison of identical code")?;
    let floor = need_number(made.floor, "the difference between identical code")?;
    let mut found = Vec::new();
    if age > made.policy_days {
        let text = format!(
            "identical code was last compared {age:.0} days ago; the limit is {:.0}",
            made.policy_days
        );
        found.push(finding(text));
    }
    if !alike {
        found.push(finding("identical code was compared on another host, schedule or workload"));
    }
    for c in e.comparisons.get().into_iter().flatten() {
        let decides = c.verdict.is_none_or(|v| matches!(v, Verdict::Better | Verdict::Worse));
        if let Some(ratio) = c.ratio
            && decides
            && alike
            && ratio.ln().abs() <= floor.ln()
        {
            let text = format!(
                "{}: identical code differed by up to {:.1} % here, this by {:.1} %",
                c.label,
                (floor - 1.0) * 100.0,
                (ratio.ln().abs().exp() - 1.0) * 100.0
            );
            let of: Vec<&TreatmentEvidence> =
                e.treatments.iter().filter(|a| a.label == c.label).collect();
            found.push(about(invalid(text), &of, &e.treatments));
        }
    }
    Ok(found)
}

//! F50: the order of the systems is the same under every recorded denominator.

use crate::prelude::*;

pub const RANKING_FLIPS: CheckRow = CheckRow {
    id: "F50",
    name: "ranking-flips",
    section: CheckSection::Claims,
    severity: WARNING,
    escalation: "invalid when it is published without the table over all denominators",
    needs: "every count that is recorded of each system",
    fires: "the order under the claimed denominator reverses under another recorded one",
    why: "the choice of the denominator decides the winner",
    remedy: "show the table over all recorded denominators, totals first",
    source: "SWaP page of 2005; realworldtech",
    evidence: "every count of the results of a landscape or post",
};

pub const CHECK: Check = Check::new(&RANKING_FLIPS, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let d = e.denominators.need("the denominator of the values")?;
    let Some(first) = d.flips.first() else {
        return if d.several {
            Ok(Vec::new())
        } else {
            missing("a count of both but the claimed one")
        };
    };
    let same = |f: &&OrderReversal| (&f.ahead, &f.instead) == (&first.ahead, &first.instead);
    let under: Vec<&str> = d.flips.iter().filter(same).map(|f| f.under.as_str()).collect();
    let more = match d.flips.len() - under.len() {
        0 => String::new(),
        1 => "; one more reversal elsewhere".to_owned(),
        n => format!("; {n} more reversals elsewhere"),
    };
    let (words, under) = (&d.words, under.join(" and "));
    let OrderReversal { ahead, instead, .. } = first;
    let text = format!("{ahead} is ahead of {instead} {words}, but behind it {under}{more}");
    let show = "show every denominator with the claim (--matrix), or claim no order";
    Ok(vec![if d.matrix_shown {
        finding(text).remedy("")
    } else {
        finding_at(WARNING_OR_INVALID, text).remedy(show)
    }])
}

//! F48: derived values are marked.

use assay_model::MetricKind;

use crate::prelude::*;

pub const DERIVED_MARKED: CheckRow = CheckRow {
    id: "F48",
    name: "derived-marked",
    section: CheckSection::Claims,
    severity: INVALID,
    escalation: "",
    needs: "how each derived number is presented",
    fires: "a per-something, normalised or composite value is unmarked, shown as official, or far \
        from its base",
    why: "a derived value can be made to favour either side",
    remedy: "mark it, and show the base metric in the same table or paragraph",
    source: "MLPerf messaging guidelines; SPEC fair use on derived values",
    evidence: "`per` in a post, columns of a landscape",
};

pub const CHECK: Check = Check::new(&DERIVED_MARKED, evaluate);

fn evaluate(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the presentation of derived numbers")?;
    let mut found = Vec::new();
    for n in
        numbers.iter().filter(|n| n.kind == Some(MetricKind::Derived) || n.derivation.is_some())
    {
        let d = need(n.derivation.as_ref(), format!("the presentation of {}", n.what))?;
        if !d.marked {
            found.push(finding(format!("{} is derived and not marked", n.what)));
        }
        if d.shown_as_official {
            found.push(finding(format!("{} is derived and shown as an official metric", n.what)));
        }
        if !d.base_nearby {
            found.push(finding(format!("{} is shown without its base metric", n.what)));
        }
    }
    Ok(found)
}

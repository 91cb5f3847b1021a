//! F14: small effects are measured over several memory layouts.

use assay_model::Verdict;

use crate::prelude::*;

pub const LAYOUT_SAMPLED: CheckRow = CheckRow {
    id: "F14",
    name: "layout-sampled",
    section: CheckSection::Environment,
    severity: WARNING,
    escalation: "",
    needs: "memory layouts and builds that each treatment sampled, and the size of the effect",
    fires: "the effect is below 5 % and a treatment sampled fewer than 5 layouts",
    why: "layout alone (addresses, environment, link order) shifts results by a few per cent",
    remedy: "leave address-space randomisation on, use a fresh process a trial, at least 5 trials; \
        build revisions several times (`--builds 6`)",
    source: "Mytkowicz et al. 2009; Stabilizer 2013; Kalibera and Jones 2020",
    evidence: "address-space randomisation as described and as set by the control `aslr`",
};

pub const CHECK: Check = Check::new(&LAYOUT_SAMPLED, evaluate);

/// Effect below which memory layout may explain it, and the number of layouts needed then.
const MAX_LAYOUT_EFFECT: f64 = 0.05;
const MIN_LAYOUTS: u32 = 5;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let comparisons = e.comparisons.need("the size of the effect")?;
    let claimed = e.claim.get().and_then(|c| c.ratio);
    let says = |v: Option<Verdict>| v.is_none_or(|v| matches!(v, Verdict::Better | Verdict::Worse));
    let effects = comparisons.iter().filter(|c| says(c.verdict)).map(|c| c.ratio);
    let effects: Vec<Option<f64>> = effects.chain(claimed.map(Some)).collect();
    if effects.is_empty() {
        return not_applicable("no effect is claimed");
    }
    let Some(effect) = effects.iter().flatten().map(|r| r.ln().abs()).reduce(f64::min) else {
        return missing("the size of the effect");
    };
    if effect >= MAX_LAYOUT_EFFECT.ln_1p() {
        return Ok(Vec::new());
    }
    for treatment in treatments {
        let layouts = *treatment.need(treatment.layouts.as_ref(), "the memory layouts")?;
        if layouts < MIN_LAYOUTS {
            let s = if layouts == 1 { "" } else { "s" };
            let (label, percent) = (&treatment.label, (effect.exp() - 1.0) * 100.0);
            return Ok(vec![finding(format!(
                "an effect of {percent:.1} % is within known layout bias, and {label} sampled \
                {layouts} layout{s}"
            ))]);
        }
    }
    Ok(Vec::new())
}

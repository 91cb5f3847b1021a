//! F45: printed numbers equal the recomputed ones.

use crate::prelude::*;
use crate::{AuditedClaim, RecomputedClaim};

pub const RECOMPUTES: CheckRow = CheckRow {
    id: "F45",
    name: "recomputes",
    section: CheckSection::Statistics,
    severity: INVALID,
    escalation: "a note for more digits than the interval supports",
    needs: "the printed text and the unrounded inputs",
    fires: "a printed number differs from the recomputed one by more than half its last digit",
    why: "an error in the one number that people read devalues the rest",
    remedy: "let assay compute the number",
    source: "SWaP page of 2005; Hoefler and Belli rule 12",
    evidence: "digits of a post; claims that `assay audit` recomputes",
};

pub const CHECK: Check = Check::new(&RECOMPUTES, evaluate)
    .on_audited_claims(evaluate_claim)
    .always_checked("F54 reports numbers without inputs");

/// Reports an audited claim that the recomputed value contradicts.
fn evaluate_claim(claim: &AuditedClaim) -> Evaluation {
    let (severity, remedy) = match claim.result {
        RecomputedClaim::Holds => return Ok(Vec::new()),
        RecomputedClaim::NoInputs => return not_applicable("the claim is not of its kind"),
        RecomputedClaim::Differs => (INVALID, "Correct the claim or the number it rests on."),
        RecomputedClaim::Ambiguous => {
            (WARNING, "Say which reading is meant, and show both values.")
        }
        RecomputedClaim::OffByRounding => (NOTE, "Compute from the unrounded values."),
    };
    Ok(vec![finding_at(severity, claim.message()).remedy(remedy)])
}

fn evaluate(e: &Evidence) -> Evaluation {
    let numbers = e.numbers.need("the printed numbers")?;
    let mut found = Vec::new();
    if numbers.iter().all(|n| n.printed.is_none()) {
        return not_applicable("no number is printed beside its inputs");
    }
    for n in numbers.iter().filter(|n| n.kind != Some(assay_model::MetricKind::Quoted)) {
        let Some(printed) = &n.printed else { continue };
        let exact = *need(n.exact.as_ref(), format!("the inputs of {}", n.what))?;
        let Some((value, unit)) = last_digit(printed) else {
            return missing(format!("a number in `{printed}`"));
        };
        if (value - exact).abs() > 0.5 * unit * (1.0 + 1e-9) {
            let text = format!("{}: {printed} is printed, {exact} recomputed", n.what);
            found.push(finding(text));
        }
        if let Some(i) = n.interval
            && unit < (i.high - i.low) / 1000.0
        {
            let text = format!("{}: {printed} has more digits than its interval supports", n.what);
            found.push(note(text).remedy("print fewer digits"));
        }
    }
    Ok(found)
}

/// Parses a printed number and returns its value and the value of one unit of its last digit:
/// `1,234.50` gives 1234.5 and 0.01, `12 000` gives 12000 and 1.
fn last_digit(printed: &str) -> Option<(f64, f64)> {
    let bare: String =
        printed.chars().filter(|c| !matches!(c, ',' | ' ' | '_' | '\u{a0}')).collect();
    let bare = bare.trim_end_matches(['%', 'x', '×']);
    let value: f64 = bare.parse().ok().filter(|v: &f64| v.is_finite())?;
    let (mantissa, exponent) = bare.split_once(['e', 'E']).unwrap_or((bare, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, d)| d.len() as i32);
    Some((value, 10f64.powi(exponent.parse::<i32>().ok()? - decimals)))
}

#[cfg(test)]
mod tests {
    use super::last_digit;

    #[test]
    fn the_last_digit_of_a_printed_number() {
        assert_eq!(last_digit("1.05"), Some((1.05, 0.01)));
        assert_eq!(last_digit("1,234.50"), Some((1234.5, 0.01)));
        assert_eq!(last_digit("12 000"), Some((12000.0, 1.0)));
        assert_eq!(last_digit("5%"), Some((5.0, 1.0)));
        assert_eq!(last_digit("1.5e3"), Some((1500.0, 100.0)));
        assert_eq!(last_digit("many"), None);
    }
}

//! F43 to F45: the right mean, its members, and numbers that recompute.

use crate::check::{Evaluation, at, found_or_missing, missing, need, not_applicable, plain};
use crate::rows::N;
use crate::{Evidence, MeanOf, MeanOperator};

pub(crate) fn right_mean(e: &Evidence) -> Evaluation {
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    for m in e.means.need("which means are taken, and of what")? {
        let wrong = match (m.of, m.operator) {
            (None, MeanOperator::Arithmetic) => {
                lacking.push(format!("whether {} is of rates over equal work", m.what));
                continue;
            }
            (Some(MeanOf::NormalisedScores), MeanOperator::Arithmetic) => {
                "an arithmetic mean of normalised scores: the winner depends on the reference"
            }
            (Some(MeanOf::RatesOverEqualWork), MeanOperator::Arithmetic) => {
                "an arithmetic mean of rates over equal work: the fast parts count too much"
            }
            (
                Some(MeanOf::RatiosForTotals),
                MeanOperator::Arithmetic | MeanOperator::Geometric | MeanOperator::Harmonic,
            ) => "a mean of ratios where a ratio of totals is claimed",
            _ => continue,
        };
        found.push(plain(format!("{} is {wrong}", m.what)));
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn sensitivity(e: &Evidence) -> Evaluation {
    let s = e.suite.need("the members of the suite")?;
    let mut found = Vec::new();
    let mut lacking = Vec::new();
    match s.members_shown {
        Some(false) => found.push(plain("the mean stands without its members")),
        Some(true) => {}
        None => lacking.push("whether the members are shown".to_owned()),
    }
    let Some((first, others)) = s.treatments.split_first() else {
        return found_or_missing(found, &lacking);
    };
    for treatment in others {
        match treatment.against_first {
            Some((mean, totals)) if (mean - 1.0) * (totals - 1.0) < 0.0 => {
                found.push(plain(format!(
                    "{} against {}: the geometric mean is {mean:.3}, the ratio of totals {totals:.3}",
                    treatment.label, first.label
                )));
            }
            Some(_) => {}
            None => {
                lacking.push(format!(
                    "a value of every member in {} and {}",
                    first.label, treatment.label
                ));
            }
        }
    }
    found_or_missing(found, &lacking)
}

pub(crate) fn recomputes(e: &Evidence) -> Evaluation {
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
            found.push(plain(text));
        }
        if let Some(i) = n.interval
            && unit < (i.high - i.low) / 1000.0
        {
            let text = format!("{}: {printed} has more digits than its interval supports", n.what);
            found.push(at(N, text).remedy("print fewer digits"));
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

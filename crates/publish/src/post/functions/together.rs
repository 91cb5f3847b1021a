//! `mean`, `geomean`, `sum`, `min`, `max` and `count` of several values.

use std::fmt::Write as _;

use assay_checks::{Evidence, MeanOf, MeanOperator, MeanUse, RecordedValue, rows};
use assay_model::Better;
use assay_quoted::quantity::{Derivation, Quantity};

use super::compare::comparable;
use crate::post::amount::Amount;
use crate::post::arguments::Arguments;
use crate::post::error::Result;
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::{checks, exact};

/// Computes the arithmetic mean.
pub(super) fn mean<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let made = together(e, a, |v| v.iter().sum::<f64>() / v.len() as f64)?;
    right_mean(e, a, &made, MeanOperator::Arithmetic);
    Ok(made)
}

/// Computes the geometric mean.
pub(super) fn geomean<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let made = together(e, a, |v| (v.iter().map(|x| x.ln()).sum::<f64>() / v.len() as f64).exp())?;
    right_mean(e, a, &made, MeanOperator::Geometric);
    Ok(made)
}

/// Records the findings of the check of means.
fn right_mean(e: &mut Evaluator<'_>, a: &Arguments<'_>, made: &CallResult, operator: MeanOperator) {
    if let CallResult::Amount(amount) = made {
        let unit = amount.entry.value.unit.as_str();
        let mean = MeanUse {
            what: format!("the {}", amount.entry.label),
            of: match unit {
                "score" | "ratio" | "1" => Some(MeanOf::NormalisedScores),
                // For a rate, nobody recorded if the work or the time was the same each time.
                _ if better_is_rate(amount) => None,
                _ => Some(MeanOf::Amounts),
            },
            operator,
        };
        let evidence = Evidence { means: RecordedValue::Is(vec![mean]), ..Evidence::default() };
        for finding in checks::judge(&rows::RIGHT_MEAN, &evidence) {
            e.find(finding, Some(a.line()));
        }
    }
}

/// Returns true if an amount is a rate per second, or of a benchmark in which higher results are
/// better.
fn better_is_rate(amount: &Amount) -> bool {
    let unit = &amount.entry.value.unit;
    unit.contains("/s") || unit.ends_with("per s") || amount.better() == Better::Higher
}

/// Computes the sum of values.
pub(super) fn sum<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    together(e, a, |v| v.iter().sum())
}

/// Returns the smallest value.
pub(super) fn min<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    together(e, a, |v| v.iter().copied().fold(f64::INFINITY, f64::min))
}

/// Returns the largest value.
pub(super) fn max<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    together(e, a, |v| v.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

/// Counts values, or those above or below a limit.
pub(super) fn count<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let mut amounts = e.amounts(a, "of")?;
    let Some(first) = amounts.first().cloned() else {
        return Err(a.error("of", "`count` needs a value", ""));
    };
    let mut metric = "number of values".to_owned();
    for name in ["above", "below"] {
        if a.get(name).is_none() {
            continue;
        }
        let limit = comparable(a, name, &first, e.amount(a, name)?)?;
        let mut kept = Vec::new();
        for amount in amounts {
            let limit = comparable(a, name, &amount, limit.clone())?;
            let sides = exact::exact(&amount.entry.value).zip(exact::exact(&limit.entry.value));
            if sides.is_none_or(|(x, y)| if name == "above" { x > y } else { x < y }) {
                kept.push(amount);
            }
        }
        amounts = kept;
        let _ = write!(metric, " {name} {}", limit.entry.value.operand());
    }
    let of: Vec<&Amount> = amounts.iter().collect();
    let values = of.iter().map(|x| x.entry.value.clone()).collect();
    let value = Quantity {
        value: of.len() as f64,
        derivation: Derivation::Together("count".to_owned(), values),
        ..Quantity::constant(0.0, "1")
    };
    let label = format!("{} of {}", first.metric, of_system(e, &first));
    let mut amount = Amount::computed(&label, value, Better::Neither, &of);
    (amount.metric, amount.decimals) = (metric, Some(0));
    Ok(amount.into())
}

fn of_system(e: &Evaluator<'_>, amount: &Amount) -> String {
    match amount.rows.first() {
        Some(row) => e.library.result(*row).system.clone(),
        None => amount.entry.label.clone(),
    }
}

fn together<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    how: fn(&[f64]) -> f64,
) -> Result<CallResult> {
    let name = a.function();
    let mut amounts = e.amounts(a, "of")?;
    let Some(first) = amounts.first().cloned() else {
        return Err(a.error("of", format!("`{name}` needs a value"), ""));
    };
    if let Some(missing) = amounts.iter().find(|x| x.withheld.is_some()) {
        return Ok(missing.clone().into());
    }
    if name == "geomean" && amounts.len() > exact::MAX_ROOT_VALUES {
        let message = format!("`geomean` takes at most {} values", exact::MAX_ROOT_VALUES);
        return Err(a.error("of", message, ""));
    }
    // In a binding, the columns of a text's table may have different names: the binding itself
    // states that they are one metric.
    let other = amounts.iter().find(|x| x.metric != first.metric && e.binding.is_none());
    let other = other.or_else(|| {
        amounts.iter().find(|x| exact::converted(&x.entry.value, &first.entry.value.unit).is_none())
    });
    if let Some(other) = other {
        let message = format!(
            "{} in {} and {} in {} are different metrics, so they have no {name} ({})",
            first.metric,
            first.entry.value.unit,
            other.metric,
            other.entry.value.unit,
            rows::SAME_METRIC.id
        );
        return Err(a.error("of", message, "narrow the pattern to one metric"));
    }
    for amount in &mut amounts {
        if let Some(value) = exact::converted(&amount.entry.value, &first.entry.value.unit) {
            amount.entry.value = value;
        }
    }
    let quantities: Vec<Quantity> = amounts.iter().map(|x| x.entry.value.clone()).collect();
    let values: Vec<f64> = quantities.iter().map(|q| q.value).collect();
    let Some(value) = Quantity::together(name, how(&values), &quantities) else {
        return Err(a.error("of", format!("`{name}` of these values is not a number"), ""));
    };
    let label = format!("{name} of {} values of {}", values.len(), of_system(e, &first));
    let picked = matches!(name, "min" | "max" | "least" | "greatest" | "sum");
    let decimals = amounts.iter().filter_map(|x| x.decimals).max().filter(|_| picked);
    let all: Vec<&Amount> = amounts.iter().collect();
    let mut amount = Amount::computed(&label, value, first.entry.better, &all);
    amount.decimals = decimals;
    Ok(amount.into())
}

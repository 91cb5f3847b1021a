//! `mean`, `sum`, `least` and `largest` of several quoted results.

use assay_checks::{Evidence, Known, MeanOf, MeanOperator, MeanUse, rows};
use assay_model::Better;
use assay_rules::denominator::{Counts, Entry};
use assay_rules::quantity::Quantity;

use crate::post::amount::Amount;
use crate::post::arguments::Arguments;
use crate::post::checks;
use crate::post::error::PostError;
use crate::post::evaluator::{Evaluator, Made};

/// The arithmetic mean.
pub(super) fn mean<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Made, PostError> {
    let made = together(e, a, |v| v.iter().sum::<f64>() / v.len() as f64)?;
    if let Made::Amount(amount) = &made {
        let unit = amount.entry.value.unit.as_str();
        let mean = MeanUse {
            what: format!("the {}", amount.entry.label),
            of: match unit {
                "score" | "ratio" | "1" => Some(MeanOf::NormalisedScores),
                // Of a rate nobody recorded whether its work or its time was the same each time.
                _ if better_is_rate(amount) => None,
                _ => Some(MeanOf::Amounts),
            },
            operator: MeanOperator::Arithmetic,
        };
        let evidence = Evidence { means: Known::Is(vec![mean]), ..Evidence::default() };
        for finding in checks::judge(&rows::RIGHT_MEAN, &evidence) {
            e.find(finding, Some(a.line()));
        }
    }
    Ok(made)
}

/// Whether an amount is one for each second, or of a benchmark whose results are better higher.
fn better_is_rate(amount: &Amount) -> bool {
    let unit = &amount.entry.value.unit;
    unit.contains("/s") || unit.ends_with("per s") || amount.better() == Better::Higher
}

/// The sum.
pub(super) fn sum<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Made, PostError> {
    together(e, a, |v| v.iter().sum())
}

/// The smallest value.
pub(super) fn min<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Made, PostError> {
    together(e, a, |v| v.iter().copied().fold(f64::INFINITY, f64::min))
}

/// The largest value.
pub(super) fn max<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<Made, PostError> {
    together(e, a, |v| v.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn together<'a>(
    e: &mut Evaluator<'a>,
    a: &Arguments<'a>,
    how: fn(&[f64]) -> f64,
) -> Result<Made, PostError> {
    let rows = e.rows(a, "of")?;
    let amounts: Vec<Amount> = rows.iter().map(|at| e.quoted(*at)).collect();
    let first = &amounts[0];
    if let Some(other) = amounts
        .iter()
        .find(|x| x.metric != first.metric || x.entry.value.unit != first.entry.value.unit)
    {
        let message = format!(
            "{} and {} are different metrics, so they have no {} ({})",
            first.metric,
            other.metric,
            a.function(),
            rows::SAME_METRIC.id
        );
        return Err(a.error("of", message, "narrow the pattern to one metric"));
    }
    let quantities: Vec<Quantity> = amounts.iter().map(|x| x.entry.value.clone()).collect();
    let values: Vec<f64> = quantities.iter().map(|q| q.value).collect();
    let name = a.function();
    let Some(value) = Quantity::together(name, how(&values), &quantities) else {
        return Err(a.error("of", format!("`{name}` of these values is no number"), ""));
    };
    let row = e.library.result(rows[0]);
    let label = format!("{name} of {} values of {}", values.len(), row.system);
    let picked = matches!(name, "min" | "max" | "least" | "greatest" | "sum");
    let decimals = amounts.iter().filter_map(|x| x.decimals).max().filter(|_| picked);
    Ok(Made::Amount(Box::new(Amount {
        entry: Entry { label, value, better: first.entry.better, counts: Counts::default() },
        benchmark: first.benchmark.clone(),
        metric: first.metric.clone(),
        as_of: amounts.iter().filter_map(|x| x.as_of.clone()).max(),
        rows,
        run: None,
        decimals,
        withheld: None,
    })))
}

//! `ratio`, `product`, `share`, `number` and `missing`: arithmetic on values.

use assay_model::Better;
use assay_quoted::denominator::Basis;
use assay_quoted::quantity::Quantity;

use super::compare::{comparable, percents};
use super::phrase;
use super::value::{base, keep};
use crate::post::amount::{Amount, MissingValue};
use crate::post::arguments::Arguments;
use crate::post::error::Result;
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::expression::ExpressionKind;
use crate::post::{checks, exact};

/// Divides a by b; values of one dimension may have different units.
pub(super) fn ratio<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    both(e, a, "over", Quantity::per)
}

/// Multiplies a by b.
pub(super) fn product<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    both(e, a, "by", Quantity::times)
}

fn both<'a>(
    e: &mut Evaluator<'a>,
    args: &Arguments<'a>,
    second: &str,
    how: fn(&Quantity, &Quantity) -> Option<Quantity>,
) -> Result<CallResult> {
    let a = e.amount(args, "a")?;
    let mut b = e.amount(args, second)?;
    if second == "over"
        && let Some(value) = exact::converted(&b.entry.value, &a.entry.value.unit)
        && b.entry.value.unit != "1"
    {
        b.entry.value = value;
    }
    if let Some(missing) = [&a, &b].into_iter().find(|x| x.withheld.is_some()) {
        return Ok(missing.clone().into());
    }
    let (qa, qb) = (&a.entry.value, &b.entry.value);
    let Some(value) = how(qa, qb) else {
        let why = format!("{} with {} is not a number", qa.operand(), qb.operand());
        return Ok(Amount::missing(&why, &qa.unit).into());
    };
    let better = if a.better() == Better::Neither { b.better() } else { a.better() };
    let label = format!("`{}` of {}", args.function(), a.entry.label);
    Ok(Amount::computed(&label, value, better, &[&a, &b]).into())
}

/// Prints a part as a percentage of a whole: `43%`.
pub(super) fn share<'a>(e: &mut Evaluator<'a>, args: &Arguments<'a>) -> Result<CallResult> {
    let a = e.amount(args, "a")?;
    let whole = e.amount(args, "of")?;
    let whole = comparable(args, "of", &a, whole)?;
    let digits = args.count("digits", super::value::DIGITS)?;
    let mut number = base(e, args.function(), args.line(), &[&a, &whole], Basis::Total);
    let findings = checks::pair(e, &a, &whole, Basis::Total);
    let total = Basis::Total;
    match a.under(total).and_then(|qa| {
        let qb = whole.under(total)?;
        let (dividend, divisor) = (qa.formula(), qb.value);
        qa.per(&qb).ok_or(MissingValue::Quotient { dividend, divisor })
    }) {
        Ok(q) => {
            number.text = phrase::percent(q.value, digits);
            number.value = Some(q.value * 100.0);
            "%".clone_into(&mut number.unit);
            q.kind_words().clone_into(&mut number.kind);
            number.formula = format!("{} = {:.6}", q.formula(), q.value);
            let label = format!("`share` of {}", a.entry.label);
            let answer = Amount::computed(&label, percents(&q), Better::Neither, &[&a, &whole]);
            number.answer = Some(answer.into());
        }
        Err(e) => number.unsupported(&e.to_string()),
    }
    Ok(CallResult::Number(keep(e, number, findings, &[&a, &whole])))
}

/// Converts a number that the claim itself states to a value.
pub(super) fn number<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let value = match a.get("value").map(|x| &x.what) {
        Some(ExpressionKind::Text(text)) => {
            text.parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(|| {
                a.error("value", format!("`{text}` is not a number"), "write it as 65536 or 6.5")
            })?
        }
        _ => e.amount(a, "value")?.entry.value.value,
    };
    let unit = a.text("unit")?.unwrap_or("1");
    let label = format!("{value} {unit}");
    let value = Quantity::constant(value, unit);
    Ok(Amount::computed(&label, value, Better::Neither, &[]).into())
}

/// Returns a missing value, for an input that no source printed.
pub(super) fn missing<'a>(_: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    match a.text("what")?.map(str::trim) {
        None | Some("") => Err(a.error("what", "`missing` names the input that is not there", "")),
        Some(what) => Ok(Amount::missing(what, "1").into()),
    }
}

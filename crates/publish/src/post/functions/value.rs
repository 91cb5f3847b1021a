//! `value`, `per` and `field`: one number.

use assay_model::{Better, MetricKind};
use assay_quoted::denominator::{Basis, Denominator};
use assay_quoted::quantity::Quantity;
use assay_quoted::quoted::{QuotedResult, columns};

use super::phrase;
use crate::post::amount::{Amount, FunctionAnswer};
use crate::post::arguments::Arguments;
use crate::post::checks;
use crate::post::document::{ComputedNumber, Facts, Input};
use crate::post::error::{Result, suggestion};
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::expression::Call;
use assay_report::figures::{in_a_sentence, mark, value_doubts};

/// Largest number of decimals or digits that a call can request.
pub(super) const DIGITS: usize = 9;

/// Prints a value as it was printed or measured.
pub(super) fn value<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let mut amount = e.amount(a, "of")?;
    let digits = a.count("digits", DIGITS)?;
    if let Some(printed) = a.text("as")? {
        if e.binding.is_none() {
            let help = "a post prints the unit that the source printed";
            return Err(a.error("as", "`as` only works in bindings of claims", help));
        }
        printed.clone_into(&mut amount.entry.value.unit);
    }
    let unit = &amount.entry.value.unit;
    let wanted = a.text("unit")?.unwrap_or(unit);
    let Some(by) = phrase::factors(unit, wanted) else {
        let message = format!("a value in {unit} cannot be given in {wanted}");
        let help = format!("give it in {unit}, with a prefix if need be");
        return Err(a.error("unit", message, help));
    };
    Ok(CallResult::Number(printed(e, a.function(), a.line(), &amount, by, wanted, digits)))
}

/// Prints a value that another function computed, in a sentence.
pub(in crate::post) fn print(e: &mut Evaluator<'_>, call: &Call, amount: &Amount) -> CallResult {
    let line = e.text.place(call.span.start).0;
    let unit = amount.entry.value.unit.clone();
    CallResult::Number(printed(e, &call.name, line, amount, [1.0; 2], &unit, None))
}

fn printed(
    e: &mut Evaluator<'_>,
    function: &str,
    line: usize,
    amount: &Amount,
    by: [f64; 2],
    unit: &str,
    digits: Option<usize>,
) -> usize {
    let quantity = &amount.entry.value;
    let factor = by[1] / by[0];
    let value = quantity.value / factor;
    let own = factor == 1.0;
    let decimals = digits.or(amount.decimals.filter(|_| own));
    let text = if decimals.is_none() && quantity.interval.is_some() && own {
        in_a_sentence(value, quantity.interval, unit)
    } else {
        phrase::with_unit(&phrase::plain(value, decimals), unit)
    };
    let formula =
        if own { quantity.formula() } else { format!("{} = {value} {unit}", quantity.formula()) };
    let mut number = base(e, function, line, &[amount], Basis::Total);
    number.text = text;
    number.value = Some(value);
    unit.clone_into(&mut number.unit);
    quantity.kind_words().clone_into(&mut number.kind);
    number.formula = formula;
    number.interval = quantity.interval.map(|mut i| {
        (i.low, i.high) = (i.low / factor, i.high / factor);
        i
    });
    stated(&mut number);
    let mut answer = amount.clone();
    if !own {
        answer.entry.value = quantity.scaled(by, unit);
    }
    number.answer = Some(answer.into());
    let mut findings = checks::single(e, amount);
    if digits.is_some() && amount.withheld.is_none() {
        findings.extend(checks::digits(amount, phrase::plain(value, digits), factor));
    }
    keep(e, number, findings, &[amount])
}

/// Prints a value per denominator of its system.
pub(super) fn per<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let amount = e.amount(a, "of")?;
    let basis = basis(a)?;
    let digits = a.count("digits", DIGITS)?;
    let mut number = base(e, a.function(), a.line(), &[&amount], basis);
    let mut findings = checks::single(e, &amount);
    findings.extend(checks::denominator(&[&amount], basis));
    match amount.under(basis) {
        Ok(q) => {
            let text = phrase::with_unit(&phrase::plain(q.value, digits), &q.unit);
            number.show(&q, text);
            number.interval = q.interval;
            stated(&mut number);
            let answer = Amount::computed(&amount.entry.label, q, amount.better(), &[&amount]);
            number.answer = Some(answer.into());
        }
        Err(e) => number.unsupported(&e.to_string()),
    }
    Ok(CallResult::Number(keep(e, number, findings, &[&amount])))
}

/// Prints the content of a column of a quoted result.
pub(super) fn field<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    let Some(name) = a.text("of")? else { return Err(a.error("of", "`field` needs a result", "")) };
    let Some(column) = a.text("column")? else {
        return Err(a.error("column", "`field` needs a column", ""));
    };
    let at = e.row(name, a.span_of("of"))?;
    let amount = e.quoted(at);
    let row = e.library.result(at);
    let known = printed_columns();
    if !known.contains(&column) && !row.more.contains_key(column) {
        let message = format!("results have no column `{column}`");
        return Err(a.error("column", message, suggestion(column, &known)));
    }
    let mut number = base(e, a.function(), a.line(), &[&amount], Basis::Total);
    "quoted".clone_into(&mut number.kind);
    number.unit.clear();
    column.clone_into(&mut number.facts.metric);
    let inferred = column == "instances" && row.instances.is_none();
    let text = if inferred {
        row.instances_or_inferred().map(|n| n.to_string().into())
    } else {
        row.field(column)
    };
    match text {
        Some(text) => {
            number.value = text.parse().ok();
            number.formula = format!("{column} of {}: {text}", e.library.label(at));
            number.inputs = vec![Input {
                label: format!("{column} of {}", e.library.label(at)),
                value: number.value.unwrap_or(f64::NAN),
                unit: String::new(),
                kind: "quoted".to_owned(),
                result: Some(row.id.clone()),
                run: None,
                source: row.source.clone(),
            }];
            if inferred && let Some(each) = row.value_per_jvm {
                "derived from quoted".clone_into(&mut number.kind);
                number.formula = format!(
                    "the whole number that takes {} {} to {each} each: {text}",
                    row.value_text(),
                    row.unit
                );
                number.inputs = amount.inputs(Basis::Total, |at| e.library.result(at).id.clone());
            }
            number.answer = Some(match (unit_of(column, row), number.value) {
                (Some(unit), Some(value)) => {
                    let what = &number.inputs[0].label;
                    let value = Quantity::given(value, &unit, MetricKind::Quoted, what, &row.id);
                    let label = e.library.label(at);
                    Amount::computed(label, value, Better::Neither, &[&amount]).into()
                }
                _ => FunctionAnswer::Text(text.clone().into_owned()),
            });
            number.text = text.into_owned();
        }
        None => {
            number.unsupported(&format!("{column} of {} not recorded", e.library.label(at)));
        }
    }
    Ok(CallResult::Number(keep(e, number, Vec::new(), &[&amount])))
}

/// Returns the columns that `field` prints: those of the system, then those of the benchmark.
fn printed_columns() -> Vec<&'static str> {
    const BENCHMARK: [&str; 3] = ["benchmark", "metric", "value_per_jvm"];
    const HIDDEN: [&str; 7] =
        ["id", "source", "unit", "higher_is_better", "currency", "value", "result"];
    let system = columns().filter(|c| !BENCHMARK.contains(c) && !HIDDEN.contains(c));
    system.chain(BENCHMARK).collect()
}

/// Returns the unit of a column that counts or measures the system.
fn unit_of(column: &str, row: &QuotedResult) -> Option<String> {
    Some(match column {
        "chips" => "chip".to_owned(),
        "cores" => "core".to_owned(),
        "threads" => "thread".to_owned(),
        "instances" => "instance".to_owned(),
        "ghz" => "GHz".to_owned(),
        "memory_gb" => "GB".to_owned(),
        "rack_units" => "RU".to_owned(),
        "watts" => "W".to_owned(),
        "price" => row.currency.clone().unwrap_or_default(),
        "value_per_jvm" => format!("{}/JVM", row.unit),
        _ => return None,
    })
}

/// Returns the basis that the argument `per` names.
pub(super) fn basis(a: &Arguments<'_>) -> Result<Basis> {
    match a.text("per")? {
        None => Ok(Basis::Total),
        Some(text) => text
            .parse::<Denominator>()
            .map(Basis::Per)
            .map_err(|unknown| a.error("per", unknown.to_string(), "")),
    }
}

/// Creates a number that has its inputs and nothing else yet.
pub(super) fn base(
    e: &Evaluator<'_>,
    function: &str,
    line: usize,
    amounts: &[&Amount],
    basis: Basis,
) -> ComputedNumber {
    let id = |at: usize| e.library.result(at).id.clone();
    ComputedNumber {
        function: function.to_owned(),
        unit: "1".to_owned(),
        inputs: amounts.iter().flat_map(|a| a.inputs(basis, id)).collect(),
        line,
        facts: e.facts(amounts, basis),
        ..ComputedNumber::default()
    }
}

/// Writes the sentence of a single value.
fn stated(number: &mut ComputedNumber) {
    let Facts { subject, .. } = &number.facts;
    number.sentence = format!("The {} of {subject} is {}", number.facts.quantity(), number.text);
}

/// Adds a number to the post. It is withheld if one of its results is, and marked if one of its
/// values is doubtful or from a virtual machine.
pub(super) fn keep(
    e: &mut Evaluator<'_>,
    mut number: ComputedNumber,
    findings: Vec<assay_model::Finding>,
    amounts: &[&Amount],
) -> usize {
    for run in amounts.iter().filter_map(|a| a.run.as_ref()) {
        e.shown.entry(run.alias.clone()).or_default().extend(&run.treatments);
    }
    if let Some(why) = amounts.iter().find_map(|a| a.withheld.as_ref()) {
        number.withhold(why);
        for input in &mut number.inputs {
            if input.run.is_some() {
                input.value = f64::NAN;
            }
        }
    }
    let mut guest = None;
    for (run, metric) in amounts.iter().filter_map(|a| Some((a.run.as_ref()?, &a.metric))) {
        let analysis = &e.gates[&run.alias].analysis;
        guest = guest.max(analysis.guest);
        for doubt in value_doubts(analysis, &run.treatments, metric) {
            if !number.doubts.contains(&doubt) {
                number.doubts.push(doubt);
            }
        }
    }
    if number.withheld.is_none() {
        let mark = mark(guest.is_some(), !number.doubts.is_empty());
        number.text.push_str(mark);
        if !number.sentence.is_empty() {
            number.sentence.push_str(mark);
        }
        if let Some(guest) = guest {
            number.formula = format!("{}; in {}", number.formula, guest.machine());
        }
        if !number.doubts.is_empty() {
            number.formula = format!("{}; doubtful: {}", number.formula, number.doubts.join("; "));
        }
    }
    e.number(number, findings)
}

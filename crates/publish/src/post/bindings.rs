//! The expressions of bindings: one call of the functions of posts, over quoted results and the
//! tables of an audited text, evaluated exactly.

use std::collections::BTreeMap;

use assay_claims::exact::{from_f64, shown};
use assay_claims::{ComputedResult, CurrentRow, Evaluate, EvaluatedValue, ExpressionError, Table};

use super::amount::{Amount, FunctionAnswer};
use super::document;
use super::error::{Result, TemplateText};
use super::evaluator::{Binding, CallResult, Evaluator};
use super::exact::exact;
use super::expression::{Call, Parser};
use super::front::FrontMatter;
use super::library::Library;
use super::typed::ExemptWords;

/// Evaluates the expressions of bindings over a library and the tables of one text.
#[derive(Debug)]
pub struct Bindings<'a> {
    library: &'a Library,
    tables: &'a [Table],
    front: FrontMatter,
}

impl<'a> Bindings<'a> {
    /// Creates an evaluator. `as_of` is the day of ranks whose expression names no day.
    pub fn new(library: &'a Library, tables: &'a [Table], as_of: Option<&str>) -> Self {
        let front = FrontMatter { as_of: as_of.map(str::to_owned), ..FrontMatter::default() };
        Bindings { library, tables, front }
    }

    fn computed(
        &self,
        text: TemplateText<'_>,
        at: Option<CurrentRow<'_>>,
    ) -> Result<ComputedResult> {
        let mut parser = Parser::new(text, 0);
        let call = parser.call()?;
        parser.blanks();
        if parser.at() < text.text.len() {
            let rest = parser.at()..text.text.len();
            return Err(text.error(rest, "an expression is one call", "nothing may follow it"));
        }
        let runs = BTreeMap::new();
        let mut evaluator =
            Evaluator::new(text, &self.front, self.library, &runs, ExemptWords::default());
        evaluator.binding = Some(Binding { tables: self.tables, row: at });
        let made = evaluator.call(&call)?;
        answer(&evaluator, &call, made)
    }
}

impl Evaluate for Bindings<'_> {
    fn evaluate(
        &self,
        expression: &str,
        at: Option<CurrentRow<'_>>,
    ) -> Result<ComputedResult, ExpressionError> {
        let text = TemplateText { name: "expression", text: expression };
        self.computed(text, at).map_err(|e| ExpressionError {
            message: e.message,
            span: e.span,
            help: e.help,
        })
    }
}

/// Turns the result of the outermost call into an outcome.
fn answer(e: &Evaluator<'_>, call: &Call, made: CallResult) -> Result<ComputedResult> {
    let error = |message: String, help: &str| Err(e.text.error(call.span.clone(), message, help));
    match made {
        CallResult::Amount(amount) => {
            let inputs = e.inputs(&[&amount]);
            let formula = amount.entry.value.formula();
            of_amount(e, call, &amount, formula, &inputs)
        }
        CallResult::Number(at) => {
            let number = &e.numbers[at];
            match (&number.withheld, &number.answer) {
                (Some(why), _) => Ok(missing(why)),
                (None, Some(FunctionAnswer::Amount(amount))) => {
                    of_amount(e, call, amount, number.formula.clone(), &number.inputs)
                }
                (None, Some(other)) => Ok(words(other, number.formula.clone(), &number.inputs)),
                (None, None) => error(format!("`{}` has no exact value", call.name), ""),
            }
        }
        CallResult::Answer(answer, inputs) => Ok(words(&answer, String::new(), &inputs)),
        CallResult::List(list) => error(
            format!("`{}` makes {} values, and a claim is about one", call.name, list.len()),
            "put `mean`, `geomean`, `sum`, `min`, `max` or `count` around it",
        ),
        CallResult::Block(_) => error(format!("`{}` makes no value", call.name), ""),
    }
}

fn of_amount(
    e: &Evaluator<'_>,
    call: &Call,
    amount: &Amount,
    formula: String,
    inputs: &[document::Input],
) -> Result<ComputedResult> {
    if let Some(why) = &amount.withheld {
        return Ok(missing(why));
    }
    let Some(value) = exact(&amount.entry.value) else {
        let message = format!("`{}` of these values is not a number", call.name);
        return Err(e.text.error(call.span.clone(), message, formula));
    };
    let outcome = EvaluatedValue::Number { value, unit: amount.entry.value.unit.clone() };
    Ok(ComputedResult { outcome, formula, inputs: inputs.iter().map(input).collect() })
}

fn missing(why: &str) -> ComputedResult {
    ComputedResult {
        outcome: EvaluatedValue::Missing(why.to_owned()),
        formula: String::new(),
        inputs: Vec::new(),
    }
}

fn words(answer: &FunctionAnswer, formula: String, inputs: &[document::Input]) -> ComputedResult {
    let outcome = match answer {
        FunctionAnswer::Text(text) => EvaluatedValue::Text(text.clone()),
        FunctionAnswer::Place { place, of, as_of } => {
            EvaluatedValue::Rank { place: *place, of: *of, as_of: as_of.clone() }
        }
        FunctionAnswer::Amount(amount) => EvaluatedValue::Text(amount.entry.value.text()),
    };
    ComputedResult { outcome, formula, inputs: inputs.iter().map(input).collect() }
}

fn input(of: &document::Input) -> assay_claims::Input {
    assay_claims::Input {
        label: of.label.clone(),
        value: from_f64(of.value).map_or_else(String::new, |v| shown(&v)),
        unit: of.unit.clone(),
        source: of.result.clone().unwrap_or_else(|| of.source.clone()),
    }
}

//! The functions of templates: one row each, with its arguments and its implementation.

mod arithmetic;
mod cells;
mod chart;
mod compare;
mod landscape;
mod phrase;
mod profile;
mod rank;
mod statement;
mod table;
mod together;
mod value;

use super::arguments::{Arguments, Signature};
use super::document::PostBlock;
use super::error::{Result, suggestion};
use super::evaluator::{CallResult, Evaluator};
use super::expression::Call;

pub(super) use compare::{Ratio, ratio};
pub(super) use value::print;

/// Contexts in which a function can be called.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CallContext {
    /// In posts and in bindings.
    Both,
    /// In posts, but not in bindings.
    Post,
    /// In bindings of claims, but not in posts.
    Binding,
}

/// A function of templates.
pub(super) struct Function {
    pub(super) signature: Signature,
    scope: CallContext,
    /// True if the function is mapped over columns in bindings.
    by_row: bool,
    pub(super) make: for<'a> fn(&mut Evaluator<'a>, &Arguments<'a>) -> Result<CallResult>,
}

const fn function(
    name: &'static str,
    arguments: &'static [&'static str],
    unnamed: usize,
    needed: usize,
    make: for<'a> fn(&mut Evaluator<'a>, &Arguments<'a>) -> Result<CallResult>,
) -> Function {
    Function {
        signature: Signature { name, arguments, unnamed, needed, example: "" },
        scope: CallContext::Both,
        by_row: false,
        make,
    }
}

impl Function {
    const fn example(self, example: &'static str) -> Function {
        Function { signature: Signature { example, ..self.signature }, ..self }
    }

    const fn only(self, scope: CallContext) -> Function {
        Function { scope, ..self }
    }

    const fn by_row(self) -> Function {
        Function { by_row: true, ..self }
    }
}

const COMPARED: &[&str] = &["a", "than", "per", "digits"];

pub(super) const FUNCTIONS: &[Function] = &[
    function("value", &["of", "unit", "digits", "as"], 1, 1, value::value)
        .example("value(\"t5240-1.6\")")
        .by_row(),
    function("per", &["of", "per", "digits"], 2, 2, value::per)
        .example("per(\"t5240-1.6\", \"watt\")")
        .by_row(),
    function("field", &["of", "column"], 2, 2, value::field)
        .example("field(\"t5240-1.6\", \"chips\")"),
    function("better", COMPARED, 1, 2, compare::better)
        .example("better(\"t5240-1.6\", than=\"p570-4chip\")")
        .by_row(),
    function("times", COMPARED, 1, 2, compare::times)
        .example("times(\"t5240-1.6\", than=\"p570-4chip\")")
        .by_row(),
    function("speedup", COMPARED, 1, 2, compare::speedup)
        .example("speedup(\"a\", than=\"b\")")
        .by_row(),
    function("less_time", COMPARED, 1, 2, compare::less_time)
        .example("less_time(\"a\", than=\"b\")")
        .by_row(),
    function("more", COMPARED, 1, 2, compare::more)
        .example("more(\"a\", than=\"b\")")
        .only(CallContext::Binding)
        .by_row(),
    function("less", COMPARED, 1, 2, compare::less)
        .example("less(\"a\", than=\"b\")")
        .only(CallContext::Binding)
        .by_row(),
    function("difference", &["a", "than", "digits"], 1, 2, compare::difference)
        .example("difference(\"a\", than=\"b\")")
        .by_row(),
    function("rank", &["of", "in", "as_of", "per", "lower"], 1, 1, rank::rank)
        .example("rank(\"t5240-1.6\", in=\"specjbb2005\")"),
    function("statement", &["of"], 1, 1, statement::statement)
        .example("statement(better(\"t5240-1.6\", than=\"p570-4chip\"))")
        .only(CallContext::Post),
    function("mean", &["of"], 1, 1, together::mean).example("mean(\"trap-s9-*-total-tim\")"),
    function("geomean", &["of"], 1, 1, together::geomean).example("geomean([\"a\", \"b\"])"),
    function("sum", &["of"], 1, 1, together::sum).example("sum(\"dth-size-*\")"),
    function("min", &["of"], 1, 1, together::min).example("min(\"dtr-*-writes\")"),
    function("max", &["of"], 1, 1, together::max).example("max(\"dtr-*-writes\")"),
    // Names that earlier versions used for `min` and `max`.
    function("least", &["of"], 1, 1, together::min).example("min(\"dtr-*-writes\")"),
    function("greatest", &["of"], 1, 1, together::max).example("max(\"dtr-*-writes\")"),
    function("count", &["of", "above", "below"], 1, 1, together::count)
        .example("count(\"dtr-*-writes\", above=\"a\")"),
    function("share", &["a", "of", "digits"], 1, 2, arithmetic::share)
        .example("share(\"a\", of=\"b\")")
        .by_row(),
    function("ratio", &["a", "over"], 2, 2, arithmetic::ratio)
        .example("ratio(\"a\", \"b\")")
        .only(CallContext::Binding)
        .by_row(),
    function("product", &["a", "by"], 2, 2, arithmetic::product)
        .example("product(\"a\", 2)")
        .only(CallContext::Binding)
        .by_row(),
    function("number", &["value", "unit"], 2, 1, arithmetic::number)
        .example("number(64, \"KiB\")")
        .only(CallContext::Binding),
    function("missing", &["what"], 1, 1, arithmetic::missing)
        .example("missing(\"the watts of X\")")
        .only(CallContext::Binding),
    function("cell", &["table", "row", "column"], 3, 3, cells::cell)
        .example("cell(\"table 1\", row=\"x\", column=\"bops\")")
        .only(CallContext::Binding),
    function("column", &["table", "column", "rows", "except"], 2, 2, cells::column)
        .example("column(\"table 1\", \"bops\")")
        .only(CallContext::Binding),
    function("this", &["column"], 1, 1, cells::this)
        .example("this(\"bops\")")
        .only(CallContext::Binding),
    function("ordered", &["of", "column", "rows", "except"], 2, 1, cells::ordered)
        .example("ordered(\"table 1\", \"bops\")")
        .only(CallContext::Binding),
    function(
        "landscape",
        &["name", "as_of", "per", "columns", "metric", "top", "matrix"],
        1,
        0,
        landscape::landscape,
    )
    .example("landscape(\"specjbb2005-t5240\", per=\"core\")")
    .only(CallContext::Post),
    function("table", &["of", "columns", "caption"], 1, 2, table::table)
        .example("table([\"a\", \"b\"], columns=[\"system\", \"value\", \"times a\"])")
        .only(CallContext::Post),
    function(
        "chart",
        &["kind", "of", "landscape", "as_of", "run", "per", "names", "title"],
        1,
        1,
        chart::chart,
    )
    .example("chart(\"bars\", landscape=\"specjbb2005-t5240\")")
    .only(CallContext::Post),
    function("profile", &["of", "than", "side", "top", "title"], 1, 1, profile::profile)
        .example("profile(\"sweep@level=3\", than=\"sweep@level=1\")")
        .only(CallContext::Post),
    function("configuration", &["of"], 1, 1, table::configuration)
        .example("configuration([\"t5240-1.6\"])")
        .only(CallContext::Post),
    function("disclosure", &[], 0, 0, |_, _| Ok(CallResult::Block(PostBlock::Disclosure)))
        .example("disclosure()")
        .only(CallContext::Post),
    function("findings", &[], 0, 0, |_, _| Ok(CallResult::Block(PostBlock::Findings)))
        .example("findings()")
        .only(CallContext::Post),
];

impl<'a> Evaluator<'a> {
    /// Evaluates a call with its arguments.
    pub(super) fn call(&mut self, call: &'a Call) -> Result<CallResult> {
        let bound = self.binding.is_some();
        let other = if bound { CallContext::Post } else { CallContext::Binding };
        let named = FUNCTIONS.iter().find(|f| f.signature.name == call.name);
        let Some(function) = named.filter(|f| f.scope != other) else {
            let here = FUNCTIONS.iter().filter(|f| f.scope != other);
            let known: Vec<&str> = here.map(|f| f.signature.name).collect();
            let (message, help) = match (named, bound) {
                (None, _) => (
                    format!("there is no function `{}`", call.name),
                    suggestion(&call.name, &known),
                ),
                (Some(_), true) => (
                    format!("`{}` only works in posts, not in bindings", call.name),
                    format!("use one of {}", known.join(", ")),
                ),
                (Some(_), false) => (
                    format!("`{}` only works in bindings of claims, not in posts", call.name),
                    "in a post, name quoted results and runs".to_owned(),
                ),
            };
            return Err(self.text.error(call.name_span.clone(), message, help));
        };
        let arguments = Arguments::bind(self.text, call, function.signature)?;
        if bound && function.by_row {
            return self.by_row(function, &arguments);
        }
        (function.make)(self, &arguments)
    }

    /// Calls a function once, or once for each row if an argument is a column.
    fn by_row(&mut self, function: &Function, arguments: &Arguments<'a>) -> Result<CallResult> {
        let mut rows: Option<usize> = None;
        for inner in arguments.calls() {
            let operand = match self.call(inner)? {
                CallResult::List(list) => {
                    if let Some(before) = rows.filter(|n| *n != list.len()) {
                        let message = format!("{before} rows against {}", list.len());
                        let help = "both columns need a value in the same rows";
                        return Err(self.text.error(inner.span.clone(), message, help));
                    }
                    rows = Some(list.len());
                    list
                }
                made => vec![self.operand(made, inner)?],
            };
            self.operands.insert(inner.span.start, operand);
        }
        let Some(rows) = rows else { return (function.make)(self, arguments) };
        let mut out = Vec::with_capacity(rows);
        for row in 0..rows {
            self.row = row;
            let made = (function.make)(self, arguments)?;
            out.push(self.operand(made, arguments.call())?);
        }
        self.row = 0;
        Ok(CallResult::List(out))
    }
}

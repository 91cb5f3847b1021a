//! The functions of templates: a row each, with what it takes and what makes it.

mod arithmetic;
mod block;
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
use super::error::{PostError, meant};
use super::evaluator::{Evaluator, Made};
use super::expression::Call;

pub(super) use compare::{Ratio, ratio};
pub(super) use value::print;

/// Where a function can be called.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Scope {
    /// In posts and in bindings.
    Both,
    /// In posts.
    Post,
    /// In bindings of claims.
    Binding,
}

/// A function.
pub(super) struct Function {
    pub(super) signature: Signature,
    scope: Scope,
    /// True if it maps over columns in bindings.
    by_row: bool,
    pub(super) make: for<'a> fn(&mut Evaluator<'a>, &Arguments<'a>) -> Result<Made, PostError>,
}

const fn function(
    name: &'static str,
    arguments: &'static [&'static str],
    unnamed: usize,
    needed: usize,
    example: &'static str,
    make: for<'a> fn(&mut Evaluator<'a>, &Arguments<'a>) -> Result<Made, PostError>,
) -> Function {
    Function {
        signature: Signature { name, arguments, unnamed, needed, example },
        scope: Scope::Both,
        by_row: false,
        make,
    }
}

impl Function {
    const fn only(self, scope: Scope) -> Function {
        Function { scope, ..self }
    }

    const fn by_row(self) -> Function {
        Function { by_row: true, ..self }
    }
}

const COMPARED: &[&str] = &["a", "than", "per", "digits"];

/// Every function.
pub(super) const FUNCTIONS: &[Function] = &[
    function("value", &["of", "unit", "digits", "as"], 1, 1, "value(\"t5240-1.6\")", value::value)
        .by_row(),
    function("per", &["of", "per", "digits"], 2, 2, "per(\"t5240-1.6\", \"watt\")", value::per)
        .by_row(),
    function("field", &["of", "column"], 2, 2, "field(\"t5240-1.6\", \"chips\")", value::field),
    function(
        "better",
        COMPARED,
        1,
        2,
        "better(\"t5240-1.6\", than=\"p570-4chip\")",
        compare::better,
    )
    .by_row(),
    function("times", COMPARED, 1, 2, "times(\"t5240-1.6\", than=\"p570-4chip\")", compare::times)
        .by_row(),
    function("speedup", COMPARED, 1, 2, "speedup(\"a\", than=\"b\")", compare::speedup).by_row(),
    function("less_time", COMPARED, 1, 2, "less_time(\"a\", than=\"b\")", compare::less_time)
        .by_row(),
    function("more", COMPARED, 1, 2, "more(\"a\", than=\"b\")", compare::more)
        .only(Scope::Binding)
        .by_row(),
    function("less", COMPARED, 1, 2, "less(\"a\", than=\"b\")", compare::less)
        .only(Scope::Binding)
        .by_row(),
    function(
        "difference",
        &["a", "than", "digits"],
        1,
        2,
        "difference(\"a\", than=\"b\")",
        compare::difference,
    )
    .by_row(),
    function(
        "rank",
        &["of", "in", "as_of", "per", "lower"],
        1,
        1,
        "rank(\"t5240-1.6\", in=\"specjbb2005\")",
        rank::rank,
    ),
    function(
        "statement",
        &["of"],
        1,
        1,
        "statement(better(\"t5240-1.6\", than=\"p570-4chip\"))",
        statement::statement,
    )
    .only(Scope::Post),
    function("mean", &["of"], 1, 1, "mean(\"trap-s9-*-total-tim\")", together::mean),
    function("geomean", &["of"], 1, 1, "geomean([\"a\", \"b\"])", together::geomean),
    function("sum", &["of"], 1, 1, "sum(\"dth-size-*\")", together::sum),
    function("min", &["of"], 1, 1, "min(\"dtr-*-writes\")", together::min),
    function("max", &["of"], 1, 1, "max(\"dtr-*-writes\")", together::max),
    // The same, as earlier versions called them.
    function("least", &["of"], 1, 1, "min(\"dtr-*-writes\")", together::min),
    function("greatest", &["of"], 1, 1, "max(\"dtr-*-writes\")", together::max),
    function(
        "count",
        &["of", "above", "below"],
        1,
        1,
        "count(\"dtr-*-writes\", above=\"a\")",
        together::count,
    ),
    function("share", &["a", "of", "digits"], 1, 2, "share(\"a\", of=\"b\")", arithmetic::share)
        .by_row(),
    function("ratio", &["a", "over"], 2, 2, "ratio(\"a\", \"b\")", arithmetic::ratio)
        .only(Scope::Binding)
        .by_row(),
    function("product", &["a", "by"], 2, 2, "product(\"a\", 2)", arithmetic::product)
        .only(Scope::Binding)
        .by_row(),
    function("number", &["value", "unit"], 2, 1, "number(64, \"KiB\")", arithmetic::number)
        .only(Scope::Binding),
    function("missing", &["what"], 1, 1, "missing(\"the watts of X\")", arithmetic::missing)
        .only(Scope::Binding),
    function(
        "cell",
        &["table", "row", "column"],
        3,
        3,
        "cell(\"table 1\", row=\"x\", column=\"bops\")",
        cells::cell,
    )
    .only(Scope::Binding),
    function(
        "column",
        &["table", "column", "rows", "except"],
        2,
        2,
        "column(\"table 1\", \"bops\")",
        cells::column,
    )
    .only(Scope::Binding),
    function("this", &["column"], 1, 1, "this(\"bops\")", cells::this).only(Scope::Binding),
    function(
        "ordered",
        &["of", "column", "rows", "except"],
        2,
        1,
        "ordered(\"table 1\", \"bops\")",
        cells::ordered,
    )
    .only(Scope::Binding),
    function(
        "landscape",
        &["name", "as_of", "per", "columns", "metric", "top", "matrix"],
        1,
        0,
        "landscape(\"specjbb2005-t5240\", per=\"core\")",
        landscape::landscape,
    )
    .only(Scope::Post),
    function(
        "table",
        &["of", "columns", "caption"],
        1,
        2,
        "table([\"a\", \"b\"], columns=[\"system\", \"value\", \"times a\"])",
        table::table,
    )
    .only(Scope::Post),
    function(
        "chart",
        &["kind", "of", "landscape", "as_of", "run", "per", "names", "title"],
        1,
        1,
        "chart(\"bars\", landscape=\"specjbb2005-t5240\")",
        chart::chart,
    )
    .only(Scope::Post),
    function(
        "profile",
        &["of", "than", "side", "top", "title"],
        1,
        1,
        "profile(\"sweep@level=3\", than=\"sweep@level=1\")",
        profile::profile,
    )
    .only(Scope::Post),
    function(
        "configuration",
        &["of"],
        1,
        1,
        "configuration([\"t5240-1.6\"])",
        table::configuration,
    )
    .only(Scope::Post),
    function("disclosure", &[], 0, 0, "disclosure()", block::disclosure).only(Scope::Post),
    function("findings", &[], 0, 0, "findings()", block::findings).only(Scope::Post),
];

impl<'a> Evaluator<'a> {
    /// What a call makes.
    pub(super) fn call(&mut self, call: &'a Call) -> Result<Made, PostError> {
        let bound = self.binding.is_some();
        let other = if bound { Scope::Post } else { Scope::Binding };
        let named = FUNCTIONS.iter().find(|f| f.signature.name == call.name);
        let Some(function) = named.filter(|f| f.scope != other) else {
            let here = FUNCTIONS.iter().filter(|f| f.scope != other);
            let known: Vec<&str> = here.map(|f| f.signature.name).collect();
            let (message, help) = match (named, bound) {
                (None, _) => {
                    (format!("there is no function `{}`", call.name), meant(&call.name, &known))
                }
                (Some(_), true) => (
                    format!("`{}` stands in posts, not in bindings", call.name),
                    format!("known are {}", known.join(", ")),
                ),
                (Some(_), false) => (
                    format!("`{}` stands in bindings of claims, not in posts", call.name),
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
    fn by_row(
        &mut self,
        function: &Function,
        arguments: &Arguments<'a>,
    ) -> Result<Made, PostError> {
        let mut rows: Option<usize> = None;
        for inner in arguments.calls() {
            let operand = match self.call(inner)? {
                Made::List(list) => {
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
        Ok(Made::List(out))
    }
}

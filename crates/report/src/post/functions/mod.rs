//! The functions of templates: a row each, with what it takes and what makes it.

mod block;
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

/// A function.
pub(super) struct Function {
    pub(super) signature: Signature,
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
    Function { signature: Signature { name, arguments, unnamed, needed, example }, make }
}

const COMPARED: &[&str] = &["a", "than", "per", "digits"];

/// Every function.
pub(super) const FUNCTIONS: &[Function] = &[
    function("value", &["of", "unit", "digits"], 1, 1, "value(\"t5240-1.6\")", value::value),
    function("per", &["of", "per", "digits"], 2, 2, "per(\"t5240-1.6\", \"watt\")", value::per),
    function("field", &["of", "column"], 2, 2, "field(\"t5240-1.6\", \"chips\")", value::field),
    function(
        "better",
        COMPARED,
        1,
        2,
        "better(\"t5240-1.6\", than=\"p570-4chip\")",
        compare::better,
    ),
    function("times", COMPARED, 1, 2, "times(\"t5240-1.6\", than=\"p570-4chip\")", compare::times),
    function("speedup", COMPARED, 1, 2, "speedup(\"a\", than=\"b\")", compare::speedup),
    function("less_time", COMPARED, 1, 2, "less_time(\"a\", than=\"b\")", compare::less_time),
    function(
        "difference",
        &["a", "than", "digits"],
        1,
        2,
        "difference(\"a\", than=\"b\")",
        compare::difference,
    ),
    function(
        "rank",
        &["of", "in", "as_of", "per"],
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
    ),
    function("mean", &["of"], 1, 1, "mean(\"trap-s9-*-total-tim\")", together::mean),
    function("sum", &["of"], 1, 1, "sum(\"dth-size-*\")", together::sum),
    function("min", &["of"], 1, 1, "min(\"dtr-*-writes\")", together::min),
    function("max", &["of"], 1, 1, "max(\"dtr-*-writes\")", together::max),
    // The same, as earlier versions called them.
    function("least", &["of"], 1, 1, "min(\"dtr-*-writes\")", together::min),
    function("greatest", &["of"], 1, 1, "max(\"dtr-*-writes\")", together::max),
    function(
        "landscape",
        &["name", "as_of", "per", "columns", "metric", "top", "matrix"],
        1,
        0,
        "landscape(\"specjbb2005-t5240\", per=\"core\")",
        landscape::landscape,
    ),
    function(
        "table",
        &["of", "columns", "caption"],
        1,
        2,
        "table([\"a\", \"b\"], columns=[\"system\", \"value\", \"times a\"])",
        table::table,
    ),
    function(
        "chart",
        &["kind", "of", "landscape", "as_of", "run", "per", "names", "title"],
        1,
        1,
        "chart(\"bars\", landscape=\"specjbb2005-t5240\")",
        chart::chart,
    ),
    function(
        "profile",
        &["of", "than", "side", "top", "title"],
        1,
        1,
        "profile(\"sweep@level=3\", than=\"sweep@level=1\")",
        profile::profile,
    ),
    function(
        "configuration",
        &["of"],
        1,
        1,
        "configuration([\"t5240-1.6\"])",
        table::configuration,
    ),
    function("disclosure", &[], 0, 0, "disclosure()", block::disclosure),
    function("findings", &[], 0, 0, "findings()", block::findings),
];

impl<'a> Evaluator<'a> {
    /// What a call makes.
    pub(super) fn call(&mut self, call: &'a Call) -> Result<Made, PostError> {
        let Some(function) = FUNCTIONS.iter().find(|f| f.signature.name == call.name) else {
            let known: Vec<&str> = FUNCTIONS.iter().map(|f| f.signature.name).collect();
            let message = format!("there is no function `{}`", call.name);
            return Err(self.text.error(
                call.name_span.clone(),
                message,
                meant(&call.name, &known),
            ));
        };
        let arguments = Arguments::bind(self.text, call, function.signature)?;
        (function.make)(self, &arguments)
    }
}

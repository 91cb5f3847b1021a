//! `statement`: the whole sentence of a number, made from the data alone.

use super::value::print;
use crate::post::arguments::Arguments;
use crate::post::document::ComputedNumber;
use crate::post::error::Result;
use crate::post::evaluator::{CallResult, Evaluator};
use crate::post::expression::{Expression, ExpressionKind};

/// Prints the sentence of a number: `Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz) is 5% better
/// than IBM Power 570 (4 chips, 4.7 GHz) in SPECjbb2005 bops.`
pub(super) fn statement<'a>(e: &mut Evaluator<'a>, a: &Arguments<'a>) -> Result<CallResult> {
    const HELP: &str = "for example `statement(better(\"t5240-1.6\", than=\"p570-4chip\"))`";
    let Some(Expression { what: ExpressionKind::Call(call), .. }) = a.get("of") else {
        return Err(a.error("of", "`statement` needs a comparison", HELP));
    };
    let made = match e.call(call)? {
        CallResult::Amount(amount) => print(e, call, &amount),
        made => made,
    };
    let CallResult::Number(at) = made else {
        return Err(a.error("of", format!("`{}` states nothing", call.name), HELP));
    };
    let n = &mut e.numbers[at];
    if n.sentence.is_empty() || n.function == "field" {
        return Err(a.error("of", format!("`{}` states nothing", call.name), HELP));
    }
    n.is_statement = true;
    if n.withheld.is_none() && n.kind == "derived from measured and quoted" {
        n.unsupported("one side was measured and the other is quoted");
    }
    n.text = format!("{}.", n.sentence);
    Ok(made)
}

/// Position of the metric in a sentence.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum MetricPosition {
    /// `A is 5% better than B in M`.
    In,
    /// `A has 2.1 times the M of B`.
    Of,
    /// `A takes 54% less time than B (M)`.
    Time,
}

/// A comparison as the parts of its sentence.
pub(super) struct Clause {
    pub(super) form: MetricPosition,
    /// Words between subject and baseline: `is 5% better than`.
    pub(super) verb: String,
    /// Words at the end: an interval.
    pub(super) detail: String,
    pub(super) verdict: &'static str,
}

impl Clause {
    /// Creates the clause of two sides if the data do not show that one is ahead. `shown` is the
    /// number with its interval.
    pub(super) fn unclear(same: bool, shown: &str) -> Self {
        let (verb, verdict) = if same {
            ("is equivalent to", "equivalent")
        } else {
            ("is not clearly different from", "not clearly different")
        };
        Clause {
            form: MetricPosition::In,
            verb: verb.to_owned(),
            detail: format!(" ({shown})"),
            verdict,
        }
    }

    pub(super) fn equal() -> Self {
        let (detail, verdict) = (String::new(), "equal");
        Clause { form: MetricPosition::In, verb: "is equal to".to_owned(), detail, verdict }
    }

    /// Sets the sentence and the verdict of a number.
    pub(super) fn state(self, n: &mut ComputedNumber) {
        let Clause { form, verb, detail, verdict } = self;
        let (of, subject) = (n.facts.quantity(), &n.facts.subject);
        let baseline = n.facts.baseline.as_deref().unwrap_or_default();
        n.sentence = match (form, of.is_empty()) {
            (MetricPosition::Of, false) => {
                format!("{subject} {verb} the {of} of {baseline}{detail}")
            }
            (MetricPosition::Of, true) => {
                format!("{subject} {verb} the value of {baseline}{detail}")
            }
            (_, true) => format!("{subject} {verb} {baseline}{detail}"),
            (MetricPosition::In, _) => format!("{subject} {verb} {baseline} in {of}{detail}"),
            (MetricPosition::Time, _) => format!("{subject} {verb} {baseline} ({of}){detail}"),
        };
        n.facts.verdict = Some(verdict);
    }
}

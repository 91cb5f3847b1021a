//! A post as data: every computed number, every quoted row that it rests on, and all of it as JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use assay_model::{Interval, SCHEMA_VERSION};
use assay_rules::quoted::columns;
use serde::Serialize;
use serde_json::json;

use super::document::{ComputedNumber, Facts, Input, Post, UsedResult};
use crate::csv::Rows;

/// The columns of computed numbers, and what each holds.
type Column = (&'static str, fn(&Post, &ComputedNumber) -> String);

const NUMBERS: [Column; 19] = [
    ("anchor", |_, n| n.anchor.clone()),
    ("function", |_, n| n.function.clone()),
    ("text", |_, n| n.text.clone()),
    ("value", |_, n| number(n.value)),
    ("unit", |_, n| n.unit.clone()),
    ("kind", |_, n| n.kind.clone()),
    ("low", |_, n| number(n.interval.map(|i| i.low))),
    ("high", |_, n| number(n.interval.map(|i| i.high))),
    ("formula", |_, n| n.formula.clone()),
    ("inputs", |_, n| joined(n.inputs.iter().filter_map(|i| i.result.as_deref()))),
    ("sources", |_, n| joined(n.inputs.iter().map(|i| i.source.as_str()))),
    ("findings", |post, n| {
        let found: Vec<&str> =
            n.findings.iter().map(|i| post.findings[*i].finding.id.as_str()).collect();
        found.join(";")
    }),
    ("withheld", |_, n| n.withheld.clone().unwrap_or_default()),
    ("line", |_, n| n.line.to_string()),
    ("subject", |_, n| n.facts.subject.clone()),
    ("baseline", |_, n| n.facts.baseline.clone().unwrap_or_default()),
    ("metric", |_, n| n.facts.metric.clone()),
    ("denominator", |_, n| n.facts.denominator.clone().unwrap_or_default()),
    ("certified", |post, n| post.is_certified(n).to_string()),
];

fn number(value: Option<f64>) -> String {
    crate::csv::number(value.filter(|v| v.is_finite()))
}

/// The texts with `;` between them, neighbours that are the same once.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = texts.collect();
    all.dedup();
    all.join(";")
}

/// One row for each computed number.
pub fn numbers_csv(post: &Post) -> String {
    let mut out = Rows::new();
    out.row(&NUMBERS.map(|(name, _)| name));
    for n in &post.numbers {
        out.row(&NUMBERS.map(|(_, field)| field(post, n)));
    }
    out.text()
}

/// The quoted rows that the post rests on, with all their columns: a file that `published` folders
/// take.
pub fn results_csv(post: &Post) -> String {
    let more: BTreeSet<&String> = post.results.iter().flat_map(|u| u.result.more.keys()).collect();
    let mut names: Vec<&str> = columns().chain(["source_in_words"]).collect();
    names.extend(more.iter().map(|name| name.as_str()));
    let mut out = Rows::new();
    out.row(&names);
    for u in &post.results {
        let field = |column: &&str| match *column {
            "source_in_words" => u.source.clone(),
            other => u.result.field(other).map(Cow::into_owned).unwrap_or_default(),
        };
        out.row(&names.iter().map(field).collect::<Vec<_>>());
    }
    out.text()
}

/// A sentence that is computed as a whole.
#[derive(Serialize)]
struct Statement<'a> {
    anchor: &'a str,
    text: &'a str,
    function: &'a str,
    #[serde(flatten)]
    facts: &'a Facts,
    value: Option<f64>,
    unit: &'a str,
    interval: Option<Interval>,
    formula: &'a str,
    inputs: &'a [Input],
    line: usize,
}

impl<'a> Statement<'a> {
    fn of(n: &'a ComputedNumber) -> Self {
        Statement {
            anchor: &n.anchor,
            text: &n.text,
            function: &n.function,
            facts: &n.facts,
            value: n.value,
            unit: &n.unit,
            interval: n.interval,
            formula: &n.formula,
            inputs: &n.inputs,
            line: n.line,
        }
    }
}

/// Everything, for programs.
///
/// # Errors
/// None that these types can cause.
pub fn json(post: &Post) -> serde_json::Result<String> {
    let result = |u: &UsedResult| {
        json!({
            "id": u.result.id,
            "label": u.label,
            "metric": u.result.metric,
            "value": u.result.value,
            "unit": u.result.unit,
            "kind": "quoted",
            "as_of": u.result.as_of_date,
            "source": u.source,
        })
    };
    serde_json::to_string_pretty(&json!({
        "schema_version": SCHEMA_VERSION,
        "assay": post.assay_version,
        "title": post.front.title,
        "as_of": post.front.as_of,
        "statements": post.statements().map(Statement::of).collect::<Vec<_>>(),
        "numbers": post.numbers,
        "findings": post.findings,
        "results": post.results.iter().map(result).collect::<Vec<_>>(),
        "runs": post.runs.values().map(|v| &v.summary).collect::<Vec<_>>(),
        "trademarks": post.trademarks,
        "typed": post.typed,
        "claims": post.claims,
        "banner": post.banner(),
        "fair_use": post.fair_use,
        "template": post.source,
    }))
}

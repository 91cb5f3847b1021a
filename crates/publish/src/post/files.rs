//! Writes a post as data: every computed number and every quoted row as CSV, and everything as
//! JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;

use assay_model::{RunSummary, SCHEMA_VERSION};
use assay_quoted::pack::PackVerdict;
use assay_quoted::quoted::columns;
use serde::Serialize;

use super::answer::Claim;
use super::document::{ComputedNumber, Post, PostFinding, TypedQuantity, UsedResult};
use assay_report::formats::csv::Rows;

/// A column of computed numbers: its title, and the function that formats its field.
type NumberColumn = (&'static str, fn(&Post, &ComputedNumber) -> String);

const NUMBERS: [NumberColumn; 19] = [
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
    assay_report::formats::csv::number(value.filter(|v| v.is_finite()))
}

/// Joins texts with `;`; neighbours that are equal appear once.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut all: Vec<&str> = texts.collect();
    all.dedup();
    all.join(";")
}

/// Writes one row for each computed number.
pub fn numbers_csv(post: &Post) -> String {
    let mut out = Rows::default();
    out.row(&NUMBERS.map(|(name, _)| name));
    for n in &post.numbers {
        out.row(&NUMBERS.map(|(_, field)| field(post, n)));
    }
    out.text()
}

/// Writes the quoted rows that the post rests on, with all their columns. The file can be put into
/// a `published` folder.
pub fn results_csv(post: &Post) -> String {
    let more: BTreeSet<&String> = post.results.iter().flat_map(|u| u.result.more.keys()).collect();
    let mut names: Vec<&str> = columns().chain(["source_in_words"]).collect();
    names.extend(more.iter().map(|name| name.as_str()));
    let mut out = Rows::default();
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

/// A quoted result that the post rests on.
#[derive(Serialize)]
struct QuotedRow<'a> {
    id: &'a str,
    label: &'a str,
    metric: &'a str,
    value: f64,
    unit: &'a str,
    kind: &'static str,
    as_of: Option<&'a str>,
    source: &'a str,
}

impl<'a> QuotedRow<'a> {
    fn from_result(used: &'a UsedResult) -> Self {
        QuotedRow {
            id: &used.result.id,
            label: &used.label,
            metric: &used.result.metric,
            value: used.result.value,
            unit: &used.result.unit,
            kind: "quoted",
            as_of: used.result.as_of_date.as_deref(),
            source: &used.source,
        }
    }
}

/// The JSON document of a post.
#[derive(Serialize)]
struct PostJson<'a> {
    schema_version: u32,
    assay: &'a str,
    title: &'a str,
    as_of: Option<&'a str>,
    statements: Vec<&'a ComputedNumber>,
    numbers: &'a [ComputedNumber],
    findings: &'a [PostFinding],
    results: Vec<QuotedRow<'a>>,
    runs: Vec<&'a RunSummary>,
    trademarks: &'a [String],
    typed: &'a [TypedQuantity],
    claims: &'a [Claim],
    banner: String,
    fair_use: Option<&'a PackVerdict>,
    template: &'a str,
}

/// Writes the whole post as JSON, for programs.
///
/// # Errors
/// These types cause no error.
pub fn json(post: &Post) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&PostJson {
        schema_version: SCHEMA_VERSION,
        assay: &post.assay_version,
        title: &post.front.title,
        as_of: post.front.as_of.as_deref(),
        statements: post.statements().collect(),
        numbers: &post.numbers,
        findings: &post.findings,
        results: post.results.iter().map(QuotedRow::from_result).collect(),
        runs: post.runs.values().map(|v| &v.summary).collect(),
        trademarks: &post.trademarks,
        typed: &post.typed,
        claims: &post.claims,
        banner: post.banner(),
        fair_use: post.fair_use.as_ref(),
        template: &post.source,
    })
}

//! A post as data: every computed number, every quoted row that it rests on, and all of it as JSON.

use assay_model::{Interval, SCHEMA_VERSION};
use serde::Serialize;

use super::answer::Claim;
use super::document::{ComputedNumber, Facts, Input, Post, PostFinding, TypedQuantity};
use crate::csv::Rows;

/// One row for each computed number.
pub fn numbers_csv(post: &Post) -> String {
    let mut out = Rows::new();
    let head = [
        "anchor",
        "function",
        "text",
        "value",
        "unit",
        "kind",
        "low",
        "high",
        "formula",
        "inputs",
        "sources",
        "findings",
        "withheld",
        "line",
        "subject",
        "baseline",
        "metric",
        "denominator",
        "certified",
    ];
    out.row(&head.map(str::to_owned));
    for n in &post.numbers {
        let number =
            |v: Option<f64>| v.filter(|v| v.is_finite()).map(|v| v.to_string()).unwrap_or_default();
        let mut ids: Vec<&str> = n.inputs.iter().filter_map(|i| i.result.as_deref()).collect();
        ids.dedup();
        let mut sources: Vec<&str> = n.inputs.iter().map(|i| i.source.as_str()).collect();
        sources.dedup();
        let found: Vec<&str> = n
            .findings
            .iter()
            .filter_map(|i| Some(post.findings.get(*i)?.finding.id.as_str()))
            .collect();
        out.row(&[
            n.anchor.clone(),
            n.function.clone(),
            n.text.clone(),
            number(n.value),
            n.unit.clone(),
            n.kind.clone(),
            number(n.interval.map(|i| i.low)),
            number(n.interval.map(|i| i.high)),
            n.formula.clone(),
            ids.join(";"),
            sources.join(";"),
            found.join(";"),
            n.withheld.clone().unwrap_or_default(),
            n.line.to_string(),
            n.facts.subject.clone(),
            n.facts.baseline.clone().unwrap_or_default(),
            n.facts.metric.clone(),
            n.facts.denominator.clone().unwrap_or_default(),
            post.is_certified(n).to_string(),
        ]);
    }
    out.text()
}

/// The columns of quoted results that every row has.
const COLUMNS: [&str; 27] = [
    "id",
    "source",
    "benchmark",
    "metric",
    "unit",
    "higher_is_better",
    "system",
    "vendor",
    "chips",
    "cores",
    "threads",
    "instances",
    "ghz",
    "processor",
    "memory_gb",
    "rack_units",
    "watts",
    "price",
    "currency",
    "os",
    "compiler_or_jvm",
    "config_note",
    "value",
    "value_per_jvm",
    "as_of_date",
    "result",
    "source_in_words",
];

/// The quoted rows that the post rests on, with all their columns: a file that `published` folders
/// take.
pub fn results_csv(post: &Post) -> String {
    let mut more: Vec<&String> = post.results.iter().flat_map(|u| u.result.more.keys()).collect();
    more.sort();
    more.dedup();
    let mut out = Rows::new();
    out.row(
        &COLUMNS
            .iter()
            .map(|c| (*c).to_owned())
            .chain(more.iter().map(|m| (*m).clone()))
            .collect::<Vec<_>>(),
    );
    for u in &post.results {
        let field = |column: &str| match column {
            "source_in_words" => u.source.clone(),
            other => u.result.field(other).map(std::borrow::Cow::into_owned).unwrap_or_default(),
        };
        out.row(
            &COLUMNS
                .iter()
                .copied()
                .chain(more.iter().map(|m| m.as_str()))
                .map(field)
                .collect::<Vec<_>>(),
        );
    }
    out.text()
}

#[derive(Serialize)]
struct Everything<'a> {
    schema_version: u32,
    assay: &'a str,
    title: &'a str,
    as_of: Option<&'a str>,
    statements: Vec<Statement<'a>>,
    numbers: &'a [ComputedNumber],
    findings: &'a [PostFinding],
    results: Vec<Row<'a>>,
    runs: Vec<&'a assay_model::RunSummary>,
    trademarks: &'a [String],
    typed: &'a [TypedQuantity],
    claims: &'a [Claim],
    banner: String,
    fair_use: Option<&'a assay_rules::pack::PackVerdict>,
    template: &'a str,
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

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    label: &'a str,
    metric: &'a str,
    value: f64,
    unit: &'a str,
    kind: &'static str,
    as_of: Option<&'a str>,
    source: &'a str,
}

/// Everything, for programs.
///
/// # Errors
/// None that these types can cause.
pub fn json(post: &Post) -> serde_json::Result<String> {
    let results = post
        .results
        .iter()
        .map(|u| Row {
            id: &u.result.id,
            label: &u.label,
            metric: &u.result.metric,
            value: u.result.value,
            unit: &u.result.unit,
            kind: "quoted",
            as_of: u.result.as_of_date.as_deref(),
            source: &u.source,
        })
        .collect();
    serde_json::to_string_pretty(&Everything {
        schema_version: SCHEMA_VERSION,
        assay: &post.assay_version,
        title: &post.front.title,
        as_of: post.front.as_of.as_deref(),
        statements: post.statements().map(Statement::of).collect(),
        numbers: &post.numbers,
        findings: &post.findings,
        results,
        runs: post.runs.values().map(|v| &v.summary).collect(),
        trademarks: &post.trademarks,
        typed: &post.typed,
        claims: &post.claims,
        banner: post.banner(),
        fair_use: post.fair_use.as_ref(),
        template: &post.source,
    })
}

//! The sources of a post: its dates, the quoted results, the runs, the fair-use rules and the
//! findings.

use assay_quoted::pack::{PackVerdict, RuleResult};

use super::document::{Post, PostBlock, PostFinding, RunLocation};
use super::files::results_csv;
use assay_report::document::table::TableRow;
use assay_report::document::{
    DocumentPart, FindingSubject, Outputs, Parts, ShownFinding, Table, Text, Tone, cell, text,
};

/// Returns the dates, every result with its source, and the trademarks; and the findings, unless
/// the post places them itself.
pub(super) fn disclosure(post: &Post) -> Parts {
    let mut out = Parts::default();
    out.say(dated(post));
    if !post.results.is_empty() {
        out.heading("", "Quoted results");
        out.table(results(post));
        let label = "These rows with all their columns (CSV)".to_owned();
        let name = "results.csv".to_owned();
        out.on(Outputs::Page, DocumentPart::File { name, label, text: results_csv(post) });
    }
    if !post.runs.is_empty() {
        out.heading("", "Our own runs");
        out.table(runs(post));
    }
    if !post.front.sources.is_empty() {
        out.heading("", "Sources");
        out.push(DocumentPart::List(
            Tone::Plain,
            post.front.sources.iter().map(|s| text(s.clone())).collect(),
        ));
    }
    if !post.trademarks.is_empty() {
        out.heading("", "Trademarks");
        for t in &post.trademarks {
            out.say(t.clone());
        }
    }
    if let Some(v) = &post.fair_use {
        out.heading("", "Fair use");
        out.table(fair_use(v));
    }
    if !post.places(|b| matches!(b, PostBlock::Findings)) {
        out.heading("", "What the checks found");
        out.append(findings(post));
    }
    out
}

/// Returns the findings with the numbers that carry them.
pub(super) fn findings(post: &Post) -> Parts {
    let found = |(i, f): (usize, &PostFinding)| ShownFinding {
        finding: f.finding.clone(),
        about: FindingSubject::Numbers(f.numbers.clone()),
        id: Some(format!("f{}", i + 1)),
    };
    let mut out = Parts::default();
    out.push(DocumentPart::Findings(post.findings.iter().enumerate().map(found).collect()));
    out
}

/// Returns the quantities that the author typed.
pub(super) fn typed(post: &Post) -> Parts {
    let mut out = Parts::default();
    if post.typed.is_empty() {
        return out;
    }
    let caption = "Quantities that no function printed, marked † in the text";
    let mut table =
        Table::captioned(caption).word("typed").word("in").word("line:column").word("sentence");
    for t in &post.typed {
        let spot = match (t.line, t.column) {
            (Some(line), Some(column)) => format!("{line}:{column}"),
            _ => String::new(),
        };
        table.row(vec![cell(t.text.clone()), cell(t.place), cell(spot), cell(t.sentence.clone())]);
    }
    out.table(table);
    out
}

/// Returns sentences with the date, the retrieval and the licensee.
fn dated(post: &Post) -> String {
    let mut out = Vec::new();
    if let Some(day) = &post.front.as_of {
        out.push(format!("Statements are true as of {day}, by the results listed here."));
    } else {
        out.push("The post has no \"as of\" date.".to_owned());
    }
    if let Some(day) = &post.front.retrieved {
        out.push(format!("The quoted results were retrieved on {day}."));
    }
    if let Some(who) = &post.front.licensee {
        out.push(format!("The quoted results were measured under the licence of {who}."));
    }
    out.join(" ")
}

fn results(post: &Post) -> Table {
    let mut table =
        Table::captioned("Every quoted result that this post rests on, as its source printed it")
            .words(["id", "system", "metric"])
            .number("value")
            .words(["kind", "as of", "source"]);
    for u in &post.results {
        let r = &u.result;
        let unit = if r.unit == "score" { "" } else { r.unit.as_str() };
        let cells = vec![
            cell(Text::default().code(r.id.clone())),
            cell(u.label.clone()),
            cell(r.metric.clone()),
            cell(format!("{} {unit}", r.value_text()).trim_end()),
            cell("quoted"),
            cell(r.as_of_date.as_deref().unwrap_or("not recorded")),
            cell(u.source.clone()),
        ];
        table.rows.push(TableRow { id: format!("q-{}", r.id), cells, ..TableRow::default() });
    }
    table
}

fn runs(post: &Post) -> Table {
    let caption = match &post.runs_at {
        RunLocation::Beside => {
            "Every run that this post rests on; each is next to this page as a file named by its id"
        }
        RunLocation::Pages(_) => {
            "Every run that this post rests on; each has a page of its own with its files"
        }
    };
    let mut table = Table::captioned(caption)
        .words(["run", "experiment", "workload", "host", "started (UTC)"])
        .number("trials that count")
        .word("kind");
    for (alias, view) in &post.runs {
        let s = &view.summary;
        let counted = view.records.iter().filter(|r| r.counts()).count();
        let started = s.started_at.replace('T', " ");
        let cells = vec![
            cell(match &post.runs_at {
                RunLocation::Beside => Text::default().code(s.id.to_string()),
                RunLocation::Pages(prefix) => {
                    Text::default().link(format!("{prefix}/{}/index.html", s.id), s.id.to_string())
                }
            }),
            cell(s.experiment.clone()),
            cell(s.workload.clone()),
            cell(s.host.clone()),
            cell(started.trim_end_matches('Z')),
            cell(counted.to_string()),
            cell("measured"),
        ];
        table.rows.push(TableRow { id: format!("r-{alias}"), cells, ..TableRow::default() });
    }
    table
}

/// Returns the requirements of the fair-use rules, rule by rule, and how the post meets them.
fn fair_use(v: &PackVerdict) -> Table {
    let caption =
        format!("This page under the rules of the pack {} {}: {}", v.pack, v.version, v.verdict);
    let mut table =
        Table::captioned(caption).words(["rule", "outcome", "found, or missing", "requirement"]);
    for r in &v.rules {
        let outcome = match r.result {
            RuleResult::Pass => "kept".to_owned(),
            RuleResult::Fail => format!("not kept: {}", r.severity.name()),
            RuleResult::Unknown => "cannot check".to_owned(),
        };
        table.row(vec![
            cell(r.id.clone()),
            cell(outcome),
            cell(shortened(&r.evidence)),
            cell(r.disclosure.clone()),
        ]);
    }
    table
}

/// Cuts long lists of results, which are complete in the table of results.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 160 {
        text.to_owned()
    } else {
        text.chars().take(159).collect::<String>() + "…"
    }
}

//! A post as one HTML file without a network: the body, the disclosure, and the derivation of every
//! number.

use assay_model::Severity;
use assay_rules::denominator::Matrix;
use assay_rules::pack::{PackVerdict, RuleResult};
use maud::{Markup, PreEscaped, html};

use super::body::{Pieces, body};
use super::document::{Block, Cell, ComputedNumber, Input, Post, Table};
use super::files::{numbers_csv, results_csv};
use crate::figures::percent;
use crate::landscape::matrix_text;
use crate::page::{data, parts, shell};

/// The page.
pub fn html(post: &Post) -> String {
    let written = body(&post.markdown, &Written { post });
    let has = |f: fn(&Block) -> bool| post.blocks.iter().any(f);
    let own_disclosure = !has(|b| matches!(b, Block::Disclosure));
    let day = post.front.as_of.as_deref();
    let mut contents = written.headings.clone();
    if own_disclosure {
        contents.push(("disclosure".to_owned(), "Disclosure".to_owned()));
    }
    contents.push(("derivations".to_owned(), "Every number".to_owned()));
    let page = html! {
        a class="skip" href="#main" { "Skip to the text" }
        header {
            p class="eyebrow" { "assay · post" @if let Some(day) = day { " · as of " time datetime=(day) { (day) } } }
            h1 { (post.front.title) }
            @if !post.front.summary.is_empty() { p class="lede" { (post.front.summary) } }
            p class="soft" { (legend(post)) }
        }
        nav aria-label="Contents" { ul { @for (id, name) in &contents { li { a href={ "#" (id) } { (name) } } } } }
        main id="main" class="post" {
            (PreEscaped(written.html))
            @if own_disclosure {
                section id="disclosure" aria-labelledby="disclosure-heading" {
                    h2 id="disclosure-heading" { "Disclosure" }
                    (disclosure(post))
                }
            }
            section id="derivations" aria-labelledby="derivations-heading" {
                h2 id="derivations-heading" { "Every number" }
                (derivations(post))
            }
        }
        footer { p { "Made by assay " (post.assay_version) " from " code { (file_name(&post.file)) } ". Every number was computed from the results it links to." } }
    };
    shell::page(&post.front.title, &page)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What the marks at numbers mean.
fn legend(post: &Post) -> &'static str {
    match (post.results.is_empty(), post.runs.is_empty()) {
        (false, false) => {
            "Numbers marked quoted are as their sources printed them; numbers marked measured were measured by assay; both lead to where they come from."
        }
        (true, _) => {
            "Every number was measured by assay or computed from what was; each leads to its run."
        }
        _ => {
            "Every number is quoted from its source or computed from quoted ones; none was measured here. Each leads to its derivation."
        }
    }
}

struct Written<'a> {
    post: &'a Post,
}

impl Pieces for Written<'_> {
    fn number(&self, at: usize) -> Markup {
        let Some(n) = self.post.numbers.get(at) else { return html! {} };
        html! {
            span class="computed" {
                (link(n, at))
                @if !n.kind.is_empty() && n.function != "field" { span class={ "origin " (origin(&n.kind)) } { (short(&n.kind)) } }
                (marks(self.post, &n.findings))
            }
        }
    }

    fn block(&self, at: usize) -> Markup {
        match self.post.blocks.get(at) {
            Some(Block::Table(t)) => table(self.post, t),
            Some(Block::Chart(c)) => parts::figure(&c.markup, &html! { (c.caption) }, &html! {}),
            Some(Block::Disclosure) => html! { div id="disclosure" { (disclosure(self.post)) } },
            Some(Block::Findings) => findings(self.post),
            None => html! {},
        }
    }
}

/// The number as a link to its derivation.
fn link(n: &ComputedNumber, at: usize) -> Markup {
    let class = if n.withheld.is_some() { "number withheld" } else { "number" };
    let title =
        if n.formula.is_empty() { n.kind.clone() } else { format!("{} ({})", n.formula, n.kind) };
    html! { a class=(class) id={ "n" (at + 1) } href={ "#" (n.anchor) } title=(title) { (n.text) } }
}

/// Where a number comes from, as a class.
fn origin(kind: &str) -> &'static str {
    match (
        kind.contains("measured") || kind == "derived" || kind == "estimated",
        kind.contains("quoted"),
    ) {
        (true, true) => "mixed",
        (true, false) => "own",
        _ => "foreign",
    }
}

/// The kind in as few words as tell kinds apart.
fn short(kind: &str) -> &str {
    match kind {
        "derived from quoted" => "from quoted",
        "derived" => "from measured",
        "derived from measured and quoted" => "measured against quoted",
        other => other,
    }
}

/// Marks that lead to findings.
fn marks(post: &Post, findings: &[usize]) -> Markup {
    html! {
        @for (n, i) in findings.iter().enumerate() {
            @if let Some(f) = post.findings.get(*i) {
                // Findings of one check are one mark.
                @let same: Vec<&str> = findings.iter().filter_map(|i| post.findings.get(*i)).filter(|o| o.finding.id == f.finding.id).map(|o| o.finding.message.as_str()).collect();
                @if !findings[..n].iter().any(|i| post.findings.get(*i).is_some_and(|o| o.finding.id == f.finding.id)) {
                    a class={ "mark " (word(f.finding.severity)) } href={ "#f" (i + 1) } title={ (word(f.finding.severity)) " " (f.finding.name) ": " (same.join("; ")) } {
                        (f.finding.id) @if same.len() > 1 { " ×" (same.len()) }
                    }
                }
            }
        }
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "invalid",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn table(post: &Post, t: &Table) -> Markup {
    let head = html! {
        @for c in &t.columns { th scope="col" class=[c.number.then_some("num")] { (c.title) } }
    };
    let rows = html! {
        @for row in &t.rows {
            tr {
                @for (cell, column) in row.iter().zip(&t.columns) {
                    td class=[column.number.then_some("num")] {
                        @match cell {
                            Cell::Words(text) => (text),
                            Cell::Quoted(text, id) => a class="from" href={ "#q-" (id) } { (text) },
                            Cell::Number(at) => @if let Some(n) = post.numbers.get(*at) { (link(n, *at)) (marks(post, &n.findings)) },
                            Cell::Nothing => "—",
                        }
                    }
                }
            }
        }
    };
    html! {
        (parts::table_box(&t.caption, &head, &rows))
        @for note in &t.notes { p class="soft" { (note) } }
        @if !t.findings.is_empty() { p class="soft" { "Findings: " (marks(post, &t.findings)) } }
    }
}

fn disclosure(post: &Post) -> Markup {
    let has = |f: fn(&Block) -> bool| post.blocks.iter().any(f);
    html! {
        p { (dated(post)) }
        @if !post.results.is_empty() { (results(post)) }
        @if !post.runs.is_empty() {
            h3 { "Runs of our own" }
            ul {
                @for (alias, view) in &post.runs {
                    li id={ "r-" (alias) } {
                        code { (view.summary.id) } ": experiment " code { (view.summary.experiment) } ", workload " code { (view.summary.workload) }
                        ", on " (view.summary.host) ", started " (view.summary.started_at.replace('T', " ").trim_end_matches('Z')) " UTC, "
                        (view.records.iter().filter(|r| r.counts()).count()) " trials count. Kind: measured. The whole run is beside this page as "
                        code { (view.summary.id) ".tar.zst" } "."
                    }
                }
            }
        }
        @if !post.front.sources.is_empty() {
            h3 { "Sources" }
            ul { @for s in &post.front.sources { li { (s) } } }
        }
        @if !post.trademarks.is_empty() {
            h3 { "Trademarks" }
            @for t in &post.trademarks { p { (t) } }
        }
        @if let Some(v) = &post.fair_use { (fair_use(v)) }
        @if !has(|b| matches!(b, Block::Findings)) {
            h3 { "What the checks found" }
            (findings(post))
        }
    }
}

/// The date, the retrieval and the licensee in sentences.
pub(super) fn dated(post: &Post) -> String {
    let mut out = Vec::new();
    if let Some(day) = &post.front.as_of {
        out.push(format!("Statements are true as of {day}, by the results listed here."));
    } else {
        out.push("The post names no day that its statements are true of.".to_owned());
    }
    if let Some(day) = &post.front.retrieved {
        out.push(format!("The quoted results were retrieved on {day}."));
    }
    if let Some(who) = &post.front.licensee {
        out.push(format!("The quoted results were measured under the licence of {who}."));
    }
    out.join(" ")
}

fn results(post: &Post) -> Markup {
    let head = html! {
        th scope="col" { "id" } th scope="col" { "system" } th scope="col" { "metric" } th scope="col" class="num" { "value" }
        th scope="col" { "kind" } th scope="col" { "as of" } th scope="col" { "source" }
    };
    let rows = html! {
        @for u in &post.results {
            tr id={ "q-" (u.result.id) } {
                td { code { (u.result.id) } }
                td { (u.label) }
                td { (u.result.metric) }
                td class="num" { (u.result.value_text()) @if u.result.unit != "score" { " " (u.result.unit) } }
                td { "quoted" }
                td { (u.result.as_of_date.as_deref().unwrap_or("not recorded")) }
                td { (u.source) }
            }
        }
    };
    html! {
        h3 { "Quoted results" }
        (parts::table_box("Every quoted result that this post rests on, as its source printed it", &head, &rows))
        p { (data::download(&results_csv(post), "results.csv", "These rows with all their columns (CSV)")) }
    }
}

/// What the rules of fair use ask, rule by rule.
fn fair_use(v: &PackVerdict) -> Markup {
    let head = html! { th scope="col" { "rule" } th scope="col" { "outcome" } th scope="col" { "seen, or missing" } th scope="col" { "what it wants" } };
    let rows = html! {
        @for r in &v.rules {
            tr {
                td { (r.id) }
                td { @match r.result { RuleResult::Pass => "kept", RuleResult::Fail => "not kept", RuleResult::Unknown => "cannot check" } }
                td class="text" { (shortened(&r.evidence)) }
                td { (r.disclosure) }
            }
        }
    };
    html! {
        h3 { "Fair use" }
        (parts::table_box(&format!("The rules of the pack {} {}, held against this page", v.pack, v.version), &head, &rows))
    }
}

/// Long lists of results are cut: the table of results has them all.
fn shortened(text: &str) -> String {
    if text.chars().count() <= 160 {
        text.to_owned()
    } else {
        text.chars().take(159).collect::<String>() + "…"
    }
}

fn findings(post: &Post) -> Markup {
    html! {
        @if post.findings.is_empty() { p { "The checks found nothing to report." } }
        ul class="findings" {
            @for (i, f) in post.findings.iter().enumerate() {
                li class={ "finding " (word(f.finding.severity)) } id={ "f" (i + 1) } tabindex="-1" {
                    p {
                        strong { (word(f.finding.severity)) } " " code { (f.finding.id) } " " (f.finding.name)
                        @for d in f.numbers.iter().take(8) { " · " a href={ "#" (d) } { (d) } }
                        @if f.numbers.len() > 8 { " and " (f.numbers.len() - 8) " more" }
                    }
                    p { (f.finding.message) }
                    @if !f.finding.remedy.is_empty() { p class="remedy" { strong { "Remedy: " } (f.finding.remedy) } }
                }
            }
        }
    }
}

fn derivations(post: &Post) -> Markup {
    let (cells, sentences): (Vec<_>, Vec<_>) =
        post.numbers.iter().enumerate().partition(|(_, n)| n.in_table);
    let head = html! { th scope="col" { "number" } th scope="col" class="num" { "shown" } th scope="col" { "how" } th scope="col" { "kind" } };
    let rows = html! {
        @for (i, n) in &cells {
            tr id=(n.anchor) {
                td { a href={ "#n" (i + 1) } { (n.anchor) } }
                td class="num" { (n.text) }
                td { (n.formula) " " span class="soft" { "(" (from(&n.inputs)) ")" } }
                td { (n.kind) }
            }
        }
    };
    html! {
        p { "How each computed number came about: the formula with the raw values, rounded once, at the end." }
        ol class="derivations" {
            @for (i, n) in &sentences { li id=(n.anchor) tabindex="-1" { (derivation(post, n, *i)) } }
        }
        @if !cells.is_empty() {
            h3 { "Numbers in tables" }
            (parts::table_box("Computed cells of the tables", &head, &rows))
        }
        p { (data::download(&numbers_csv(post), "numbers.csv", "Every computed number (CSV)")) }
    }
}

fn derivation(post: &Post, n: &ComputedNumber, at: usize) -> Markup {
    html! {
        p {
            a href={ "#n" (at + 1) } title="back to the text" { (n.anchor) } " "
            strong class=[n.withheld.as_ref().map(|_| "withheld")] { (n.text) }
            @if !n.kind.is_empty() { " · " (n.kind) }
            " · " code { (n.function) } ", line " (n.line)
            " " (marks(post, &n.findings))
        }
        @if !n.formula.is_empty() { p class="formula" { code { (n.formula) } } }
        @if let Some(i) = n.interval.filter(|i| i.low < i.high) {
            p class="soft" { (percent(i.level)) " interval " (format!("{:.6}", i.low)) " to " (format!("{:.6}", i.high)) " " (n.unit) }
        }
        ul class="inputs" { @for input in n.inputs.iter().take(40) { (input_line(input)) } }
        @if n.inputs.len() > 40 { p class="soft" { (n.inputs.len() - 40) " more in numbers.csv" } }
        @if let Some(m) = &n.matrix { (sides(m)) }
    }
}

fn input_line(input: &Input) -> Markup {
    let value = if input.value.is_finite() {
        format!("{} {}", input.value, input.unit)
    } else {
        String::new()
    };
    html! {
        li {
            (input.label) @if !value.is_empty() { ": " (value.trim()) } " (" (input.kind) ", "
            @if let Some(id) = &input.result { a href={ "#q-" (id) } { (id) } }
            @else if let Some(alias) = &input.run { a href={ "#r-" (alias) } { (input.source) } }
            @else { (input.source) }
            ")"
        }
    }
}

/// The ids that a number of a table rests on.
fn from(inputs: &[Input]) -> Markup {
    let mut ids: Vec<&str> = inputs.iter().filter_map(|i| i.result.as_deref()).collect();
    ids.dedup();
    html! { @for (i, id) in ids.iter().enumerate() { @if i > 0 { ", " } a href={ "#q-" (id) } { (id) } } }
}

/// Who is ahead by which denominator.
fn sides(m: &Matrix) -> Markup {
    let head = html! {
        th scope="col" { "system" } @for b in &m.bases { th scope="col" class="num" { (b) } }
    };
    let rows = html! {
        @for r in &m.rows {
            tr { th scope="row" { (r.label) } @for c in &r.cells { td class="num" { (matrix_text(c.as_ref())) } } }
        }
    };
    html! { (parts::table_box("By every recorded denominator; in brackets the place, * where it is behind one that it is ahead of in total", &head, &rows)) }
}

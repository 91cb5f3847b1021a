//! Renders a post as one HTML file that needs no network: the body, the disclosure, and the
//! derivation of every number.

use assay_model::Finding;
use maud::{Markup, PreEscaped, html};

use super::answer::LocalOutcome;
use super::body::body;
use super::disclosure::{disclosure, findings, typed};
use super::document::{ComputedNumber, Input, Post, PostBlock};
use super::files::numbers_csv;
use super::read::MarkdownPlace;
use super::seal::{self, SEAL};
use assay_report::document::markdown::line;
use assay_report::document::table::TableRow;
use assay_report::document::{Parts, Table, Text, TextStyle, cell, html, text};
use assay_report::figures::percent;
use assay_report::page::shell;
use assay_report::parts::landscape::matrix;

/// Renders the page of a post.
pub fn html(post: &Post) -> String {
    shell::skippable(&post.front.title, "Skip to the text", &content(post))
}

/// Renders the content of the page without the document around it, for use in another document.
pub fn content(post: &Post) -> Markup {
    let clean = |markup: Markup| PreEscaped(seal::strip_glyphs(markup.into_string()));
    let written = body(&post.markdown, &post.marks, &|place| match place {
        MarkdownPlace::Number(at) => number(post, at),
        MarkdownPlace::Block(at) => block(post, at),
        MarkdownPlace::Claim(at) => claim(post, at),
    });
    let own_disclosure = !post.places(|b| matches!(b, PostBlock::Disclosure));
    let day = post.front.as_of.as_deref();
    let mut contents = written.headings.clone();
    if own_disclosure {
        contents.push(("disclosure".to_owned(), "Disclosure".to_owned()));
    }
    contents.push(("derivations".to_owned(), "Every number".to_owned()));
    let typed = typed(post);
    if !typed.0.is_empty() {
        contents.push(("typed".to_owned(), "Typed by the author".to_owned()));
    }
    let head = html! {
        header {
            p.eyebrow { "assay · post" @if let Some(day) = day { " · as of " (html::date(day)) } }
            h1 { (post.front.title) }
            @if !post.front.summary.is_empty() { p.lede { (post.front.summary) } }
            p.soft { (legend(post)) }
            p.banner { (post.banner()) "." }
        }
        nav aria-label="Contents" {
            ul { @for (id, name) in &contents { li { a href={ "#" (id) } { (name) } } } }
        }
    };
    let foot = html! {
        @if own_disclosure {
            (html::section("disclosure", "Disclosure", &html::parts(&disclosure(post))))
        }
        (html::section("derivations", "Every number", &derivations(post)))
        @if !typed.0.is_empty() {
            (html::section("typed", "Typed by the author", &html::parts(&typed)))
        }
    };
    let file = post.file.rsplit('/').next().unwrap_or(&post.file);
    let made_from = html! { "Made by assay " (post.assay_version) " from " code { (file) } ". " };
    html! {
        (clean(head))
        main id="main" class="post" {
            (PreEscaped(written.html))
            (clean(foot))
        }
        footer { p { (clean(made_from)) (post.banner()) "." } }
    }
}

/// Renders the explanation of the marks in the text.
fn legend(post: &Post) -> Markup {
    let numbers = match (post.results.is_empty(), post.runs.is_empty()) {
        (false, false) => {
            "Numbers marked quoted are as their sources printed them; numbers marked measured were \
            measured by assay; both lead to where they come from."
        }
        (true, _) => {
            "Every computed number was measured by assay or derived from its measurements; each \
            leads to its run."
        }
        _ => {
            "Every computed number is quoted from its source or derived from quoted ones; none was \
            measured here. Each leads to its derivation."
        }
    };
    html! {
        (numbers)
        @if post.statements().next().is_some() {
            " A certified sentence is computed as a whole, with its names, metric and verdict."
        }
        @if !post.typed.is_empty() { " Quantities marked † were typed." }
    }
}

/// Renders a computed number with the marks of its findings, or a certified statement with the mark
/// of certification.
fn number(post: &Post, at: usize) -> Markup {
    let n = &post.numbers[at];
    let marks = marks(post, &n.findings);
    if post.is_certified(n) {
        let title = format!("{} ({})", n.formula, n.kind);
        let text = seal::strip_glyphs(n.text.clone());
        return html! {
            span.whole id={ "n" (at + 1) } {
                (text) " "
                a.certified href={ "#" (n.anchor) } title=(seal::strip_glyphs(title)) { (SEAL) }
                (PreEscaped(seal::strip_glyphs(marks.into_string())))
            }
        };
    }
    let plain = n.kind.is_empty() || n.function == "field" && n.kind == "quoted";
    let written = html! {
        span.computed {
            (link(n, at))
            @if !plain { span class={ "origin " (origin(&n.kind)) } { (short(&n.kind)) } }
            (marks)
        }
    };
    PreEscaped(seal::strip_glyphs(written.into_string()))
}

fn claim(post: &Post, at: usize) -> Markup {
    let c = &post.claims[at];
    let class = match c.here {
        LocalOutcome::Holds => "claim good",
        LocalOutcome::DoesNotHold => "claim bad",
        LocalOutcome::Undecided | LocalOutcome::CannotBeAsked => "claim soft",
    };
    let written = html! {
        @if let Some(then) = &c.then { span.claim.soft { "Then: " (then) ". " } }
        span class=(class) { strong { (c.here.words()) } ": " (c.why) }
    };
    PreEscaped(seal::strip_glyphs(written.into_string()))
}

fn block(post: &Post, at: usize) -> Markup {
    let written = match &post.blocks[at] {
        PostBlock::Parts(parts) => html::parts(&made(post, parts)),
        PostBlock::Disclosure => html! { div id="disclosure" { (html::parts(&disclosure(post))) } },
        PostBlock::Findings => html::parts(&findings(post)),
    };
    PreEscaped(seal::strip_glyphs(written.into_string()))
}

/// Renders the number as a link to its derivation.
fn link(n: &ComputedNumber, at: usize) -> Markup {
    let class = if n.withheld.is_some() { "number withheld" } else { "number" };
    let title = match (n.facts.words(&n.unit), n.formula.is_empty()) {
        (facts, true) => format!("{facts} ({})", n.kind),
        (facts, false) => format!("{facts}: {} ({})", n.formula, n.kind),
    };
    html! { a class=(class) id={ "n" (at + 1) } href={ "#" (n.anchor) } title=(title) { (n.text) } }
}

/// Returns the CSS class for the origin of a number.
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

/// Shortens a kind to the words that distinguish it.
fn short(kind: &str) -> &str {
    match kind {
        "derived from quoted" => "from quoted",
        "derived" => "from measured",
        "derived from measured and quoted" => "measured against quoted",
        other => other,
    }
}

/// Renders marks that link to findings.
fn marks(post: &Post, findings: &[usize]) -> Markup {
    let all: Vec<(usize, &Finding)> =
        findings.iter().filter_map(|i| Some((*i, &post.findings.get(*i)?.finding))).collect();
    html! {
        @for (n, (i, f)) in all.iter().enumerate() {
            // Findings of one check share a mark.
            @let same = |(_, other): &&(usize, &Finding)| other.id == f.id;
            @if !all[..n].iter().any(|other| same(&other)) {
                @let messages: Vec<&str> = all.iter().filter(same).map(|o| &*o.1.message).collect();
                @let title = format!("{} {}: {}", f.severity.name(), f.name, messages.join("; "));
                a class={ "mark " (f.severity.name()) } href={ "#f" (i + 1) } title=(title) {
                    (f.id) @if messages.len() > 1 { " ×" (messages.len()) }
                }
            }
        }
    }
}

/// Returns the parts with the post's numbers and marks in their places.
pub(super) fn made(post: &Post, parts: &Parts) -> Parts {
    let mut parts = parts.clone();
    for (look, words) in parts.texts_mut().flat_map(|text| &mut text.0) {
        match look {
            TextStyle::Number(at) => {
                let n = &post.numbers[*at];
                *words = format!("{}[^{}]", line(&n.text), n.anchor);
                *look = TextStyle::Made(html! { (link(n, *at)) (marks(post, &n.findings)) });
            }
            TextStyle::Marks(findings) => {
                *words = line(&found(post, findings).join(" "));
                *look = TextStyle::Made(marks(post, findings));
            }
            _ => {}
        }
    }
    parts
}

/// Returns a sentence for each finding.
pub(super) fn found(post: &Post, findings: &[usize]) -> Vec<String> {
    let findings = findings.iter().filter_map(|i| post.findings.get(*i)).map(|f| {
        let message = f.finding.message.trim_end_matches('.');
        format!("{} {}: {message}.", f.finding.severity.name(), f.finding.id)
    });
    findings.collect()
}

fn derivations(post: &Post) -> Markup {
    let (cells, sentences): (Vec<_>, Vec<_>) =
        post.numbers.iter().enumerate().partition(|(_, n)| n.in_table);
    let mut table = Table::captioned("Computed cells of the tables")
        .word("number")
        .number("shown")
        .words(["how", "kind"]);
    for (i, n) in &cells {
        let mut ids: Vec<&str> = n.inputs.iter().filter_map(|i| i.result.as_deref()).collect();
        ids.dedup();
        let mut how = text(format!("{} (", n.formula));
        for (k, id) in ids.iter().enumerate() {
            how = how.plain(if k > 0 { ", " } else { "" }).link(format!("#q-{id}"), *id);
        }
        let number = Text::default().link(format!("#n{}", i + 1), n.anchor.clone());
        let cells =
            vec![cell(number), cell(n.text.clone()), cell(how.plain(")")), cell(n.kind.clone())];
        table.rows.push(TableRow { id: n.anchor.clone(), cells, ..TableRow::default() });
    }
    html! {
        p { "The formula of each computed number with its raw values, rounded once, at the end." }
        ol.derivations {
            @for (i, n) in sentences { li id=(n.anchor) tabindex="-1" { (derivation(post, n, i)) } }
        }
        @if !cells.is_empty() {
            h3 { "Numbers in tables" }
            (html::table(&table))
        }
        p { (html::download(&numbers_csv(post), "numbers.csv", "Every computed number (CSV)")) }
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
        @if !n.facts.subject.is_empty() { p { (n.facts.words(&n.unit)) } }
        @if !n.formula.is_empty() { p.formula { code { (n.formula) } } }
        @if let Some(i) = n.interval.filter(|i| i.low < i.high) {
            @let [low, high] = [i.low, i.high].map(|v| format!("{v:.6}"));
            p.soft { (percent(i.level)) " interval " (low) " to " (high) " " (n.unit) }
        }
        ul.inputs { @for input in n.inputs.iter().take(40) { (input_line(post, input)) } }
        @if n.inputs.len() > 40 { p.soft { (n.inputs.len() - 40) " more in numbers.csv" } }
        @if let Some(m) = &n.matrix { (html::parts(&matrix(m, "", None))) }
    }
}

fn input_line(post: &Post, input: &Input) -> Markup {
    let value = if input.value.is_finite() {
        format!("{} {}", input.value, input.unit)
    } else {
        String::new()
    };
    html! {
        li {
            (input.label) @if !value.is_empty() { ": " (value.trim()) } " (" (input.kind) ", "
            @if let Some(id) = &input.result {
                a href={ "#q-" (id) } { (id) }
                @if let Some(source) = post.source(id) { ", " (source) }
            }
            @else if let Some(alias) = &input.run { a href={ "#r-" (alias) } { (input.source) } }
            @else { (input.source) }
            ")"
        }
    }
}

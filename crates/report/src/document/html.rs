//! Renders the parts of a document as HTML.

use assay_model::Verdict;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, Render, html};

use super::table::{ColumnKind, TableRow};
use super::{
    Card, DocumentPart, FindingSubject, Outputs, Parts, ShownFinding, Table, TableCell, Text,
    TextStyle, Tone,
};
use crate::document::packed;

/// Comparisons that are shown before the rest is folded away.
const CARDS: usize = 6;

/// Rows of a table that are in the page as plain HTML; the rows after them are packed.
const ROWS: usize = 200;

/// Largest number of trials or numbers that are linked at one finding.
const NAMED: usize = 6;

/// Renders the parts in order.
pub fn parts(all: &Parts) -> Markup {
    html! { @for part in all.shown(Outputs::Page) { (one(part)) } }
}

/// Returns the value of an attribute that is absent if its text is empty.
fn given(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn one(part: &DocumentPart) -> Markup {
    html! {
        @match part {
            DocumentPart::Heading(2, id, words) => h2 id=[given(id)] { (text(words)) },
            DocumentPart::Heading(_, id, words) => h3 id=[given(id)] { (text(words)) },
            DocumentPart::Paragraph(tone, words) => p class=[class(*tone)] { (text(words)) },
            DocumentPart::List(tone, items) => ul class=[class(*tone)] {
                @for item in items { li { (text(item)) } }
            },
            DocumentPart::Cards(all) => (cards(all)),
            DocumentPart::Table(t) => (table(t)),
            DocumentPart::Figure(f) => (figure_above(&f.chart, text(&f.caption), &parts(&f.under))),
            DocumentPart::Findings(all) => (findings(all)),
            DocumentPart::Pairs(all) => dl { @for (name, v) in all { dt { (name) } dd { (v) } } },
            DocumentPart::Details { summary, open, parts: folded } => details open[*open] {
                summary { (summary) } (parts(folded))
            },
            DocumentPart::File { name, label, text } => p { (download(text, name, label)) },
            DocumentPart::Code(_, code) => (code_box("file", code)),
        }
    }
}

fn class(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain | Tone::Good => None,
        Tone::Strong => Some("statement"),
        Tone::Soft => Some("soft"),
        Tone::Bad => Some("notice invalid"),
        Tone::Warn => Some("notice"),
    }
}

fn cards(all: &[Card]) -> Markup {
    let (first, rest) = all.split_at(all.len().min(CARDS));
    let list = |cards: &[Card]| {
        html! {
            ul.cards { @for c in cards { li class={ "card verdict-" (c.verdict.name()) } {
                p.headline { (badge(c.verdict)) " "
                    @if !c.headline.0.is_empty() { span.ratio { (text(&c.headline)) } } }
                p { (c.words.replace(" %", "\u{a0}%")) }
                @if !c.reason.is_empty() { p.soft { (c.reason) } }
            } } }
        }
    };
    html! {
        (list(first))
        @let n = rest.len();
        @if n > 0 { details { summary { (n) " more comparisons" } (list(rest)) } }
    }
}

pub fn text(text: &Text) -> Markup {
    html! { @for (look, words) in &text.0 { (piece(look, words)) } }
}

fn piece(look: &TextStyle, words: &str) -> Markup {
    html! {
        @match look {
            TextStyle::Made(markup) => (markup),
            // A post replaces its numbers and marks by `TextStyle::Made` before rendering.
            TextStyle::Plain | TextStyle::Unknown(_) | TextStyle::Number(_)
                | TextStyle::Marks(_) => (words),
            TextStyle::Strong => strong { (words) },
            TextStyle::Soft => span.soft { (words) },
            TextStyle::Code => code { (words) },
            TextStyle::Verdict(verdict) => (badge(*verdict)),
            TextStyle::Link(to) => a href=(to) { (words) },
            TextStyle::From(behind) => (behind.link(words)),
            TextStyle::Trials(behind) => (behind.list()),
        }
    }
}

/// Renders a table in a scrollable box; the rows after the first [`ROWS`] are packed.
pub fn table(t: &Table) -> Markup {
    let columns = || t.shown(Outputs::Page);
    let num = |kind| (kind == ColumnKind::Number).then_some("num");
    let head = html! {
        @for (_, c) in columns() { th scope="col" class=[num(c.kind)] { (text(&c.title)) } }
    };
    let named = t.named_by(Outputs::Page);
    let field = |i: usize, kind, c: &TableCell| {
        let span = columns().filter(|(k, _)| (i..i + c.span).contains(k)).count();
        let span = (span > 1).then_some(span);
        let (title, words) = (&c.title, text(&c.text));
        let class = c.text.0.iter().find_map(|(look, _)| match look {
            TextStyle::Unknown(class) => Some(*class),
            TextStyle::Trials(_) => Some("trials"),
            _ => None,
        });
        html! {
            @if i == named { th scope="row" class=[num(kind)] title=[title] { (words) } }
            @else { td class=[class.or(num(kind))] colspan=[span] title=[title] { (words) } }
        }
    };
    let made = |rows: &[TableRow]| {
        html! {
            @for row in rows { tr id=[given(&row.id)] class=[row.class] { @for (i, c) in columns() {
                @let cell = row.cells.get(i).filter(|_| !covered(&row.cells[..i]));
                @if let Some(cell) = cell { (field(i, c.kind, cell)) }
            } } }
        }
    };
    let (first, rest) = t.rows.split_at(t.rows.len().min(ROWS));
    let holds = rest.first().map_or("", |r| r.id.trim_end_matches(|c: char| c.is_ascii_digit()));
    let more = format!("{} more rows come with the script of this page.", rest.len());
    let rows = html! {
        (made(first))
        @if !rest.is_empty() { (packed::rows(&made(rest), holds, &more, columns().count())) }
    };
    table_box(&t.caption, &head, &rows)
}

/// Returns true if the span of one of these cells covers the next cell.
fn covered(before: &[TableCell]) -> bool {
    before.iter().enumerate().any(|(i, c)| i + c.span > before.len())
}

/// Renders a table in a box of its own that scrolls on a narrow screen.
pub(crate) fn table_box(caption: &str, head: &Markup, rows: &Markup) -> Markup {
    let table = html! {
        table {
            caption { (caption) }
            thead { tr { (head) } }
            tbody { (rows) }
        }
    };
    scroll_box(caption, &table)
}

/// Renders content in a box of its own that scrolls on a narrow screen.
pub fn scroll_box(label: &str, content: &Markup) -> Markup {
    html! { div.table-box tabindex="0" role="region" aria-label=(label) { (content) } }
}

/// Renders the text of a file or a command in a box that scrolls.
pub(crate) fn code_box(label: &str, code: &str) -> Markup {
    scroll_box(label, &html! { pre { code { (code) } } })
}

/// Renders titles of columns; the class `num` is that of numbers.
pub fn titles(class: Option<&str>, names: &[&str]) -> Markup {
    html! { @for name in names { th scope="col" class=[class] { (name) } } }
}

/// Renders a section of a page with its heading.
pub fn section(id: &str, heading: &str, body: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-heading" } {
            h2 id={ (id) "-heading" } { (heading) }
            (body)
        }
    }
}

/// Renders a figure: the caption, the chart, and a place for the read-out.
pub(crate) fn figure(chart: &Markup, caption: impl Render) -> Markup {
    figure_above(chart, caption, &html! {})
}

/// Renders a figure with further parts `under` it.
fn figure_above(chart: &Markup, caption: impl Render, under: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (caption) }
            // The box scrolls on a narrow screen, so that text in the chart stays readable.
            div.chart-box { (chart) }
            output.readout aria-live="off" {}
            (under)
        }
    }
}

/// Renders findings as a list, or [`super::NO_FINDINGS`] for an empty list.
pub fn findings(all: &[ShownFinding]) -> Markup {
    let links = |about: &FindingSubject| -> Vec<(String, String)> {
        match about {
            FindingSubject::Trials(trials) => {
                trials.iter().map(|n| (format!("#trial-{n}"), format!("trial {n}"))).collect()
            }
            FindingSubject::Numbers(anchors) => {
                anchors.iter().map(|a| (format!("#{a}"), a.clone())).collect()
            }
        }
    };
    html! {
        @if all.is_empty() { p { (super::NO_FINDINGS) } }
        @else { ul.findings { @for ShownFinding { finding: f, about, id } in all {
            @let (links, stop) = (links(about), id.as_ref().map(|_| "-1"));
            li class={ "finding " (f.severity.name()) } id=[id.as_ref()] tabindex=[stop] {
                p { strong { (f.severity.name()) } " " code { (f.id) } " " (f.name)
                    @for (to, name) in links.iter().take(NAMED) { " · " a href=(to) { (name) } }
                    @if links.len() > NAMED { " and " (links.len() - NAMED) " more" } }
                p { (f.message) }
                @if !f.remedy.is_empty() { p.remedy { strong { "Remedy: " } (f.remedy) } }
            }
        } } }
    }
}

/// Renders a verdict as a badge with a sign, a word and a colour.
pub(crate) fn badge(verdict: Verdict) -> Markup {
    let sign = match verdict {
        Verdict::Better => "▲",
        Verdict::Worse => "▼",
        Verdict::Equivalent => "=",
        Verdict::Inconclusive | Verdict::NotEstablished => "?",
        Verdict::Invalid => "✕",
    };
    let name = verdict.name();
    let class = format!("badge verdict-{}", name.replace(' ', "-"));
    html! { span class=(class) { span aria-hidden="true" { (sign) } " " (name) } }
}

/// Renders a day as an element `time`.
pub fn date(day: &str) -> Markup {
    html! { time datetime=(day) { (day) } }
}

/// Renders a file inside the page as a link.
pub fn download(text: &str, name: &str, label: &str) -> Markup {
    let url = format!("data:text/csv;charset=utf-8;base64,{}", STANDARD.encode(text));
    html! { a href=(url) download=(name) { (label) } }
}

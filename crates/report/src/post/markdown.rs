//! A post as Markdown: the template's text with numbers in their places and a foot-note for each.

use std::fmt::Write as _;

use super::document::{Block, Cell, ComputedNumber, Post, Table};
use super::html::dated;
use super::read::{CLOSE, OPEN};
use crate::markdown::{line, row};

/// The post as GitHub-flavoured Markdown.
pub fn markdown(post: &Post) -> String {
    let mut out = format!("# {}\n\n", line(&post.front.title));
    if !post.front.summary.is_empty() {
        let _ = writeln!(out, "{}\n", line(&post.front.summary));
    }
    let mut parts = post.markdown.trim_start().split(OPEN);
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let Some((place, rest)) = part.split_once(CLOSE) else { continue };
        if let Some(n) =
            place.strip_prefix('n').and_then(|n| post.numbers.get(n.parse::<usize>().ok()?))
        {
            number(&mut out, post, n);
        } else if let Some(b) =
            place.strip_prefix('b').and_then(|b| post.blocks.get(b.parse::<usize>().ok()?))
        {
            out.truncate(out.trim_end().len());
            out.push_str("\n\n");
            block(&mut out, post, b);
            out.truncate(out.trim_end().len());
            out.push_str("\n\n");
            out.push_str(rest.trim_start_matches('\n'));
            continue;
        }
        out.push_str(rest);
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if !post.blocks.iter().any(|b| matches!(b, Block::Disclosure)) {
        out.push_str("\n## Disclosure\n\n");
        disclosure(&mut out, post);
    }
    out.push('\n');
    for n in &post.numbers {
        footnote(&mut out, post, n);
    }
    let _ = writeln!(out, "\nMade by assay {}.", post.assay_version);
    out
}

fn number(out: &mut String, post: &Post, n: &ComputedNumber) {
    out.push_str(&line(&n.text));
    if post.mixed() && !n.kind.is_empty() {
        let _ = write!(out, " *({})*", n.kind);
    }
    let _ = write!(out, "[^{}]", n.anchor);
}

fn footnote(out: &mut String, post: &Post, n: &ComputedNumber) {
    let formula =
        if n.formula.is_empty() { String::new() } else { format!(": {}", line(&n.formula)) };
    let mut ids: Vec<&str> =
        n.inputs.iter().filter_map(|i| i.result.as_deref().or(Some(i.source.as_str()))).collect();
    ids.dedup();
    let found: Vec<String> = n
        .findings
        .iter()
        .filter_map(|i| post.findings.get(*i))
        .map(|f| {
            format!(
                " {} {}: {}.",
                severity(f.finding.severity),
                f.finding.id,
                line(f.finding.message.trim_end_matches('.'))
            )
        })
        .collect();
    let kind = if n.kind.is_empty() { "no number" } else { n.kind.as_str() };
    let _ = writeln!(
        out,
        "[^{}]: {kind}{formula}; from {}.{}",
        n.anchor,
        line(&ids.join(", ")),
        found.concat()
    );
}

fn severity(severity: assay_model::Severity) -> String {
    format!("{severity:?}")
}

fn block(out: &mut String, post: &Post, block: &Block) {
    match block {
        Block::Table(t) => table(out, post, t),
        Block::Chart(c) => {
            let _ = writeln!(out, "*{}.* {}.", line(&c.caption), line(&c.words));
        }
        Block::Disclosure => disclosure(out, post),
        Block::Findings => findings(out, post),
    }
}

fn table(out: &mut String, post: &Post, t: &Table) {
    if !t.caption.is_empty() {
        let _ = writeln!(out, "*{}*\n", line(&t.caption));
    }
    row(out, &t.columns.iter().map(|c| c.title.as_str()).collect::<Vec<_>>());
    for c in &t.columns {
        out.push_str(if c.number { "|--:" } else { "|---" });
    }
    out.push_str("|\n");
    for cells in &t.rows {
        for cell in cells {
            out.push_str("| ");
            match cell {
                Cell::Words(text) | Cell::Quoted(text, _) => out.push_str(&line(text)),
                Cell::Number(at) => {
                    if let Some(n) = post.numbers.get(*at) {
                        let _ = write!(out, "{}[^{}]", line(&n.text), n.anchor);
                    }
                }
                Cell::Nothing => out.push('—'),
            }
            out.push(' ');
        }
        out.push_str("|\n");
    }
    out.push('\n');
    for note in &t.notes {
        let _ = writeln!(out, "{}\n", line(note));
    }
    for f in t.findings.iter().filter_map(|i| post.findings.get(*i)) {
        let _ = writeln!(
            out,
            "{} {}: {}\n",
            severity(f.finding.severity),
            f.finding.id,
            line(&f.finding.message)
        );
    }
}

fn disclosure(out: &mut String, post: &Post) {
    let _ = writeln!(out, "{}\n", line(&dated(post)));
    if !post.results.is_empty() {
        out.push_str("| id | system | metric | value | kind | as of | source |\n|---|---|---|--:|---|---|---|\n");
        for u in &post.results {
            let r = &u.result;
            let value =
                format!("{} {}", r.value_text(), if r.unit == "score" { "" } else { &r.unit });
            let day = r.as_of_date.as_deref().unwrap_or("not recorded");
            row(out, &[&r.id, &u.label, &r.metric, value.trim(), "quoted", day, &u.source]);
        }
        out.push('\n');
    }
    for view in post.runs.values() {
        let s = &view.summary;
        let _ = writeln!(
            out,
            "- measured: run `{}` of experiment {} on {}, started {}",
            s.id,
            line(&s.experiment),
            line(&s.host),
            s.started_at
        );
    }
    for s in &post.front.sources {
        let _ = writeln!(out, "- {}", line(s));
    }
    for t in &post.trademarks {
        let _ = writeln!(out, "\n{}", line(t));
    }
    if !post.blocks.iter().any(|b| matches!(b, Block::Findings)) {
        out.push_str("\n### What the checks found\n\n");
        findings(out, post);
    }
}

fn findings(out: &mut String, post: &Post) {
    if post.findings.is_empty() {
        out.push_str("The checks found nothing to report.\n");
    }
    for f in &post.findings {
        let at = if f.numbers.is_empty() {
            String::new()
        } else {
            format!(" ({})", f.numbers.join(", "))
        };
        let _ = writeln!(
            out,
            "- {} {} {}: {}{at}",
            severity(f.finding.severity),
            f.finding.id,
            line(&f.finding.name),
            line(&f.finding.message)
        );
    }
}

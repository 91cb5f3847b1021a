//! Writes a post as Markdown: the template's text with numbers in their places, and a footnote for
//! each.

use std::fmt::Write as _;

use super::answer::Claim;
use super::disclosure::{disclosure, findings, typed};
use super::document::{ComputedNumber, Post, PostBlock};
use super::html::{found, made};
use super::read::{CLOSE, MarkdownPlace, OPEN};
use super::seal::{SEAL, without_names};
use super::typed::daggers;
use assay_report::document::markdown;
use assay_report::document::markdown::line;

/// Writes the post as GitHub-flavoured Markdown.
pub fn markdown(post: &Post) -> String {
    let mut out = format!("# {}\n\n", line(&post.front.title));
    if !post.front.summary.is_empty() {
        let _ = writeln!(out, "{}\n", line(&post.front.summary));
    }
    let _ = writeln!(out, "*{}*\n", line(&post.banner()));
    let marked = daggers(&post.markdown, &post.marks);
    let mut parts = marked.trim_start().split(OPEN);
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let Some((place, rest)) = part.split_once(CLOSE) else { continue };
        match MarkdownPlace::read(place) {
            Some(MarkdownPlace::Number(at)) => number(&mut out, post, &post.numbers[at]),
            Some(MarkdownPlace::Claim(at)) => out.push_str(&without_names(claim(&post.claims[at]))),
            Some(MarkdownPlace::Block(at)) => {
                let parts = match &post.blocks[at] {
                    PostBlock::Parts(parts) => made(post, parts),
                    PostBlock::Disclosure => disclosure(post),
                    PostBlock::Findings => findings(post),
                };
                out.truncate(out.trim_end().len());
                out.push_str("\n\n");
                out.push_str(&without_names(markdown::parts(&parts)));
                out.truncate(out.trim_end().len());
                out.push_str("\n\n");
                out.push_str(rest.trim_start_matches('\n'));
                continue;
            }
            None => {}
        }
        out.push_str(rest);
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    if !post.places(|b| matches!(b, PostBlock::Disclosure)) {
        let disclosure = without_names(markdown::parts(&disclosure(post)));
        let _ = write!(out, "\n## Disclosure\n\n{disclosure}");
    }
    out.push('\n');
    for n in &post.numbers {
        out.push_str(&without_names(footnote(post, n)));
    }
    let typed = typed(post);
    if !typed.0.is_empty() {
        let _ = write!(out, "\n## Typed by the author\n\n{}", markdown::parts(&typed));
    }
    let _ = writeln!(out, "\nMade by assay {}.", post.assay_version);
    out
}

fn claim(c: &Claim) -> String {
    let then = c.then.as_ref().map(|t| format!("*Then:* {}. ", line(t))).unwrap_or_default();
    format!("{then}*{}:* {}", c.here.words(), line(&c.why))
}

fn number(out: &mut String, post: &Post, n: &ComputedNumber) {
    out.push_str(&without_names(line(&n.text)));
    if post.is_certified(n) {
        let _ = write!(out, " {SEAL}");
    } else if !post.results.is_empty() && !post.runs.is_empty() && !n.kind.is_empty() {
        let _ = write!(out, " *({})*", n.kind);
    }
    let _ = write!(out, "[^{}]", n.anchor);
}

fn footnote(post: &Post, n: &ComputedNumber) -> String {
    let mut out = format!("[^{}]: ", n.anchor);
    if !n.facts.subject.is_empty() {
        let _ = write!(out, "{}; ", line(&n.facts.words(&n.unit)));
    }
    out.push_str(if n.kind.is_empty() { "no number" } else { &n.kind });
    if !n.formula.is_empty() {
        let _ = write!(out, ": {}", line(&n.formula));
    }
    let from = n.inputs.iter().map(|i| match i.result.as_deref() {
        Some(id) => match post.source(id) {
            Some(source) => format!("{id} ({source})"),
            None => id.to_owned(),
        },
        None => i.source.clone(),
    });
    let mut from: Vec<String> = from.collect();
    from.dedup();
    let _ = write!(out, "; from {}.", line(&from.join(", ")));
    for f in found(post, &n.findings) {
        let _ = write!(out, " {}", line(&f));
    }
    out + "\n"
}

//! A post as Markdown: the template's text with numbers in their places and a foot-note for each.

use std::fmt::Write as _;

use super::disclosure::{disclosure, findings, typed};
use super::document::{Block, ComputedNumber, Post};
use super::html::{found, made};
use super::read::{CLOSE, OPEN};
use super::typed::daggers;
use crate::document::markdown;
use crate::document::markdown::line;

/// The post as GitHub-flavoured Markdown.
pub fn markdown(post: &Post) -> String {
    let mut out = format!("# {}\n\n", line(&post.front.title));
    if !post.front.summary.is_empty() {
        let _ = writeln!(out, "{}\n", line(&post.front.summary));
    }
    let _ = writeln!(out, "*{}*\n", line(&post.banner()));
    let marked = daggers(&post.markdown, &post.marks, |what| post.has_dagger(what));
    let mut parts = marked.trim_start().split(OPEN);
    out.push_str(parts.next().unwrap_or(""));
    for part in parts {
        let Some((place, rest)) = part.split_once(CLOSE) else { continue };
        if let Some(n) =
            place.strip_prefix('n').and_then(|n| post.numbers.get(n.parse::<usize>().ok()?))
        {
            number(&mut out, post, n);
        } else if let Some(c) =
            place.strip_prefix('v').and_then(|v| post.claims.get(v.parse::<usize>().ok()?))
        {
            let then =
                c.then.as_ref().map(|t| format!("*Then:* {}. ", line(t))).unwrap_or_default();
            let _ = write!(out, "{then}*{}:* {}", c.here.words(), line(&c.why));
        } else if let Some(b) =
            place.strip_prefix('b').and_then(|b| post.blocks.get(b.parse::<usize>().ok()?))
        {
            out.truncate(out.trim_end().len());
            out.push_str("\n\n");
            out.push_str(&markdown::parts(&match b {
                Block::Parts(parts) => made(post, parts),
                Block::Disclosure => disclosure(post),
                Block::Findings => findings(post),
            }));
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
    if !post.places(|b| matches!(b, Block::Disclosure)) {
        let _ = write!(out, "\n## Disclosure\n\n{}", markdown::parts(&disclosure(post)));
    }
    out.push('\n');
    for n in &post.numbers {
        footnote(&mut out, post, n);
    }
    let typed = typed(post);
    if !typed.0.is_empty() {
        let _ = write!(out, "\n## Typed by the author\n\n{}", markdown::parts(&typed));
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
    let mut words = String::new();
    for f in found(post, &n.findings) {
        let _ = write!(words, " {}", line(&f));
    }
    let kind = if n.kind.is_empty() { "no number" } else { n.kind.as_str() };
    let _ =
        writeln!(out, "[^{}]: {kind}{formula}; from {}.{}", n.anchor, line(&ids.join(", ")), words);
}

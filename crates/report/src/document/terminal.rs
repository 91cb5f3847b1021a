//! Writes the parts of a document for a terminal: a caption above each table, soft text directly
//! below its subject, an empty line between other parts.

use assay_model::{Finding, Severity};

mod table;
pub mod writer;

use writer::Writer;

use super::{DocumentPart, Outputs, Parts, ShownFinding, Tone};
use crate::style::Style;

/// Returns the parts in order, with all details.
pub fn parts(all: &Parts, style: Style) -> String {
    parts_of(all, Outputs::Terminal, style)
}

/// Returns the parts that one of the terminal's outputs shows.
pub(crate) fn parts_of(all: &Parts, output: Outputs, style: Style) -> String {
    let mut w = Writer::new(style);
    let mut before: Option<&DocumentPart> = None;
    for part in all.shown(output) {
        if matches!(part, DocumentPart::Figure(_) | DocumentPart::File { .. }) {
            continue;
        }
        if before.is_some_and(|before| apart(before, part)) {
            w.blank();
        }
        one(&mut w, part, output, style);
        before = Some(part);
    }
    w.finish()
}

/// Returns true if an empty line separates the two parts.
fn apart(before: &DocumentPart, part: &DocumentPart) -> bool {
    let words =
        |p: &DocumentPart| matches!(p, DocumentPart::Paragraph(..) | DocumentPart::List(..));
    match (before, part) {
        (DocumentPart::Heading(..), p) => matches!(p, DocumentPart::Table(_)),
        (_, DocumentPart::Paragraph(Tone::Soft, _) | DocumentPart::List(Tone::Soft, _)) => false,
        (before, part) => !(words(before) && words(part)),
    }
}

fn one(w: &mut Writer, part: &DocumentPart, output: Outputs, style: Style) {
    let indent = |tone: Tone| if tone == Tone::Soft { 2 } else { 0 };
    match part {
        DocumentPart::Heading(_, _, words) => w.wrapped(0, &words.words(), Tone::Strong),
        DocumentPart::Paragraph(tone, words) => w.wrapped(indent(*tone), &words.words(), *tone),
        DocumentPart::List(tone, items) => {
            // A soft list is about the item before it.
            for item in items {
                w.wrapped(2 + indent(*tone), &item.words(), *tone);
            }
        }
        DocumentPart::Cards(all) => {
            for card in all {
                w.wrapped(0, &card.words, Tone::for_verdict(card.verdict));
            }
        }
        DocumentPart::Table(t) => {
            if !t.caption.is_empty() {
                w.wrapped(0, &t.caption, Tone::Strong);
                if output == Outputs::Terminal {
                    w.blank();
                }
            }
            w.raw(&t.render(style));
            if t.most > 0 && t.rows.len() > t.most {
                let more = format!("  and {} more; --json has them all", t.rows.len() - t.most);
                w.line(&more, Tone::Soft);
            }
        }
        DocumentPart::Findings(all) => findings(w, all),
        DocumentPart::Pairs(all) => w.pairs(all),
        DocumentPart::Details { summary, parts: folded, .. } => {
            if !folded.are_captioned() {
                w.wrapped(0, summary, Tone::Strong);
            }
            w.raw(&parts_of(folded, output, style));
        }
        DocumentPart::Code(_, code) => {
            for l in code.lines() {
                w.line(l, Tone::Plain);
            }
        }
        DocumentPart::Figure(_) | DocumentPart::File { .. } => {}
    }
}

/// Writes findings, most severe first, or [`super::NO_FINDINGS`] for an empty list. Consecutive
/// findings of one check with the same remedy have it written once, after the last of them.
fn findings(w: &mut Writer, all: &[ShownFinding]) {
    if all.is_empty() {
        w.line(super::NO_FINDINGS, Tone::Soft);
    }
    let mut sorted: Vec<&ShownFinding> = all.iter().collect();
    sorted.sort_by_key(|f| std::cmp::Reverse(f.finding.severity));
    let last_of = |i: usize, f: &Finding| {
        let next = sorted.get(i + 1).map(|found| &found.finding);
        next.is_none_or(|n| (n.severity, &n.id, &n.remedy) != (f.severity, &f.id, &f.remedy))
    };
    for (i, found) in sorted.iter().enumerate() {
        let (f, about) = (&found.finding, found.place());
        let tone = match f.severity {
            Severity::Invalid => Tone::Bad,
            Severity::Warning => Tone::Warn,
            Severity::Note => Tone::Soft,
        };
        w.wrapped(
            0,
            &format!("{}: {} {}: {}{about}", f.severity.name(), f.id, f.name, f.message),
            tone,
        );
        if !f.remedy.is_empty() && last_of(i, f) {
            w.wrapped(2, &format!("remedy: {}", f.remedy), Tone::Plain);
        }
    }
}

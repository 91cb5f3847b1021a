//! Writes the parts of a document as GitHub-flavoured Markdown. Charts are left out; a chart that
//! has a description in words is replaced by it.

use std::fmt::Write as _;

use super::table::ColumnKind;
use super::{DocumentPart, Outputs, Parts, ShownFinding, Table, Text, TextStyle};

/// Returns the parts in order, each followed by an empty line.
pub fn parts(all: &Parts) -> String {
    let mut out = String::new();
    for part in all.shown(Outputs::Markdown) {
        one(&mut out, part);
    }
    out
}

fn one(out: &mut String, part: &DocumentPart) {
    // Writing to a string cannot fail.
    let _ = match part {
        DocumentPart::Heading(level, _, words) => {
            writeln!(out, "{} {}\n", "#".repeat(usize::from(*level)), text(words))
        }
        DocumentPart::Paragraph(_, words) => writeln!(out, "{}\n", text(words)),
        DocumentPart::List(_, items) => {
            for item in items {
                let _ = writeln!(out, "- {}", text(item));
            }
            writeln!(out)
        }
        DocumentPart::Pairs(all) => {
            for (name, value) in all {
                let _ = writeln!(out, "- {}: {}", line(name), line(value));
            }
            writeln!(out)
        }
        DocumentPart::Cards(all) => {
            for card in all {
                let head = text(&card.headline);
                let lead = if head.is_empty() { "" } else { ". " };
                let _ = writeln!(out, "- {head}{lead}{}", line(&card.words));
            }
            writeln!(out)
        }
        DocumentPart::Table(t) => {
            out.push_str(&table(t));
            Ok(())
        }
        DocumentPart::Figure(figure) if figure.words.is_empty() => {
            out.push_str(&parts(&figure.under));
            Ok(())
        }
        DocumentPart::Figure(figure) => {
            writeln!(out, "*{}.* {}.\n", text(&figure.caption), line(&figure.words))
        }
        DocumentPart::Findings(all) => writeln!(out, "{}", findings(all)),
        DocumentPart::Details { summary, parts: folded, .. } => {
            if !folded.are_captioned() {
                let _ = writeln!(out, "{}\n", line(summary));
            }
            write!(out, "{}", parts(folded))
        }
        DocumentPart::File { .. } => Ok(()),
        DocumentPart::Code(language, code) => {
            // A fence that is longer than any run of backticks in the file cannot be closed by the
            // file.
            let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            writeln!(out, "{fence}{language}\n{}\n{fence}\n", code.trim_end())
        }
    };
}

/// Formats pieces of text on one line.
pub fn text(text: &Text) -> String {
    let mut out = String::new();
    for (look, words) in &text.0 {
        let _ = match look {
            TextStyle::Made(_) => write!(out, "{words}"),
            TextStyle::Strong => write!(out, "**{}**", line(words)),
            TextStyle::Code => write!(out, "`{}`", code(words)),
            TextStyle::Link(to) if !to.starts_with('#') => write!(out, "[{}]({to})", line(words)),
            _ => write!(out, "{}", line(words)),
        };
    }
    out
}

/// Formats a table with its caption above it.
fn table(t: &Table) -> String {
    let mut out = String::new();
    if !t.caption.is_empty() {
        let _ = writeln!(out, "*{}*\n", line(&t.caption));
    }
    let mut rule = String::new();
    for (_, c) in t.shown(Outputs::Markdown) {
        let _ = write!(out, "| {} ", text(&c.title));
        rule.push_str(if c.kind == ColumnKind::Number { "|--:" } else { "|---" });
    }
    let _ = writeln!(out, "|\n{rule}|");
    for row in &t.rows {
        for (i, _) in t.shown(Outputs::Markdown) {
            let _ =
                write!(out, "| {} ", row.cells.get(i).map_or_else(String::new, |c| text(&c.text)));
        }
        out.push_str("|\n");
    }
    out.push('\n');
    out
}

/// Formats findings as a list, or [`super::NO_FINDINGS`] for an empty list.
fn findings(all: &[ShownFinding]) -> String {
    if all.is_empty() {
        return format!("{}\n", super::NO_FINDINGS);
    }
    let mut out = String::new();
    for found in all {
        let (f, about) = (&found.finding, found.place());
        let remedy = if f.remedy.is_empty() {
            String::new()
        } else {
            format!(" Remedy: {}.", line(f.remedy.trim_end_matches('.')))
        };
        let message = line(f.message.trim_end_matches('.'));
        let _ = writeln!(
            out,
            "- {} {} {}: {message}{about}.{remedy}",
            f.severity.name(),
            line(&f.id),
            line(&f.name)
        );
    }
    out
}

/// Returns the text on one line, with all characters escaped that Markdown or HTML would take as
/// markup.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => out.push('\u{FFFD}'),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns the text for a code span: backticks and control characters become spaces, and bars are
/// escaped because a bar would end a table cell.
fn code(text: &str) -> String {
    text.chars()
        .map(|c| if c == '`' || c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_a_table() {
        assert_eq!(line("a|b\n<c>*"), "a\\|b &lt;c>\\*");
    }
}

//! Parses a template's body into pieces: Markdown, calls in `{{ }}`, claims, and sections that
//! depend on a run.

use std::ops::Range;

use super::error::{PostError, Result, TemplateText};
use super::expression::{Call, Parser};

/// Maximum depth of nested sections.
const DEPTH: usize = 4;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    /// Markdown, as bytes of the template.
    Markdown(Range<usize>),
    Call(Call),
    /// `{{#run NAME}} ... {{else}} ... {{/run}}`.
    Run(ConditionalSection),
    /// `{{#claim FUNCTION(...)}} ... {{/claim}}`.
    Claim(Claim),
}

/// A statement of the post, with the call that tests it on another machine.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Claim {
    pub(super) call: Call,
    pub(super) says: Vec<Piece>,
}

/// A section that is shown if the archive has a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ConditionalSection {
    pub(super) alias: String,
    pub(super) alias_span: Range<usize>,
    pub(super) then: Vec<Piece>,
    /// Alternative content; `None` shows a sentence that says how to make such a run.
    pub(super) otherwise: Option<Vec<Piece>>,
}

/// The end of a sequence of pieces.
enum SequenceEnd {
    File,
    Else(Range<usize>),
    /// Keyword of the closed section: `run` or `claim`.
    Close(Range<usize>, &'static str),
}

/// Parses the pieces of a template from a byte on.
pub(super) fn parse(text: TemplateText<'_>, from: usize) -> Result<Vec<Piece>> {
    let mut at = from;
    let (pieces, end) = pieces(text, &mut at, 0)?;
    match end {
        SequenceEnd::File => Ok(pieces),
        SequenceEnd::Else(span) => Err(text.error(span, "`else` outside of a section", "")),
        SequenceEnd::Close(span, _) => Err(text.error(span, "this closes no section", "")),
    }
}

fn pieces(
    text: TemplateText<'_>,
    at: &mut usize,
    depth: usize,
) -> Result<(Vec<Piece>, SequenceEnd)> {
    let mut out = Vec::new();
    loop {
        let Some(open) = text.text[*at..].find("{{").map(|i| *at + i) else {
            out.push(Piece::Markdown(*at..text.text.len()));
            *at = text.text.len();
            return Ok((out, SequenceEnd::File));
        };
        if text.text[..open].ends_with('\\') && open > *at {
            out.push(Piece::Markdown(*at..open - 1));
            out.push(Piece::Markdown(open..open + 2));
            *at = open + 2;
            continue;
        }
        out.push(Piece::Markdown(*at..open));
        let mut parser = Parser::new(text, open + 2);
        let closed = |parser: &mut Parser<'_>| {
            if parser.take("}}") {
                Ok(open..parser.at())
            } else {
                Err(unclosed(text, open, parser.at()))
            }
        };
        if parser.take("#run") {
            let Some(alias) = parser.name() else {
                let help = "name a run of the front matter: `{{#run sweep}}`";
                return Err(text.error(open..parser.at(), "the section names no run", help));
            };
            closed(&mut parser)?;
            *at = parser.at();
            out.push(Piece::Run(section(text, at, alias, open, depth + 1)?));
            continue;
        }
        if parser.take("#claim") {
            let call = parser.call()?;
            let span = closed(&mut parser)?;
            *at = parser.at();
            if depth > 0 {
                let help = "the section is missing without a run, and so would be the claim";
                return Err(text.error(span, "a claim cannot be in another section", help));
            }
            let (says, end) = pieces(text, at, depth + 1)?;
            if !matches!(end, SequenceEnd::Close(_, "claim")) {
                let help = "close it with `{{/claim}}`";
                return Err(text.error(span, "this claim is never closed", help));
            }
            out.push(Piece::Claim(Claim { call, says }));
            continue;
        }
        for what in ["run", "claim"] {
            if parser.take(if what == "run" { "/run" } else { "/claim" }) {
                let span = closed(&mut parser)?;
                *at = parser.at();
                return Ok((out, SequenceEnd::Close(span, what)));
            }
        }
        let before = parser.at();
        if matches!(parser.name(), Some((name, _)) if name == "else") && parser.take("}}") {
            *at = parser.at();
            return Ok((out, SequenceEnd::Else(open..*at)));
        }
        parser = Parser::new(text, before);
        if text.text[open..].find("}}").is_none() {
            return Err(unclosed(text, open, open + 2));
        }
        let call = parser.call()?;
        closed(&mut parser)?;
        *at = parser.at();
        out.push(Piece::Call(call));
    }
}

fn unclosed(text: TemplateText<'_>, open: usize, at: usize) -> PostError {
    let rest = text.text[at..].trim_start();
    let next: String = rest.chars().take(12).take_while(|c| *c != '\n').collect();
    if next.is_empty() || text.text[open..].find("}}").is_none() {
        return text.error(open..open + 2, "this `{{` is never closed", "close it with `}}`");
    }
    let start = text.text.len() - rest.len();
    let message = format!("expected `}}}}`, found `{next}`");
    text.error(start..start + next.len(), message, "`{{ }}` holds one call")
}

fn section(
    text: TemplateText<'_>,
    at: &mut usize,
    (alias, alias_span): (String, Range<usize>),
    open: usize,
    depth: usize,
) -> Result<ConditionalSection> {
    let never = || {
        text.error(open..alias_span.end, "this section is never closed", "close it with `{{/run}}`")
    };
    if depth > DEPTH {
        let message = format!("sections are nested more than {DEPTH} deep");
        return Err(text.error(alias_span, message, ""));
    }
    let (then, end) = pieces(text, at, depth)?;
    let otherwise = match end {
        SequenceEnd::Close(_, "run") => None,
        SequenceEnd::File | SequenceEnd::Close(..) => return Err(never()),
        SequenceEnd::Else(_) => match pieces(text, at, depth)? {
            (otherwise, SequenceEnd::Close(_, "run")) => Some(otherwise),
            (_, SequenceEnd::Else(span)) => return Err(text.error(span, "a second `else`", "")),
            (_, SequenceEnd::File | SequenceEnd::Close(..)) => return Err(never()),
        },
    };
    Ok(ConditionalSection { alias, alias_span, then, otherwise })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Piece>, PostError> {
        parse(TemplateText { name: "x.md", text }, 0)
    }

    #[test]
    fn markdown_calls_and_sections() {
        let text = "A {{ value(\"a\") }} b {{#run s}}in{{else}}out{{/run}} c \\{{ d";
        let p = parsed(text).unwrap();
        assert!(matches!(&p[1], Piece::Call(c) if c.name == "value"));
        assert!(matches!(&p[3], Piece::Run(s) if s.alias == "s" && s.otherwise.is_some()));
        let Piece::Markdown(literal) = &p[5] else { panic!("{p:?}") };
        assert_eq!(&text[literal.clone()], "{{");
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, wanted) in [
            ("a\nb {{ value(\"a\")", "never closed"),
            ("a\nb {{ value(\"a\"", "never closed"),
            ("a\nb {{ value(\"a\") x }}", "expected `}}`, found `x }}`"),
            ("a\nb {{#run s}} x", "section is never closed"),
            ("a\nb {{/run}}", "closes no section"),
            ("a\nb {{/claim}}", "closes no section"),
            ("a\nb {{#claim ahead(\"a\")}} x {{/run}}", "claim is never closed"),
            ("a\nb {{#run s}}{{#claim ahead(\"a\")}} x {{/claim}}{{/run}}", "in another section"),
            ("a\nb {{else}}", "outside of a section"),
        ] {
            let e = parsed(text).unwrap_err();
            assert_eq!(e.place.unwrap().0, 2, "{e}");
            assert!(e.to_string().contains(wanted), "{e}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "[a-z{}#/\\\\\"(), \n]{0,80}") {
            let _ = parsed(&text);
        }
    }
}

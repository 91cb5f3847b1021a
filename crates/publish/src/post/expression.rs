//! Expressions: `better("t5240-1.6", than="p570-4chip")`. They are texts, numbers, `true` and
//! `false`, lists, and calls, which may be nested.

use std::ops::Range;

use super::error::{PostError, Result, TemplateText};

/// Maximum depth of nested calls and lists.
const DEPTH: usize = 8;

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) name_span: Range<usize>,
    pub(super) arguments: Vec<Argument>,
    /// Bytes of the whole call.
    pub(super) span: Range<usize>,
}

/// One argument, with its name if it is given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    pub(super) name: Option<(String, Range<usize>)>,
    pub(super) value: Expression,
}

/// A value as it is written, with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    pub(super) what: ExpressionKind,
    pub(super) span: Range<usize>,
}

/// The content of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExpressionKind {
    Text(String),
    Number(f64),
    Truth(bool),
    List(Vec<Expression>),
    Call(Call),
}

impl ExpressionKind {
    /// Returns the kind of the value in words.
    pub(super) fn word(&self) -> &'static str {
        match self {
            ExpressionKind::Text(_) => "a text",
            ExpressionKind::Number(_) => "a number",
            ExpressionKind::Truth(_) => "true or false",
            ExpressionKind::List(_) => "a list",
            ExpressionKind::Call(_) => "a call",
        }
    }
}

/// Parses expressions in a text, starting at a byte.
pub(super) struct Parser<'a> {
    text: TemplateText<'a>,
    at: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: TemplateText<'a>, at: usize) -> Self {
        Parser { text, at }
    }

    /// Returns the current byte in the text.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        &self.text.text[self.at..]
    }

    pub(super) fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Skips blanks and then `wanted`; returns false if something else is there.
    pub(super) fn take(&mut self, wanted: &str) -> bool {
        self.blanks();
        let there = self.rest().starts_with(wanted);
        if there {
            self.at += wanted.len();
        }
        there
    }

    /// Parses a name of letters, digits and `_`.
    pub(super) fn name(&mut self) -> Option<(String, Range<usize>)> {
        self.blanks();
        let rest = self.rest();
        let ok = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = rest.find(|c| !ok(c)).unwrap_or(rest.len());
        if end == 0 || rest.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let span = self.at..self.at + end;
        self.at = span.end;
        Some((rest[..end].to_owned(), span))
    }

    /// Returns the bytes of the next character, and its name in a message.
    fn found(&self) -> (Range<usize>, String) {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let shown = &self.rest()[..length];
        let words =
            if length == 0 { "the end of the file".to_owned() } else { format!("`{shown}`") };
        (self.at..self.at + length, words)
    }

    fn expected(&self, what: &str) -> PostError {
        let (span, found) = self.found();
        self.text.error(span, format!("expected {what}, found {found}"), "")
    }

    pub(super) fn call(&mut self) -> Result<Call> {
        let Some(name) = self.name() else {
            return Err(self.expected("the name of a function"));
        };
        self.call_of(name, 0)
    }

    fn call_of(&mut self, (name, name_span): (String, Range<usize>), depth: usize) -> Result<Call> {
        if !self.take("(") {
            let help = format!("a function is called with its arguments: `{name}(...)`");
            let (span, found) = self.found();
            return Err(self.text.error(span, format!("expected `(`, found {found}"), help));
        }
        let arguments = self.separated(")", |parser| parser.argument(depth + 1))?;
        let span = name_span.start..self.at;
        Ok(Call { name, name_span, arguments, span })
    }

    /// Parses elements separated by commas, up to `end`.
    fn separated<T>(&mut self, end: &str, one: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut out = Vec::new();
        while !self.take(end) {
            out.push(one(self)?);
            if !self.take(",") {
                if self.take(end) {
                    break;
                }
                return Err(self.expected(&format!("`,` or `{end}`")));
            }
        }
        Ok(out)
    }

    fn argument(&mut self, depth: usize) -> Result<Argument> {
        let before = self.at;
        if let Some(name) = self.name() {
            if self.take("=") {
                return Ok(Argument { name: Some(name), value: self.expression(depth)? });
            }
            self.at = before;
        }
        Ok(Argument { name: None, value: self.expression(depth)? })
    }

    fn expression(&mut self, depth: usize) -> Result<Expression> {
        self.blanks();
        let start = self.at;
        if depth > DEPTH {
            let message = format!("calls and lists are nested more than {DEPTH} deep");
            return Err(self.text.error(start..start + 1, message, ""));
        }
        let what = match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => ExpressionKind::Text(self.quoted(quote)?),
            Some('[') => {
                self.at += 1;
                ExpressionKind::List(self.separated("]", |parser| parser.expression(depth + 1))?)
            }
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '.') => {
                ExpressionKind::Number(self.number()?)
            }
            _ => match self.name() {
                Some((name, _)) if name == "true" => ExpressionKind::Truth(true),
                Some((name, _)) if name == "false" => ExpressionKind::Truth(false),
                Some(name) => ExpressionKind::Call(self.call_of(name, depth)?),
                None => return Err(self.expected("a text in quotes, a number, a list or a call")),
            },
        };
        Ok(Expression { what, span: start..self.at })
    }

    fn quoted(&mut self, quote: char) -> Result<String> {
        let start = self.at;
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                c if c == quote => {
                    self.at = start + i + 1;
                    return Ok(out);
                }
                '\\' => out.extend(chars.next().map(|(_, c)| c)),
                '\n' => break,
                c => out.push(c),
            }
        }
        let message = "the text is never closed";
        Err(self.text.error(start..start + 1, message, format!("end it with {quote} on its line")))
    }

    fn number(&mut self) -> Result<f64> {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let span = self.at..self.at + end;
        let number = rest[..end].parse::<f64>().ok().filter(|n| n.is_finite());
        self.at = span.end;
        number.ok_or_else(|| {
            self.text.error(
                span,
                format!("`{}` is not a number", &rest[..end]),
                "write a name in quotes",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str) -> Result<Call, PostError> {
        Parser::new(TemplateText { name: "x.md", text }, 0).call()
    }

    #[test]
    fn calls_stand_inside_each_other() {
        let c =
            call("better( mean(\"a-*\"), than='b', digits = 1, of=[\"x\", 2.5], ok=true)").unwrap();
        assert_eq!((c.name.as_str(), c.arguments.len()), ("better", 5));
        assert!(matches!(&c.arguments[0].value.what, ExpressionKind::Call(m) if m.name == "mean"));
        assert_eq!(c.arguments[2].value.what, ExpressionKind::Number(1.0));
        assert!(matches!(&c.arguments[3].value.what, ExpressionKind::List(l) if l.len() == 2));
    }

    #[test]
    fn mistakes_are_placed() {
        for (text, wanted, place) in [
            ("better(\"a\", than=)", "expected a text in quotes", ":1:18"),
            ("better(\"a\"", "expected `,` or `)`, found the end of the file", ":1:11"),
            ("better \"a\"", "expected `(`", ":1:8"),
            ("value(\"a)", "the text is never closed", ":1:7"),
            ("value(1x)", "`1x` is not a number", ":1:7"),
        ] {
            let e = call(text).unwrap_err().to_string();
            assert!(e.contains(wanted) && e.contains(place), "{e}");
        }
        let deep = format!("f({}1{})", "[".repeat(40), "]".repeat(40));
        assert!(call(&deep).unwrap_err().to_string().contains("deep"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,120}") {
            if let Err(e) = call(&text) {
                let _ = e.render(true);
            }
        }
    }
}

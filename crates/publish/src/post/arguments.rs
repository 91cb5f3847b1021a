//! The arguments of a call, checked against the signature of its function.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::{PostError, Result, TemplateText, suggestion};
use super::expression::{Call, Expression, ExpressionKind};

/// The arguments that a function takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    /// Names of the arguments; the first ones may be given without their names.
    pub(super) arguments: &'static [&'static str],
    /// Number of arguments that may be given without their names.
    pub(super) unnamed: usize,
    /// Number of arguments, from the first on, that must be given.
    pub(super) needed: usize,
    /// An example call, for help messages.
    pub(super) example: &'static str,
}

impl Signature {
    fn help(self) -> String {
        format!("for example `{}`", self.example)
    }
}

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    text: TemplateText<'a>,
    call: &'a Call,
    signature: Signature,
    given: BTreeMap<&'static str, &'a Expression>,
}

impl<'a> Arguments<'a> {
    /// Binds the arguments of a call to the names of its signature.
    pub(super) fn bind(
        text: TemplateText<'a>,
        call: &'a Call,
        signature: Signature,
    ) -> Result<Self> {
        let mut given: BTreeMap<&'static str, &Expression> = BTreeMap::new();
        let mut unnamed = 0;
        let name = signature.name;
        for argument in &call.arguments {
            let (slot, span) = match &argument.name {
                Some((written, span)) => {
                    let known = signature.arguments.iter().find(|a| *a == written);
                    let Some(slot) = known else {
                        let message = format!("`{name}` has no argument `{written}`");
                        let help = suggestion(written, signature.arguments);
                        return Err(text.error(span.clone(), message, help));
                    };
                    (*slot, span.clone())
                }
                None if unnamed < signature.unnamed => {
                    unnamed += 1;
                    (signature.arguments[unnamed - 1], argument.value.span.clone())
                }
                None => {
                    let message = format!("`{name}` takes no further argument without a name");
                    return Err(text.error(argument.value.span.clone(), message, signature.help()));
                }
            };
            if given.insert(slot, &argument.value).is_some() {
                return Err(text.error(span, format!("`{slot}` is given twice"), ""));
            }
        }
        if let Some(lacking) =
            signature.arguments[..signature.needed].iter().find(|a| !given.contains_key(*a))
        {
            let message = format!("`{name}` needs `{lacking}`");
            return Err(text.error(call.span.clone(), message, signature.help()));
        }
        Ok(Arguments { text, call, signature, given })
    }

    /// Returns the bytes of an argument, or of the call if the argument is not given.
    pub(super) fn span_of(&self, argument: &str) -> Range<usize> {
        self.given.get(argument).map_or(&self.call.span, |e| &e.span).clone()
    }

    pub(super) fn call(&self) -> &'a Call {
        self.call
    }

    /// Returns the arguments that are calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a Call> {
        self.given.values().filter_map(|e| match &e.what {
            ExpressionKind::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the name of the function.
    pub(super) fn function(&self) -> &'static str {
        self.signature.name
    }

    /// Returns the line of the call.
    pub(super) fn line(&self) -> usize {
        self.text.place(self.call.span.start).0
    }

    /// Creates an error about an argument, or about the call if the argument is not given.
    pub(super) fn error(
        &self,
        argument: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> PostError {
        self.text.error(self.span_of(argument), message, help)
    }

    fn wrong(&self, argument: &str, given: &Expression, wanted: &str) -> PostError {
        let message = format!(
            "`{argument}` of `{}` is {wanted}, not {}",
            self.signature.name,
            given.what.word()
        );
        self.text.error(given.span.clone(), message, self.signature.help())
    }

    /// Returns the argument as it is written.
    pub(super) fn get(&self, argument: &str) -> Option<&'a Expression> {
        self.given.get(argument).copied()
    }

    /// Returns an argument that is a text.
    pub(super) fn text(&self, argument: &str) -> Result<Option<&'a str>> {
        match self.get(argument) {
            None => Ok(None),
            Some(Expression { what: ExpressionKind::Text(text), .. }) => Ok(Some(text)),
            Some(other) => Err(self.wrong(argument, other, "a text in quotes")),
        }
    }

    /// Returns an argument that is a whole number from 0 to `most`.
    pub(super) fn count(&self, argument: &str, most: usize) -> Result<Option<usize>> {
        match self.get(argument) {
            None => Ok(None),
            Some(e @ Expression { what: ExpressionKind::Number(n), .. }) => {
                if n.fract() == 0.0 && *n >= 0.0 && *n <= most as f64 {
                    Ok(Some(*n as usize))
                } else {
                    let message = format!("`{argument}` is a whole number from 0 to {most}");
                    Err(self.text.error(e.span.clone(), message, ""))
                }
            }
            Some(other) => Err(self.wrong(argument, other, "a whole number")),
        }
    }

    /// Returns an argument that is `true` or `false`; false if it is not given.
    pub(super) fn truth(&self, argument: &str) -> Result<bool> {
        match self.get(argument) {
            None => Ok(false),
            Some(Expression { what: ExpressionKind::Truth(t), .. }) => Ok(*t),
            Some(other) => Err(self.wrong(argument, other, "`true` or `false`")),
        }
    }

    /// Returns a text, or a list of texts, each with its bytes; empty if it is not given.
    pub(super) fn texts(&self, argument: &str) -> Result<Vec<(&'a str, Range<usize>)>> {
        let mut out = Vec::new();
        for e in self.members(argument) {
            match &e.what {
                ExpressionKind::Text(text) => out.push((text.as_str(), e.span.clone())),
                _ => return Err(self.wrong(argument, e, "a text in quotes or a list of them")),
            }
        }
        Ok(out)
    }

    /// Returns the members of a list, or a single value as a list of one.
    pub(super) fn members(&self, argument: &str) -> Vec<&'a Expression> {
        match self.get(argument) {
            None => Vec::new(),
            Some(Expression { what: ExpressionKind::List(list), .. }) => list.iter().collect(),
            Some(one) => vec![one],
        }
    }
}

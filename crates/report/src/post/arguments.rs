//! The arguments of a call, checked against what its function takes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::error::{PostError, Result, Text, meant};
use super::expression::{Call, Expression, What};

/// What a function takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    /// The names of its arguments; the first ones may be given without them.
    pub(super) arguments: &'static [&'static str],
    /// How many may be given without their names.
    pub(super) unnamed: usize,
    /// How many of them must be given.
    pub(super) needed: usize,
    /// A call of it, for help.
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
    text: Text<'a>,
    call: &'a Call,
    signature: Signature,
    given: BTreeMap<&'static str, &'a Expression>,
}

impl<'a> Arguments<'a> {
    /// Binds the arguments of a call.
    pub(super) fn bind(text: Text<'a>, call: &'a Call, signature: Signature) -> Result<Self> {
        let mut given: BTreeMap<&'static str, &Expression> = BTreeMap::new();
        let mut unnamed = 0;
        let name = signature.name;
        for argument in &call.arguments {
            let (slot, span) = match &argument.name {
                Some((written, span)) => {
                    let known = signature.arguments.iter().find(|a| *a == written);
                    let Some(slot) = known else {
                        let message = format!("`{name}` has no argument `{written}`");
                        let help = meant(written, signature.arguments);
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

    /// The place of an argument, or of the call where it is not given.
    pub(super) fn span_of(&self, argument: &str) -> Range<usize> {
        self.given.get(argument).map_or(&self.call.span, |e| &e.span).clone()
    }

    /// The call itself.
    pub(super) fn call(&self) -> &'a Call {
        self.call
    }

    /// The arguments that are calls.
    pub(super) fn calls(&self) -> impl Iterator<Item = &'a Call> {
        self.given.values().filter_map(|e| match &e.what {
            What::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The function's name.
    pub(super) fn function(&self) -> &'static str {
        self.signature.name
    }

    /// The line of the call.
    pub(super) fn line(&self) -> usize {
        self.text.place(self.call.span.start).0
    }

    /// A mistake about an argument, or about the call where it is not given.
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

    /// The argument as it is written.
    pub(super) fn get(&self, argument: &str) -> Option<&'a Expression> {
        self.given.get(argument).copied()
    }

    /// A text.
    pub(super) fn text(&self, argument: &str) -> Result<Option<&'a str>> {
        match self.get(argument) {
            None => Ok(None),
            Some(Expression { what: What::Text(text), .. }) => Ok(Some(text)),
            Some(other) => Err(self.wrong(argument, other, "a text in quotes")),
        }
    }

    /// A whole number within limits.
    pub(super) fn count(&self, argument: &str, most: usize) -> Result<Option<usize>> {
        match self.get(argument) {
            None => Ok(None),
            Some(e @ Expression { what: What::Number(n), .. }) => {
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

    /// `true` or `false`; `false` where it is not given.
    pub(super) fn truth(&self, argument: &str) -> Result<bool> {
        match self.get(argument) {
            None => Ok(false),
            Some(Expression { what: What::Truth(t), .. }) => Ok(*t),
            Some(other) => Err(self.wrong(argument, other, "`true` or `false`")),
        }
    }

    /// A text, or a list of texts, with their places; empty where it is not given.
    pub(super) fn texts(&self, argument: &str) -> Result<Vec<(&'a str, Range<usize>)>> {
        let mut out = Vec::new();
        for e in self.members(argument) {
            match &e.what {
                What::Text(text) => out.push((text.as_str(), e.span.clone())),
                _ => return Err(self.wrong(argument, e, "a text in quotes or a list of them")),
            }
        }
        Ok(out)
    }

    /// The members of a list, or the one that is given alone.
    pub(super) fn members(&self, argument: &str) -> Vec<&'a Expression> {
        match self.get(argument) {
            None => Vec::new(),
            Some(Expression { what: What::List(list), .. }) => list.iter().collect(),
            Some(one) => vec![one],
        }
    }
}

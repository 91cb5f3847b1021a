//! Texts with `{placeholders}`. A value always stays within the argument that contains its
//! placeholder; it never becomes shell text.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use super::format::{Command, KitText};
use crate::words::{WordsError, split_words};
use crate::{Launch, WorkloadError};

/// Placeholders of a text or command, in order.
pub(crate) type Holes<'a> = Result<Vec<&'a str>, TemplateError>;

/// Values of placeholders by name.
pub(crate) type Values = BTreeMap<String, OsString>;

/// Reason why a text with placeholders cannot be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("`{0}` has a single brace; write {{{{ or }}}} for a brace itself")]
    SingleBrace(String),
    #[error("{{{name}}} is unknown here; there are {known}")]
    Unknown { name: String, known: String },
    /// The value is not a list of words.
    #[error("{{{name}}}: {source}")]
    Words { name: String, source: WordsError },
}

impl From<TemplateError> for WorkloadError {
    fn from(error: TemplateError) -> Self {
        WorkloadError::Param(error.to_string())
    }
}

impl From<TemplateError> for String {
    fn from(error: TemplateError) -> Self {
        error.to_string()
    }
}

enum TemplatePart<'a> {
    Plain(&'a str),
    Hole(&'a str),
}

fn parts(text: &str) -> Result<Vec<TemplatePart<'_>>, TemplateError> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (plain, tail) = rest.split_at(at);
        parts.push(TemplatePart::Plain(plain));
        if let Some(after) = tail.strip_prefix("{{").or_else(|| tail.strip_prefix("}}")) {
            parts.push(TemplatePart::Plain(&tail[..1]));
            rest = after;
        } else if let Some((name, after)) = tail.strip_prefix('{').and_then(|t| t.split_once('}')) {
            parts.push(TemplatePart::Hole(name));
            rest = after;
        } else {
            return Err(TemplateError::SingleBrace(text.to_owned()));
        }
    }
    parts.push(TemplatePart::Plain(rest));
    Ok(parts)
}

/// Returns the placeholders in a text, in order. A whole argument `{name...}` counts as `name`.
///
/// # Errors
/// Fails if a brace is neither part of a placeholder nor doubled.
pub(crate) fn holes(text: &str) -> Holes<'_> {
    if let Some(name) = splat(text) {
        return Ok(vec![name]);
    }
    Ok(parts(text)?
        .into_iter()
        .filter_map(|part| match part {
            TemplatePart::Hole(name) => Some(name),
            TemplatePart::Plain(_) => None,
        })
        .collect())
}

/// Returns the name in `{name...}`, which expands to several arguments.
fn splat(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix("...}").filter(|name| !name.contains(['{', '}']))
}

/// Lists placeholders for an error message.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names.into_iter().map(|name| format!("{{{name}}}")).collect::<Vec<_>>().join(", ")
}

fn value<'a>(name: &str, values: &'a Values) -> Result<&'a OsStr, TemplateError> {
    values.get(name).map(OsString::as_os_str).ok_or_else(|| TemplateError::Unknown {
        name: name.to_owned(),
        known: listed(values.keys()),
    })
}

/// Returns a text with its placeholders filled in.
///
/// # Errors
/// Fails if a placeholder is unknown or a single brace occurs.
pub(crate) fn render(text: &str, values: &Values) -> Result<OsString, TemplateError> {
    let mut out = OsString::new();
    for part in parts(text)? {
        match part {
            TemplatePart::Plain(plain) => out.push(plain),
            TemplatePart::Hole(name) => out.push(value(name, values)?),
        }
    }
    Ok(out)
}

/// Returns a command with its placeholders filled in. The whole argument `{name...}` expands to the
/// words of the value, none or several. A shell line is not changed; it gets every value as an
/// environment variable.
///
/// # Errors
/// Fails if a placeholder is unknown, a single brace occurs, or a value is not a list
/// of words.
pub(crate) fn render_command(
    command: &Command,
    env: &BTreeMap<String, KitText>,
    values: &Values,
) -> Result<Launch, TemplateError> {
    let mut rendered = Launch::default();
    match command {
        Command::Args(args) => {
            for arg in args {
                let text = arg.get_ref();
                if let Some(name) = splat(text) {
                    let words = value(name, values)?.to_string_lossy();
                    let wrong = |source| TemplateError::Words { name: name.to_owned(), source };
                    rendered.argv.extend(split_words(&words).map_err(wrong)?);
                } else {
                    rendered.argv.push(render(text, values)?);
                }
            }
        }
        Command::Shell(line) => {
            rendered.argv = vec!["sh".into(), "-c".into(), line.get_ref().into()];
            rendered.env = values.iter().map(|(k, v)| (variable(k).into(), v.clone())).collect();
        }
    }
    for (name, text) in env {
        rendered.env.push((name.into(), render(text.get_ref(), values)?));
    }
    Ok(rendered)
}

/// Returns the environment variable that holds a placeholder's value for a shell line: `KIT_` and
/// the name in capitals, with `-` and `.` replaced by `_`.
pub(crate) fn variable(name: &str) -> String {
    let upper = name.to_uppercase().replace(['-', '.'], "_");
    format!("KIT_{upper}")
}

/// Formats a command for people, with its placeholders.
pub(crate) fn shown(command: &Command) -> String {
    match command {
        Command::Args(args) => {
            let shown = |arg: &KitText| match arg.get_ref() {
                text if text.is_empty() || text.contains([' ', '\'', '"', '\n']) => {
                    format!("'{}'", text.replace('\'', "'\\''"))
                }
                text => text.clone(),
            };
            args.iter().map(shown).collect::<Vec<_>>().join(" ")
        }
        Command::Shell(line) => format!("sh -c '{}'", line.get_ref().replace('\'', "'\\''")),
    }
}

/// Returns the placeholders that a command uses; for a shell line, those whose variable it
/// mentions.
///
/// # Errors
/// Returns the same errors as [`holes`].
pub(crate) fn command_holes<'a>(command: &'a Command, known: &'a [String]) -> Holes<'a> {
    match command {
        Command::Args(args) => {
            let mut all = Vec::new();
            for arg in args {
                all.extend(holes(arg.get_ref())?);
            }
            Ok(all)
        }
        Command::Shell(line) => Ok(known
            .iter()
            .map(String::as_str)
            .filter(|name| line.get_ref().contains(&variable(name)))
            .collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::Spanned;

    use crate::kit::format::Placed;

    fn args(texts: &[&str]) -> Command {
        Command::Args(texts.iter().map(|t| Placed(Spanned::new(0..0, (*t).to_owned()))).collect())
    }

    fn values() -> Values {
        [("level", "3"), ("flags", "-O2 '-DX=a b'"), ("evil", "$(rm x); `y`"), ("none", "")]
            .map(|(k, v)| (k.to_owned(), v.into()))
            .into()
    }

    fn argv(texts: &[&str]) -> Result<Vec<OsString>, String> {
        Ok(render_command(&args(texts), &BTreeMap::new(), &values())?.argv)
    }

    #[test]
    fn a_value_stays_within_its_argument() {
        assert_eq!(argv(&["z", "-{level}", "a{evil}b"]).unwrap(), ["z", "-3", "a$(rm x); `y`b"]);
        assert_eq!(argv(&["cc", "{flags...}", "{none...}"]).unwrap(), ["cc", "-O2", "-DX=a b"]);
        assert_eq!(argv(&["{flags}", "{none}"]).unwrap(), ["-O2 '-DX=a b'", ""]);
        assert_eq!(argv(&["{{level}}"]).unwrap(), ["{level}"]);
    }

    #[test]
    fn unknown_names_are_errors() {
        let error = argv(&["{levle}"]).unwrap_err();
        assert!(error.contains("{levle} is unknown") && error.contains("{level}"), "{error}");
        assert!(argv(&["a}"]).is_err());
        assert!(argv(&["{a"]).is_err());
        assert!(argv(&["{evil...}"]).is_err(), "a shell's characters are no words");
        assert_eq!(holes("{a}-{b}{{c}}").unwrap(), ["a", "b"]);
        assert_eq!(holes("{a...}").unwrap(), ["a"]);
    }

    #[test]
    fn a_shell_line_is_never_written_into() {
        let line = Command::Shell(Placed(Spanned::new(0..0, "echo {level} $KIT_EVIL".into())));
        let rendered = render_command(&line, &BTreeMap::new(), &values()).unwrap();
        assert_eq!(rendered.argv, ["sh", "-c", "echo {level} $KIT_EVIL"]);
        assert!(rendered.env.contains(&("KIT_EVIL".into(), "$(rm x); `y`".into())));
        let known = ["evil".to_owned(), "level".to_owned()];
        assert_eq!(command_holes(&line, &known).unwrap(), ["evil"]);
    }
}

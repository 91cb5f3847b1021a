//! Placeholders in command lines: `{name}` is replaced by the value of the parameter `name`, which
//! the user invented (`--set name=1,6`). Other braces stay as they are.

use std::ffi::OsString;

use crate::WorkloadError;
use crate::declare::wrong;

use super::ParamMap;

/// Parameters whose text may have placeholders.
const LINES: [&str; 5] = ["command", "setup", "prepare", "conclude", "check"];

/// Returns true if a parameter that is not in the specification is a placeholder of one of these
/// texts, which are the values of parameters by name.
pub fn is_placeholder<'a>(name: &str, mut texts: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    let hole = format!("{{{name}}}");
    texts.any(|(param, text)| LINES.contains(&param) && text.contains(&hole))
}

/// Returns the values of the placeholders: those of the parameters that the workload does not have.
fn values(params: &ParamMap) -> impl Iterator<Item = (String, String)> {
    let own = |name: &str| super::spec().params.iter().any(|p| p.name == name);
    let free = params.iter().filter(move |(name, _)| !own(name));
    free.map(|(name, value)| (format!("{{{name}}}"), value.to_text()))
}

/// Fills the placeholders of a word; a value never becomes several words.
pub(super) fn fill(word: OsString, params: &ParamMap) -> OsString {
    let Some(text) = word.to_str().filter(|text| text.contains('{')) else { return word };
    let filled =
        values(params).fold(text.to_owned(), |text, (hole, value)| text.replace(&hole, &value));
    filled.into()
}

/// Fills the placeholders of a line for a shell.
///
/// # Errors
/// If a value has characters that a shell may interpret.
pub(super) fn fill_shell(line: &str, params: &ParamMap) -> Result<String, WorkloadError> {
    let mut line = line.to_owned();
    for (hole, value) in values(params) {
        if !line.contains(&hole) {
            continue;
        }
        let plain = |c: char| c.is_alphanumeric() || "_-+./:=,%@".contains(c);
        if !value.chars().all(plain) {
            return Err(wrong(format!(
                "`{value}` for {hole} has characters that a shell interprets; leave out the shell, \
                 which assay does not need for a value with blanks"
            )));
        }
        line = line.replace(&hole, &value);
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::Scalar;

    fn params() -> ParamMap {
        [("command", "x"), ("n", "6"), ("file", "a b;c")]
            .into_iter()
            .map(|(k, v)| (k.to_owned(), Scalar::parse(v)))
            .collect()
    }

    #[test]
    fn values_stay_within_their_word() {
        let filled = |word: &str| fill(word.into(), &params()).into_string().unwrap();
        assert_eq!(filled("-{n}"), "-6");
        assert_eq!(filled("{file}"), "a b;c");
        assert_eq!(filled("{ print $1 }{command}{m}"), "{ print $1 }{command}{m}");
        assert_eq!(fill_shell("gzip -{n}", &params()).unwrap(), "gzip -6");
        assert!(fill_shell("cat {file}", &params()).unwrap_err().to_string().contains("a b;c"));
    }

    #[test]
    fn only_names_in_the_lines_are_placeholders() {
        let texts = [("command", "gzip -{n}"), ("folder", "{m}")];
        assert!(is_placeholder("n", texts.into_iter()));
        assert!(!is_placeholder("m", texts.into_iter()));
    }
}

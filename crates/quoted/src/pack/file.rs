//! Reader of rule packs: TOML files in which an unknown key is an error with its line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_model::{Severity, nearest};
use serde::Deserialize;
use toml::Spanned;

use super::evaluate::check_names;
use super::judged::CheckParamType;
use super::rule::{Pack, PackRule, PackScope, Parameter, RuleSource, Verdict};

/// Maximum size of a pack file in bytes. Packs are small; a larger file is something else.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackFile {
    schema_version: u32,
    id: String,
    version: String,
    date: String,
    title: String,
    applies_to: PackScope,
    source: RuleSource,
    rule: Vec<Spanned<RuleFile>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    id: Spanned<String>,
    text: String,
    #[serde(default)]
    source: String,
    check: Spanned<String>,
    severity: Severity,
    on_failure: Verdict,
    disclosure: String,
    #[serde(default)]
    parameters: BTreeMap<Spanned<String>, Parameter>,
}

/// Error of reading a pack. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file contains a mistake.
    #[error("{file}:{line}: {message}")]
    Malformed {
        file: String,
        line: usize,
        /// Description of the mistake and of valid input.
        message: String,
    },
}

/// Returns the packs that are built in.
pub fn embedded() -> Vec<Pack> {
    const FILES: [(&str, &str); 3] = [
        ("cpu-1.0.toml", include_str!("../../../../rulepacks/cpu-1.0.toml")),
        ("orders-1.0.toml", include_str!("../../../../rulepacks/orders-1.0.toml")),
        ("fair-use-1.0.toml", include_str!("../../../../rulepacks/fair-use-1.0.toml")),
    ];
    let read = |(name, text)| read(name, text).expect("a test reads every embedded pack");
    FILES.into_iter().map(read).collect()
}

/// Reads every `*.toml` of a folder, in order of their names.
///
/// # Errors
/// The folder or a file cannot be read, or a pack contains a mistake.
pub fn read_dir(dir: &Path) -> Result<Vec<Pack>, PackError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| PackError::Unreadable { path, source }
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(unreadable(dir))? {
        let path = entry.map_err(unreadable(dir))?.path();
        if path.extension().is_some_and(|e| e == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut packs = Vec::new();
    for path in paths {
        let size = std::fs::metadata(&path).map_err(unreadable(&path))?.len();
        let file = path.display().to_string();
        if size > MAX_BYTES {
            let message = format!("a rule pack has at most {MAX_BYTES} bytes, not {size}");
            return Err(PackError::Malformed { file, line: 1, message });
        }
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        packs.push(read(&file, &text)?);
    }
    Ok(packs)
}

/// Parses one pack; `file` is its name for messages.
///
/// # Errors
/// The text is not TOML, has an unknown key, check or parameter, lacks one, or repeats a rule's id.
pub fn read(file: &str, text: &str) -> Result<Pack, PackError> {
    let malformed = |at: usize, message: String| PackError::Malformed {
        file: file.to_owned(),
        line: text.bytes().take(at).fold(1, |line, b| line + usize::from(b == b'\n')),
        message,
    };
    let read: PackFile = toml::from_str(text).map_err(|e| {
        let message = e.message().trim().replace('\n', "; ");
        malformed(e.span().map_or(0, |s| s.start), message)
    })?;
    if read.schema_version > assay_model::SCHEMA_VERSION {
        let message = format!(
            "the pack has format {}; this assay reads up to {}",
            read.schema_version,
            assay_model::SCHEMA_VERSION
        );
        return Err(malformed(0, message));
    }
    let mut rules: Vec<PackRule> = Vec::new();
    for rule in read.rule {
        let mut rule = rule.into_inner();
        let named = rule.parameters.len();
        rule.parameters = rule.parameters.into_iter().map(|(k, v)| (of_today(k), v)).collect();
        if rule.parameters.len() < named {
            let message = "a parameter appears twice, once by its earlier name".to_owned();
            return Err(malformed(rule.check.span().start, message));
        }
        let (at, id) = (rule.id.span().start, rule.id.get_ref());
        if rules.iter().any(|r| r.id == *id) {
            return Err(malformed(
                at,
                format!("rule `{id}` appears twice; every rule needs its own id"),
            ));
        }
        check_parameters(read.applies_to, &rule).map_err(|(at, m)| malformed(at, m))?;
        rules.push(PackRule {
            id: rule.id.into_inner(),
            text: rule.text,
            source: rule.source,
            check: rule.check.into_inner(),
            severity: rule.severity,
            on_failure: rule.on_failure,
            disclosure: rule.disclosure,
            parameters: rule.parameters.into_iter().map(|(k, v)| (k.into_inner(), v)).collect(),
        });
    }
    Ok(Pack {
        id: read.id,
        version: read.version,
        date: read.date,
        title: read.title,
        applies_to: read.applies_to,
        source: read.source,
        rules,
    })
}

/// Former names of parameters in packs of earlier versions, with their current names.
const EARLIER: [(&str, &str); 6] = [
    ("least", "min"),
    ("most", "max"),
    ("least_s", "min_s"),
    ("most_s", "max_s"),
    ("most_months", "max_months"),
    ("ambient_least_c", "ambient_min_c"),
];

/// Translates a parameter's former name to the current one, keeping its position in the file.
fn of_today(key: Spanned<String>) -> Spanned<String> {
    match EARLIER.iter().find(|(earlier, _)| earlier == key.get_ref()) {
        Some((_, now)) => Spanned::new(key.span(), (*now).to_owned()),
        None => key,
    }
}

/// Checks that the rule's check exists, and that its parameters are exactly those of the check.
fn check_parameters(applies: PackScope, rule: &RuleFile) -> Result<(), (usize, String)> {
    let known = check_names(applies);
    let (at, name) = (rule.check.span().start, rule.check.get_ref().as_str());
    let Some((_, takes)) = known.iter().find(|(n, _)| *n == name) else {
        if let Some(retired) = assay_checks::rows::retired(name) {
            return Err((at, format!("{retired}; remove the rule from the pack")));
        }
        let meant = nearest(name, known.iter().map(|(n, _)| *n));
        let hint = meant.map_or(String::new(), |m| format!("; did you mean `{m}`?"));
        return Err((at, format!("there is no check `{name}` for this kind of pack{hint}")));
    };
    for (key, value) in &rule.parameters {
        let at = key.span().start;
        let key = key.get_ref();
        let Some((_, wants)) = takes.iter().find(|(n, _)| n == key) else {
            let names: Vec<&str> = takes.iter().map(|(n, _)| *n).collect();
            let takes = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err((at, format!("`{name}` takes no parameter `{key}`; it takes {takes}")));
        };
        let fits = matches!(
            (wants, value),
            (CheckParamType::Number, Parameter::Number(_))
                | (CheckParamType::Words, Parameter::Words(_))
                | (CheckParamType::Table, Parameter::Table(_))
        );
        if !fits {
            let wants = match wants {
                CheckParamType::Number => "a number",
                CheckParamType::Words => "a list of words",
                CheckParamType::Table => "a table of words",
            };
            return Err((at, format!("`{key}` takes {wants}")));
        }
    }
    match takes.iter().find(|(n, _)| !rule.parameters.keys().any(|k| k.get_ref() == n)) {
        Some((absent, _)) => Err((at, format!("`{name}` needs the parameter `{absent}`"))),
        None => Ok(()),
    }
}

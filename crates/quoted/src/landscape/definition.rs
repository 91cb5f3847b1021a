//! Definitions of landscapes: the tables of `landscapes.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::LandscapeError;
use crate::denominator::Denominator;
use crate::quoted::{QuotedResult, is_date};

/// A word, or several of which one must match.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum WordPattern {
    /// The only word that matches.
    One(String),
    /// Alternatives of which one must match.
    Many(Vec<String>),
}

impl WordPattern {
    fn have(&self, text: &str) -> bool {
        match self {
            WordPattern::One(word) => word == text,
            WordPattern::Many(words) => words.iter().any(|w| w == text),
        }
    }
}

/// Filter of rows: every named column must contain one of its words, spelled as in the file.
pub type Filter = BTreeMap<String, WordPattern>;

/// Returns true if a row passes the filter.
pub(super) fn passes(filter: &Filter, row: &QuotedResult) -> bool {
    filter.iter().all(|(column, words)| row.field(column).is_some_and(|text| words.have(&text)))
}

/// Definition of a landscape.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Primary name of the landscape.
    pub name: Spanned<String>,
    /// Alternative names of the landscape.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Title above the table.
    pub title: String,
    /// Files of results, relative to the folder of the definitions.
    pub files: Vec<String>,
    /// Filter of the files' rows.
    #[serde(default, rename = "where")]
    pub filter: Filter,
    /// Day of the landscape, unless the query has another one.
    pub as_of: Option<String>,
    /// Columns whose texts assign rows to lines; if empty, a line is one result of one system.
    #[serde(default)]
    pub group: Vec<String>,
    /// Columns from left to right.
    pub columns: Vec<ColumnSpec>,
    /// Value columns that determine the order; a line is ranked by the first one that it has. If
    /// empty, all value columns, from left to right.
    #[serde(default)]
    pub order: Vec<String>,
    /// True if the lines keep the order of the file and are not ranked.
    #[serde(default)]
    pub keep_order: bool,
    /// Description of the values where a metric's name is not enough (`elapsed time`).
    #[serde(default)]
    pub measure: String,
    /// Note that readers need to understand the table.
    #[serde(default)]
    pub note: String,
    /// Statement about trademarks in the table.
    #[serde(default)]
    pub trademark: String,
}

/// Definition of a column: exactly one of `field`, `value`, `ratio` and `per`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ColumnSpec {
    /// Title of the column; if absent, it is derived from the contents.
    pub title: Option<String>,
    /// Column of the file whose text is shown.
    pub field: Option<String>,
    /// Column of results, with the key by which `ratio` and `order` refer to it.
    pub value: Option<String>,
    /// Metric of the results; only with `value`.
    pub metric: Option<String>,
    /// Filter of the results; only with `value`.
    #[serde(default, rename = "where")]
    pub filter: Filter,
    /// Keys of two value columns, of which the first is divided by the second.
    pub ratio: Option<[String; 2]>,
    /// Denominator of the deciding value.
    pub per: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    landscape: Vec<Definition>,
}

/// Parses a file of definitions. `name` is used in errors.
///
/// # Errors
/// Not TOML, an unknown key, or a contradictory definition: [`LandscapeError::Definition`] with
/// line and column.
pub fn read_definitions(name: &str, text: &str) -> Result<Vec<Definition>, LandscapeError> {
    let at = |offset: usize, message: String| {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        LandscapeError::Definition { name: name.to_owned(), line, column, message }
    };
    let file: File = toml::from_str(text)
        .map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().trim().replace('\n', "; ")))?;
    let mut names: Vec<&str> = Vec::new();
    for definition in &file.landscape {
        let here = definition.name.span().start;
        let called = definition.name.as_ref();
        definition.check().map_err(|message| at(here, format!("`{called}` {message}")))?;
        for name in
            std::iter::once(called.as_str()).chain(definition.aliases.iter().map(String::as_str))
        {
            if names.contains(&name) {
                return Err(at(here, format!("`{name}` names two landscapes")));
            }
            names.push(name);
        }
    }
    Ok(file.landscape)
}

impl Definition {
    /// Returns true if `name` is the landscape's name or one of its aliases.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.as_ref() == name || self.aliases.iter().any(|a| a == name)
    }

    /// Returns the keys of the value columns.
    pub(super) fn value_keys(&self) -> Vec<&str> {
        self.columns.iter().filter_map(|c| c.value.as_deref()).collect()
    }

    /// Returns the keys of the deciding columns; a line is ranked by the first one that it has.
    pub(super) fn deciding(&self) -> Vec<&str> {
        if self.order.is_empty() {
            self.value_keys()
        } else {
            self.order.iter().map(String::as_str).collect()
        }
    }

    /// Creates a definition with one value column, for results without a definition.
    pub(super) fn plain(name: &str, title: String, file: &str, fields: &[&str]) -> Self {
        let mut columns: Vec<ColumnSpec> = fields.iter().map(|f| ColumnSpec::field(f)).collect();
        let value = Some("value".to_owned());
        columns.push(ColumnSpec { value, ..ColumnSpec::default() });
        Definition {
            name: Spanned::new(0..0, name.to_owned()),
            aliases: Vec::new(),
            title,
            files: vec![file.to_owned()],
            filter: Filter::new(),
            as_of: None,
            group: Vec::new(),
            columns,
            order: Vec::new(),
            keep_order: false,
            measure: String::new(),
            note: String::new(),
            trademark: String::new(),
        }
    }

    fn check(&self) -> Result<(), String> {
        let keys = self.value_keys();
        if keys.is_empty() {
            return Err("has no column with `value`, so it shows no result".to_owned());
        }
        if self.files.is_empty() {
            return Err("names no files".to_owned());
        }
        if let Some(day) = self.as_of.as_ref().filter(|d| !is_date(d)) {
            return Err(format!("has as_of `{day}`, which is not a date such as 2009-08-27"));
        }
        for (i, key) in keys.iter().enumerate() {
            if keys[..i].contains(key) {
                return Err(format!("has two value columns `{key}`"));
            }
        }
        let ratios = self.columns.iter().filter_map(|c| c.ratio.as_ref()).flatten();
        for key in self.order.iter().chain(ratios) {
            if !keys.contains(&key.as_str()) {
                let known = keys.join(", ");
                return Err(format!("names a value column `{key}`, but has only {known}"));
            }
        }
        self.columns.iter().try_for_each(ColumnSpec::check)
    }
}

impl ColumnSpec {
    /// Creates a column that shows a field of the file.
    pub(super) fn field(name: &str) -> Self {
        ColumnSpec { field: Some(name.to_owned()), ..ColumnSpec::default() }
    }

    /// Returns the denominator of a `per` column.
    pub(super) fn denominator(&self) -> Option<Denominator> {
        self.per.as_ref().and_then(|d| d.parse().ok())
    }

    fn check(&self) -> Result<(), String> {
        let roles =
            [self.field.is_some(), self.value.is_some(), self.ratio.is_some(), self.per.is_some()];
        if roles.iter().filter(|r| **r).count() != 1 {
            return Err(
                "has a column that is not exactly one of `field`, `value`, `ratio` and `per`"
                    .to_owned(),
            );
        }
        if self.value.is_none() && (self.metric.is_some() || !self.filter.is_empty()) {
            return Err("has `metric` or `where` in a column without `value`".to_owned());
        }
        if let Some(per) = &self.per {
            per.parse::<Denominator>().map_err(|e| format!("has a column of which {e}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(body: &str) -> String {
        let head = "[[landscape]]\nname = \"a\"\ntitle = \"A\"\nfiles = [\"a.csv\"]\n";
        read_definitions("l.toml", &format!("{head}{body}")).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_named_with_line_and_column() {
        assert!(error("columnz = []\n").starts_with("l.toml:5:1: unknown field `columnz`"));
        assert!(
            error("columns = [{ field = \"id\" }]\n").starts_with("l.toml:2:8: `a` has no column")
        );
        let two = error("columns = [{ value = \"v\" }, { field = \"id\", per = \"core\" }]\n");
        assert!(two.contains("exactly one of `field`"), "{two}");
        let ratio = error("columns = [{ value = \"v\" }, { ratio = [\"v\", \"w\"] }]\n");
        assert!(ratio.contains("value column `w`, but has only v"), "{ratio}");
        let per = error("columns = [{ value = \"v\" }, { per = \"cor\" }]\n");
        assert!(per.contains("did you mean `core`?"), "{per}");
        let day = error("as_of = \"1 May\"\ncolumns = [{ value = \"v\" }]\n");
        assert!(day.contains("not a date"), "{day}");
        let again = error(
            "columns = [{ value = \"v\" }]\n[[landscape]]\nname = \"a\"\ntitle = \"\"\n\
            files = [\"x\"]\ncolumns = [{ value = \"v\" }]\n",
        );
        assert!(again.starts_with("l.toml:7:8: `a` names two landscapes"), "{again}");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}") {
            let _ = read_definitions("l.toml", &text);
        }
    }
}

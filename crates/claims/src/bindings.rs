//! The claims file: for each claim its quote, the number it states and the expression that
//! recomputes it.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use crate::declared_tables::TableDeclaration;

/// Version of the format that this crate reads.
const FORMAT: u32 = 1;

/// A mistake in a claims file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {message}")]
pub struct ClaimsError {
    /// Name of the claims file.
    pub file: String,
    /// Line number, from 1.
    pub line: usize,
    /// The mistake and the next step.
    pub message: String,
}

/// Bindings of the claims of one text.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimsFile {
    /// Version of this format: 1.
    pub format: u32,
    /// Name of the text's file.
    #[schemars(with = "String")]
    pub text: Spanned<String>,
    /// Date of rankings, unless an expression names another: `2009-08-27`.
    pub as_of: Option<String>,
    /// Declarations of tables in the text.
    #[serde(default, rename = "table")]
    #[schemars(with = "Vec<TableDeclaration>")]
    pub tables: Vec<Spanned<TableDeclaration>>,
    /// The claims with their expressions.
    #[serde(default, rename = "claim")]
    pub claims: Vec<ClaimBinding>,
    /// Name of this file.
    #[serde(skip)]
    pub name: String,
    /// Byte offsets at which the lines of the file begin.
    #[serde(skip)]
    lines: Vec<usize>,
}

/// A claim and the expression that recomputes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimBinding {
    /// Name of the claim, unique in the file.
    #[schemars(with = "Option<String>")]
    pub id: Option<Spanned<String>>,
    /// Words quoted from the text, with white space normalized. They must occur once in the text,
    /// unless `occurrence` selects one of several places.
    #[schemars(with = "String")]
    pub quote: Spanned<String>,
    /// Number of the occurrence of a quote that the text contains several times, from 1.
    pub occurrence: Option<usize>,
    /// The number that the claim states: `5 %`, `2.3 times`, `more than 25 %`, `13 to 15 %`,
    /// `first`, `"X5570"`; `none` for a claim without one.
    #[schemars(with = "Option<String>")]
    pub says: Option<Spanned<String>>,
    /// Expression that recomputes the number, in the language of posts. If empty, the claim is not
    /// checked.
    #[schemars(with = "String")]
    pub is: Spanned<String>,
    /// Expressions for other readings of the claim. If their verdicts differ, the claim is
    /// ambiguous.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub or: Vec<Spanned<String>>,
    /// Deviation that `about` allows: `5 %`.
    #[schemars(with = "Option<String>")]
    pub within: Option<Spanned<String>>,
    /// Table of a claimed column.
    #[schemars(with = "Option<String>")]
    pub table: Option<Spanned<String>>,
    /// Column in which every row is a claim.
    pub column: Option<String>,
    /// Rows of the column that are not claims.
    #[serde(default)]
    pub except: Vec<String>,
    /// Remark that is shown with the verdict.
    pub note: Option<String>,
}

impl ClaimsFile {
    /// Parses a claims file.
    pub fn read(name: &str, text: &str) -> Result<Self, ClaimsError> {
        let lines: Vec<usize> =
            std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        let line = |at: usize| lines.partition_point(|start| *start <= at);
        let mut file: ClaimsFile = toml::from_str(text).map_err(|e| ClaimsError {
            file: name.to_owned(),
            line: e.span().map_or(1, |s| line(s.start)),
            message: e.message().to_owned(),
        })?;
        name.clone_into(&mut file.name);
        file.lines = lines;
        if file.format != FORMAT {
            let message = format!("format = {}: this assay reads format = {FORMAT}", file.format);
            return Err(file.error(0, message));
        }
        let mut ids = HashSet::new();
        for claim in &file.claims {
            if let Some(id) = &claim.id
                && !ids.insert(id.as_ref())
            {
                let message = format!("id = \"{}\" is taken by a claim above", id.as_ref());
                return Err(file.error(id.span().start, message));
            }
            if claim.column.is_some() != claim.table.is_some() {
                let message = "a claimed column needs both `table` and `column`".to_owned();
                return Err(file.error(claim.quote.span().start, message));
            }
        }
        Ok(file)
    }

    /// Returns an error if the claims file was written for another text.
    pub fn check_text(&self, text: &str) -> Result<(), ClaimsError> {
        let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or("").to_owned();
        if name(self.text.as_ref()) == name(text) {
            return Ok(());
        }
        let own = self.text.as_ref();
        let message = format!(
            "these claims are of `{own}`, not of `{text}`: correct `text`, or name its file"
        );
        Err(self.error(self.text.span().start, message))
    }

    /// Returns the declarations of tables in the file.
    pub fn declarations(&self) -> Vec<TableDeclaration> {
        self.tables.iter().map(|t| t.as_ref().clone()).collect()
    }

    /// Creates an error about the table declaration at an index.
    pub fn table_error(&self, index: usize, message: String) -> ClaimsError {
        self.error(self.tables.get(index).map_or(0, |t| t.span().start), message)
    }

    /// Creates an error about a byte offset of the file.
    pub(crate) fn error(&self, at: usize, message: String) -> ClaimsError {
        let line = self.lines.partition_point(|start| *start <= at);
        ClaimsError { file: self.name.clone(), line, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        ClaimsFile::read("c.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_placed() {
        assert!(error("format = 2\ntext = \"a\"\n").starts_with("c.toml:1: format = 2"));
        assert!(
            error("format = 1\ntext = \"a\"\nclaims = 3\n").starts_with("c.toml:3: unknown field")
        );
        let claim = "format = 1\ntext = \"a\"\n[[claim]]\nid = \"x\"\nquote = \"q\"\nis = \"\"\n";
        let twice = format!("{claim}[[claim]]\nid = \"x\"\nquote = \"r\"\nis = \"\"\n");
        assert!(error(&twice).starts_with("c.toml:8: id = \"x\" is taken"), "{}", error(&twice));
        let column = format!("{claim}column = \"Ratio\"\n");
        assert!(error(&column).starts_with("c.toml:5: a claimed column needs"));
        assert!(error("format = ").starts_with("c.toml:1: "));
    }

    #[test]
    fn claims_of_another_text_are_refused() {
        let file = ClaimsFile::read("c.toml", "format = 1\ntext = \"post.md\"\n").unwrap();
        assert!(file.check_text("posts/post.md").is_ok());
        let message = file.check_text("other.md").unwrap_err().to_string();
        assert!(message.starts_with("c.toml:2: these claims are of `post.md`"), "{message}");
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}", claim in "[a-z\" =\\[\\]\n']{0,60}") {
            let _ = ClaimsFile::read("c", &text);
            let _ = ClaimsFile::read("c", &format!("format = 1\ntext = 'a'\n[[claim]]\n{claim}"));
        }
    }
}

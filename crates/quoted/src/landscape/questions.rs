//! Grouping of results by question, within which they have a common order, and detection of
//! repeated printings of one result.

use super::columns::{labels, question};
use super::definition::Definition;
use super::draft::Draft;
use crate::quoted::QuotedResult;

/// Repeats each line for every question that one of its deciding values answers, if there are
/// several questions.
pub(super) fn by_question<'a>(definition: &Definition, drafts: Vec<Draft<'a>>) -> Vec<Draft<'a>> {
    // Order by the precedence of the columns, then by the order of the file.
    let mut first: Vec<(usize, &QuotedResult)> =
        drafts.iter().filter_map(|d| Some((d.decides?, d.deciding()?))).collect();
    first.sort_by_key(|(column, _)| {
        let keys = definition.value_keys();
        definition.deciding().iter().position(|d| keys.get(*column) == Some(d))
    });
    let decided = distinct_owned(first.into_iter().map(|(_, row)| question(row)));
    if decided.len() < 2 {
        return drafts;
    }
    let keys = definition.value_keys();
    let order: Vec<usize> =
        definition.deciding().iter().filter_map(|d| keys.iter().position(|k| k == d)).collect();
    let mut out: Vec<Draft<'a>> = Vec::new();
    for asked in &decided {
        for draft in &drafts {
            let answers = |i: &usize| draft.values[*i].is_some_and(|row| question(row) == *asked);
            if let Some(at) = order.iter().copied().find(answers) {
                out.push(Draft { values: draft.values.clone(), decides: Some(at) });
            }
        }
    }
    out.extend(drafts.into_iter().filter(|d| d.decides.is_none()));
    out
}

/// Builds labels that distinguish a line from the others of its table; a system may occur in
/// several tables.
pub(super) fn labels_by_question(definition: &Definition, drafts: &[Draft<'_>]) -> Vec<String> {
    drafts
        .chunk_by(|a, b| a.deciding().map(question) == b.deciding().map(question))
        .flat_map(|table| labels(definition, table))
        .collect()
}

fn distinct_owned(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for text in texts {
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

/// Returns true if two rows of one line are printings of the same result: the file marks them as
/// such, or another document printed the same value of the same configuration, or any value on
/// another day. Two rows of one document are two results, such as the seconds of a listing.
pub(super) fn is_newer_printing(old: &QuotedResult, row: &QuotedResult) -> bool {
    if question(old) != question(row) {
        return false;
    }
    if old.result.is_some() && old.result == row.result {
        return old.as_of_date != row.as_of_date || old.value == row.value;
    }
    old.source != row.source && (old.as_of_date != row.as_of_date || old.value == row.value)
}

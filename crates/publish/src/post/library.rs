//! The quoted results that a template can name, by id or by the end of an id.

use std::collections::{BTreeSet, HashMap};

use assay_model::Better;
use assay_quoted::denominator::SystemResult;
use assay_quoted::landscape::{Collection, LandscapeError, entry};
use assay_quoted::quoted::{QuotedResult, QuotedSource};

/// Quoted results with their sources, and the landscapes over them.
#[derive(Debug, Clone)]
pub struct Library {
    /// Landscapes and sources of the results.
    pub collection: Collection,
    results: Vec<QuotedResult>,
    labels: Vec<String>,
    by_id: HashMap<String, usize>,
}

/// Reason why a name refers to no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MissingResult {
    /// The name is the end of several ids, which are listed.
    Several(Vec<String>),
    /// The name is the end of no id.
    None,
}

impl Library {
    /// Loads all results of a collection.
    ///
    /// # Errors
    /// A file of results is malformed: [`LandscapeError`].
    pub fn new(collection: Collection) -> Result<Self, Box<LandscapeError>> {
        let mut results: Vec<QuotedResult> = Vec::new();
        let mut by_id = HashMap::new();
        for row in collection.results().map_err(Box::new)? {
            // Folders added later come first, and may print a result again: their row counts.
            if !by_id.contains_key(&row.id) {
                by_id.insert(row.id.clone(), results.len());
                results.push(row);
            }
        }
        let labels = labels(&results);
        Ok(Library { collection, results, labels, by_id })
    }

    /// Returns the number of results.
    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    pub(super) fn result(&self, at: usize) -> &QuotedResult {
        &self.results[at]
    }

    /// Returns the name of the system, which tells the result from others of the metric.
    pub(super) fn label(&self, at: usize) -> &str {
        &self.labels[at]
    }

    /// Returns the result in a form that can be divided and compared.
    pub(super) fn entry(&self, at: usize) -> SystemResult {
        let row = &self.results[at];
        let better = match row.higher_is_better {
            Some(true) => Better::Higher,
            Some(false) => Better::Lower,
            None => Better::Neither,
        };
        entry(row, &self.labels[at], better)
    }

    /// Returns the newest publication of a result.
    pub(super) fn newest(
        &self,
        benchmark: &str,
        metric: &str,
        result: &str,
    ) -> Option<&QuotedResult> {
        let same = |r: &&QuotedResult| {
            r.benchmark == benchmark && r.metric == metric && r.result.as_deref() == Some(result)
        };
        self.results.iter().filter(same).max_by(|a, b| a.as_of_date.cmp(&b.as_of_date))
    }

    /// Returns the document that a result is quoted from.
    pub(super) fn source(&self, key: &str) -> Option<&QuotedSource> {
        self.collection.sources().find(|s| s.key == key)
    }

    /// Describes the document: `BestPerf, 2009-08-27: SPECjbb2005 on the ...`.
    pub(super) fn source_words(&self, key: &str) -> String {
        self.source(key).map_or_else(
            || if key.is_empty() { "source not recorded".to_owned() } else { key.to_owned() },
            |s| format!("{}, {}: {}", s.site, s.date, s.subject),
        )
    }

    /// Returns every id, for messages.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.results.iter().map(|r| r.id.as_str())
    }

    /// Returns the index of a complete id.
    pub(super) fn at(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    /// Finds the result that a name refers to: an id, or the end after a `-` of exactly one id.
    pub(super) fn find(&self, name: &str) -> Result<usize, MissingResult> {
        if let Some(at) = self.by_id.get(name) {
            return Ok(*at);
        }
        let end = format!("-{name}");
        let fits: Vec<usize> =
            (0..self.results.len()).filter(|i| self.results[*i].id.ends_with(&end)).collect();
        match fits.as_slice() {
            [one] => Ok(*one),
            [] => Err(MissingResult::None),
            several => Err(MissingResult::Several(
                several.iter().take(6).map(|i| self.results[*i].id.clone()).collect(),
            )),
        }
    }

    /// Returns the results whose ids match a pattern with `*`, in the order of their files.
    pub(super) fn fitting(&self, pattern: &str) -> Vec<usize> {
        let parts: Vec<&str> = pattern.split('*').collect();
        (0..self.results.len()).filter(|i| fits(&self.results[*i].id, &parts)).collect()
    }
}

/// Returns true if a text consists of the parts in their order, with anything between them.
fn fits(text: &str, parts: &[&str]) -> bool {
    let [first, middle @ .., last] = parts else { return parts == [text] };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns a label for each result: system, chips and clock, and the id if other results of the
/// metric have the same label.
fn labels(results: &[QuotedResult]) -> Vec<String> {
    let plain: Vec<String> = results.iter().map(plain).collect();
    let mut sharing: HashMap<(&str, &str), BTreeSet<&str>> = HashMap::new();
    for (row, label) in results.iter().zip(&plain) {
        let result = row.result.as_deref().unwrap_or(&row.id);
        sharing.entry((label, &row.metric)).or_default().insert(result);
    }
    results
        .iter()
        .zip(&plain)
        .map(|(row, label)| {
            let alone = sharing[&(label.as_str(), row.metric.as_str())].len() == 1;
            if alone { label.clone() } else { format!("{label} [{}]", row.id) }
        })
        .collect()
}

fn plain(row: &QuotedResult) -> String {
    let mut parts = Vec::new();
    if let Some(chips) = row.chips {
        parts.push(if chips == 1.0 { "1 chip".to_owned() } else { format!("{chips} chips") });
    }
    if let Some(ghz) = row.field("ghz") {
        parts.push(format!("{ghz} GHz"));
    }
    if parts.is_empty() {
        row.system.clone()
    } else {
        format!("{} ({})", row.system, parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_id_is_enough_if_it_fits_one() {
        let library = Library::new(Collection::built_in().unwrap()).unwrap();
        let id = |name| library.find(name).map(|i| library.result(i).id.clone());
        assert_eq!(id("t5240-1.6").unwrap(), "jbbA-t5240-1.6");
        assert_eq!(id("jbbA-t5240-1.6").unwrap(), "jbbA-t5240-1.6");
        assert!(matches!(id("tx100").unwrap_err(), MissingResult::Several(s) if s.len() == 2));
        assert_eq!(id("t5240").unwrap_err(), MissingResult::None);
        assert_eq!(
            library.label(library.find("t5240-1.6").unwrap()),
            "Sun SPARC Enterprise T5240 (2 chips, 1.6 GHz)"
        );
        assert_eq!(library.fitting("trap-s9-*-total-tim").len(), 10);
        assert!(library.fitting("nothing-*").is_empty());
    }

    #[test]
    fn patterns() {
        let fit = |text: &str, pattern: &str| fits(text, &pattern.split('*').collect::<Vec<_>>());
        assert!(fit("a-b-c", "a-*-c") && fit("abc", "*") && fit("abc", "abc"));
        assert!(!fit("a-b-d", "a-*-c") && !fit("abc", "ab"));
        assert!(!fit("aba", "ab*ba"), "parts do not overlap");
    }
}

//! Builds a landscape from quoted rows: selects the rows, merges those of one result, and orders
//! the lines.

use std::borrow::Cow;
use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher as _;

use assay_model::{Better, MetricKind};

use super::columns::{cell, column, counts, entry, labels, question};
use super::definition::{ColumnSpec, Definition, passes};
use super::draft::Draft;
use super::questions::{by_question, is_newer_printing, labels_by_question};
use super::{ExcludedRows, Landscape, LandscapeColumn, LandscapeError, LandscapeLine, Query};
use crate::denominator::{self, Basis, better_first};
use crate::quoted::{QuotedResult, QuotedSource};

/// Key that assigns rows to lines: the columns that a definition groups by, else the result that
/// the rows are printings of, else the complete configuration.
#[derive(PartialEq, Eq, Hash)]
enum LineKey<'a> {
    Group(Vec<Option<Cow<'a, str>>>),
    Result(&'a str, &'a str),
    Configuration([Option<&'a str>; 7], [Option<u64>; 5], &'a BTreeMap<String, String>),
}

fn key<'a>(definition: &Definition, row: &'a QuotedResult) -> LineKey<'a> {
    if !definition.group.is_empty() {
        return LineKey::Group(definition.group.iter().map(|column| row.field(column)).collect());
    }
    if let Some(result) = &row.result {
        return LineKey::Result(&row.benchmark, result);
    }
    let bits = |n: Option<f64>| n.map(f64::to_bits);
    LineKey::Configuration(
        [
            Some(&row.benchmark),
            Some(&row.system),
            row.vendor.as_deref(),
            row.processor.as_deref(),
            row.os.as_deref(),
            row.compiler_or_jvm.as_deref(),
            row.config_note.as_deref(),
        ],
        [bits(row.chips), bits(row.cores), bits(row.threads), bits(row.ghz), bits(row.memory_gb)],
        &row.more,
    )
}

/// Lines by the hash of their keys. The keys themselves are not stored, because they would take
/// many times more memory than the rest.
#[derive(Default)]
struct LineIndex {
    by_hash: HashMap<u64, usize>,
    hasher: RandomState,
}

impl LineIndex {
    /// Returns the index of `row`'s line in `drafts`; `None` if the row begins a line, which the
    /// caller must then append.
    fn place(
        &mut self,
        definition: &Definition,
        row: &QuotedResult,
        drafts: &[Draft<'_>],
    ) -> Option<usize> {
        let own = key(definition, row);
        let mut hash = self.hasher.hash_one(&own);
        loop {
            match self.by_hash.entry(hash) {
                Entry::Vacant(free) => {
                    free.insert(drafts.len());
                    return None;
                }
                Entry::Occupied(taken) => {
                    let at = *taken.get();
                    if drafts[at].row().is_some_and(|other| key(definition, other) == own) {
                        return Some(at);
                    }
                }
            }
            hash = hash.wrapping_add(1);
        }
    }
}

pub(super) fn build(
    definition: &Definition,
    rows: &[QuotedResult],
    sources: &[QuotedSource],
    query: &Query,
) -> Result<Landscape, LandscapeError> {
    let as_of = query.as_of.clone().or_else(|| definition.as_of.clone());
    let mut excluded = ExcludedRows::default();
    let mut drafts = drafts(definition, rows, query, as_of.as_deref(), &mut excluded);
    let name = definition.name.as_ref();
    let (unit, better) = measure(name, &drafts)?;
    let basis = query.per.first().map_or(Basis::Total, |d| Basis::Per(*d));
    let ordered_by = (better != Better::Neither
        && (basis != Basis::Total || !definition.keep_order))
        .then_some(basis);
    // Results of different questions have no common order, so each question gets a table of its
    // own.
    if ordered_by.is_some() {
        drafts = by_question(definition, drafts);
    }
    let ranks = put_in_order(&mut drafts, ordered_by, better);
    let metrics = metrics(definition, &drafts);
    let benchmarks = distinct(drafts.iter().filter_map(Draft::row).map(|r| r.benchmark.as_str()));
    let lines_in_all = drafts.len();
    let leaders_in_total = leaders(definition, &drafts, better);
    let mut specs = definition.columns.clone();
    for per in &query.per {
        if !specs.iter().any(|s| s.denominator() == Some(*per)) {
            specs.push(ColumnSpec { per: Some(per.name().to_owned()), ..ColumnSpec::default() });
        }
    }
    let columns: Vec<LandscapeColumn> = specs.iter().map(|s| column(s, &unit, better)).collect();
    let labels = if ordered_by.is_some() {
        labels_by_question(definition, &drafts)
    } else {
        labels(definition, &drafts)
    };
    let lines: Vec<LandscapeLine> = labels
        .iter()
        .zip(&drafts)
        .zip(ranks)
        .map(|((label, draft), rank)| line(&specs, definition, draft, label, rank, better))
        .collect();
    let mut landscape = Landscape {
        name: name.clone(),
        title: definition.title.clone(),
        benchmarks,
        metrics,
        measure: definition.measure.clone(),
        unit,
        better,
        as_of,
        ordered_by,
        columns,
        lines,
        lines_in_all,
        excluded,
        sources: Vec::new(),
        note: definition.note.clone(),
        trademark: definition.trademark.clone(),
        findings: Vec::new(),
        leaders_in_total,
    };
    landscape.cut(query.top.unwrap_or(usize::MAX));
    landscape.sources = of_lines(&landscape.lines, sources);
    Ok(landscape)
}

/// Converts the rows to lines, in the order of the file.
fn drafts<'a>(
    definition: &Definition,
    rows: &'a [QuotedResult],
    query: &Query,
    as_of: Option<&str>,
    excluded: &mut ExcludedRows,
) -> Vec<Draft<'a>> {
    let values: Vec<&ColumnSpec> =
        definition.columns.iter().filter(|c| c.value.is_some()).collect();
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut lines = LineIndex::default();
    for row in rows {
        if query.metric.as_ref().is_some_and(|m| *m != row.metric)
            || !passes(&definition.filter, row)
        {
            continue;
        }
        let Some(column) = values.iter().position(|v| {
            v.metric.as_ref().is_none_or(|m| *m == row.metric) && passes(&v.filter, row)
        }) else {
            continue;
        };
        match (as_of, row.as_of_date.as_deref()) {
            (Some(day), Some(date)) if date > day => {
                excluded.later += 1;
                continue;
            }
            (Some(_), None) => {
                excluded.undated += 1;
                continue;
            }
            _ => {}
        }
        let at = lines.place(definition, row, &drafts).unwrap_or_else(|| {
            drafts.push(Draft { values: vec![None; values.len()], decides: None });
            drafts.len() - 1
        });
        let slot = &mut drafts[at].values[column];
        match slot {
            None => *slot = Some(row),
            Some(old) if !is_newer_printing(old, row) => {
                // Neither of two results supersedes the other, so both are shown.
                let mut values = vec![None; values.len()];
                values[column] = Some(row);
                drafts.push(Draft { values, decides: None });
            }
            Some(old) => {
                excluded.superseded += 1;
                if row.as_of_date > old.as_of_date {
                    *slot = Some(row);
                }
            }
        }
    }
    let keys = definition.value_keys();
    let order: Vec<usize> =
        definition.deciding().iter().filter_map(|d| keys.iter().position(|k| k == d)).collect();
    for draft in &mut drafts {
        draft.decides = order.iter().copied().find(|i| draft.values[*i].is_some());
    }
    drafts
}

/// Returns unit and direction of the deciding values.
fn measure(name: &str, drafts: &[Draft<'_>]) -> Result<(String, Better), LandscapeError> {
    let mut deciding = drafts.iter().filter_map(Draft::deciding);
    let Some(first) = deciding.next() else { return Ok((String::new(), Better::Neither)) };
    if let Some(other) = deciding.clone().find(|r| r.unit != first.unit) {
        return Err(LandscapeError::MixedUnits {
            landscape: name.to_owned(),
            a: first.id.clone(),
            a_unit: first.unit.clone(),
            b: other.id.clone(),
            b_unit: other.unit.clone(),
        });
    }
    let one_way = deciding.all(|r| r.higher_is_better == first.higher_is_better);
    let better = match first.higher_is_better {
        Some(true) if one_way => Better::Higher,
        Some(false) if one_way => Better::Lower,
        _ => Better::Neither,
    };
    Ok((first.unit.clone(), better))
}

/// Sorts the lines from best to worst, those without a number last, and returns their ranks.
fn put_in_order(
    drafts: &mut Vec<Draft<'_>>,
    ordered_by: Option<Basis>,
    better: Better,
) -> Vec<Option<usize>> {
    let Some(basis) = ordered_by else { return vec![None; drafts.len()] };
    let mut asked: Vec<String> = Vec::new();
    let mut numbered: Vec<(usize, Option<f64>, Draft<'_>)> = std::mem::take(drafts)
        .into_iter()
        .map(|d| {
            let own = d.deciding().map_or_else(String::new, question);
            let at = asked.iter().position(|q| *q == own).unwrap_or_else(|| {
                asked.push(own);
                asked.len() - 1
            });
            (at, number(&d, basis, better), d)
        })
        .collect();
    numbered.sort_by(|(q, a, _), (r, b, _)| {
        q.cmp(r).then_with(|| match (a, b) {
            (Some(a), Some(b)) => better_first(better, *a, *b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        })
    });
    let (mut place, mut first) = (0, 0);
    let mut last = None;
    let mut ranks = Vec::with_capacity(numbered.len());
    for (n, (at, value, draft)) in numbered.into_iter().enumerate() {
        if last.is_some_and(|(other, _)| other != at) {
            first = n;
        }
        if last != Some((at, value)) {
            (place, last) = (n - first + 1, Some((at, value)));
        }
        ranks.push(value.map(|_| place));
        drafts.push(draft);
    }
    ranks
}

/// Returns the line that leads in total for each question.
fn leaders(
    definition: &Definition,
    drafts: &[Draft<'_>],
    better: Better,
) -> Vec<(String, denominator::SystemResult)> {
    if better == Better::Neither {
        return Vec::new();
    }
    let mut best: Vec<(String, &Draft<'_>, f64)> = Vec::new();
    for draft in drafts {
        let Some(row) = draft.deciding() else { continue };
        let own = question(row);
        match best.iter_mut().find(|(q, _, _)| *q == own) {
            None => best.push((own, draft, row.value)),
            Some(b) if better_first(better, row.value, b.2).is_lt() => {
                (b.1, b.2) = (draft, row.value);
            }
            Some(_) => {}
        }
    }
    best.into_iter()
        .filter_map(|(question, draft, _)| {
            let label = labels(definition, std::slice::from_ref(draft)).pop()?;
            Some((question, entry(draft.deciding()?, &label, better)))
        })
        .collect()
}

fn number(draft: &Draft<'_>, basis: Basis, better: Better) -> Option<f64> {
    let row = draft.deciding()?;
    let Basis::Per(denominator) = basis else { return Some(row.value) };
    let amount = counts(row).amount(denominator)?;
    let number = if better == Better::Lower { row.value * amount } else { row.value / amount };
    number.is_finite().then_some(number)
}

/// Returns the metrics of the deciding columns, in the order of their precedence.
fn metrics(definition: &Definition, drafts: &[Draft<'_>]) -> Vec<String> {
    let keys = definition.value_keys();
    let columns =
        definition.deciding().into_iter().filter_map(|d| keys.iter().position(|k| *k == d));
    let rows = columns.flat_map(|i| drafts.iter().filter_map(move |d| d.values[i]));
    distinct(rows.map(|r| r.metric.as_str()))
}

fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for text in texts {
        if !out.iter().any(|o| o == text) {
            out.push(text.to_owned());
        }
    }
    out
}

fn line(
    specs: &[ColumnSpec],
    definition: &Definition,
    draft: &Draft<'_>,
    label: &str,
    rank: Option<usize>,
    better: Better,
) -> LandscapeLine {
    let entry = draft.deciding().map(|row| entry(row, label, better));
    let rows = || draft.values.iter().flatten();
    LandscapeLine {
        rank,
        question: draft.deciding().map_or_else(String::new, question),
        kind: MetricKind::Quoted,
        cells: specs.iter().map(|s| cell(s, definition, draft, entry.as_ref())).collect(),
        entry,
        ids: rows().map(|r| r.id.clone()).collect(),
        sources: distinct(rows().map(|r| r.source.as_str())),
        as_of: draft.row().and_then(|r| r.as_of_date.clone()),
    }
}

/// Returns the sources of the lines; a source without a description is returned with its key alone.
fn of_lines(lines: &[LandscapeLine], known: &[QuotedSource]) -> Vec<QuotedSource> {
    let mut keys: Vec<&str> = lines
        .iter()
        .flat_map(|l| &l.sources)
        .map(String::as_str)
        .filter(|k| !k.is_empty())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
        .map(|key| {
            let bare = || QuotedSource { key: key.to_owned(), ..QuotedSource::default() };
            known.iter().find(|s| s.key == key).cloned().unwrap_or_else(bare)
        })
        .collect()
}

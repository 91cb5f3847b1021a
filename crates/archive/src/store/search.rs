//! Searches runs one page at a time. The index counts, sorts and limits, so that thousands of runs
//! cost no more than the page that is shown.

use std::path::Path;

use assay_model::RunSummary;
use assay_model::cancel::checkpoint;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use crate::store::index::{COLUMNS, summary};
use crate::store::listing::{names, read, with_index};
use crate::{Error, Result};

/// Sort order of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortOrder {
    #[default]
    Newest,
    Oldest,
    /// By experiment, then newest first.
    Experiment,
    /// By workload, then newest first.
    Workload,
    /// Largest value first; runs without a value last.
    Greatest,
    /// Smallest value first; runs without a value last.
    Least,
}

/// Conditions and page of a search. An absent condition is met by every run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// A substring of the id, experiment, workload, host, note or a tag, ignoring case.
    pub text: Option<String>,
    /// Exact name of the workload.
    pub workload: Option<String>,
    /// Exact name of the experiment.
    pub experiment: Option<String>,
    /// Exact name of the deciding metric.
    pub metric: Option<String>,
    /// A tag that the run must have (exact).
    pub tag: Option<String>,
    /// A factor: its name, or `name=level`.
    pub factor: Option<String>,
    /// Name of the run's state.
    pub state: Option<String>,
    /// Earliest start: a time or a day (`2026-11-21`), UTC, inclusive.
    pub since: Option<String>,
    /// Latest start: a time or a day, UTC, inclusive.
    pub until: Option<String>,
    pub sort: SortOrder,
    /// Number of matches to skip.
    pub offset: usize,
    /// Maximum number of runs on the page; `None`: all.
    pub limit: Option<usize>,
}

/// One page of matching runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchPage {
    /// Number of all matching runs.
    pub total: usize,
    /// The runs on this page.
    pub runs: Vec<RunSummary>,
}

pub(crate) fn search(archive: &Path, search: &Search) -> Result<SearchPage> {
    // SQLite ignores the case of ASCII letters only.
    if search.text.as_ref().is_some_and(|text| !text.is_ascii()) {
        let all = Search { text: None, offset: 0, limit: None, ..search.clone() };
        let mut runs = self::search(archive, &all)?.runs;
        runs.retain(|run| has_text(run, search));
        return Ok(page(runs, search));
    }
    let from_index = with_index(archive, |index| {
        index.query(|db| {
            let (conditions, values) = conditions(search);
            let total = db
                .prepare_cached(&format!("SELECT count(*) FROM runs WHERE {conditions}"))?
                .query_row(params_from_iter(&values), |row| row.get::<_, i64>(0))
                .optional()?
                .unwrap_or(0);
            let order = match search.sort {
                SortOrder::Newest => "started_at DESC, id DESC",
                SortOrder::Oldest => "started_at, id",
                SortOrder::Experiment => "experiment, started_at DESC, id DESC",
                SortOrder::Workload => "workload, started_at DESC, id DESC",
                SortOrder::Greatest => "value IS NULL, value DESC, id DESC",
                SortOrder::Least => "value IS NULL, value, id DESC",
            };
            let limit = search.limit.map_or(-1, |n| i64::try_from(n).unwrap_or(i64::MAX));
            let sql = format!(
                "SELECT {COLUMNS} FROM runs WHERE {conditions} ORDER BY {order} LIMIT {limit} \
                 OFFSET {}",
                search.offset
            );
            let mut statement = db.prepare_cached(&sql)?;
            let runs = statement.query_map(params_from_iter(&values), |row| {
                checkpoint();
                summary(row)
            })?;
            let runs = runs.collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(SearchPage { total: usize::try_from(total).unwrap_or(0), runs })
        })
    });
    match from_index {
        Err(Error::Index { .. }) => from_files(archive, search),
        other => other,
    }
}

/// Returns the conditions in SQL and their values.
fn conditions(search: &Search) -> (String, Vec<Value>) {
    let mut all = vec!["1".to_owned()];
    let mut values: Vec<Value> = Vec::new();
    let holds =
        |column, test| format!("EXISTS (SELECT 1 FROM json_each(runs.{column}) WHERE {test})");
    let tagged = |test| format!("({} OR {})", holds("tags", test), holds("added_tags", test));
    let fields = "lower(concat_ws(char(10), id, experiment, workload, host, note))";
    let contains = tagged("instr(lower(value), ?) > 0");
    for (condition, value) in [
        ("workload = ?", &search.workload),
        ("experiment = ?", &search.experiment),
        ("metric = ?", &search.metric),
        ("state = ?", &search.state),
        (tagged("value = ?").as_str(), &search.tag),
        (holds("factors", "value = ?").as_str(), &search.factor),
        ("started_at >= ?", &search.since),
        ("started_at <= ?", &search.until.as_deref().map(end_of)),
        (
            format!("(instr({fields}, ?) > 0 OR {contains})").as_str(),
            &search.text.as_ref().map(|text| text.to_lowercase()),
        ),
    ] {
        if let Some(value) = value {
            values.push(Value::Text(value.clone()));
            all.push(condition.replace('?', &format!("?{}", values.len())));
        }
    }
    (all.join(" AND "), values)
}

/// Returns the last moment of a day; a time is returned unchanged.
fn end_of(until: &str) -> String {
    if until.len() == 10 { format!("{until}T23:59:59.999999999Z") } else { until.to_owned() }
}

fn from_files(archive: &Path, search: &Search) -> Result<SearchPage> {
    let until = search.until.as_deref().map(end_of);
    let is = |wanted: &Option<String>, value: &str| wanted.as_deref().is_none_or(|w| w == value);
    let mut runs: Vec<RunSummary> = names(archive)?
        .iter()
        .filter_map(|name| read(archive, name).found.ok())
        .filter(|(run, factors)| {
            is(&search.workload, &run.workload)
                && is(&search.experiment, &run.experiment)
                && is(&search.metric, &run.metric)
                && is(&search.state, run.state.name())
                && search.tag.as_ref().is_none_or(|tag| run.all_tags().any(|t| t == tag))
                && search.factor.as_ref().is_none_or(|factor| factors.contains(factor))
                && search.since.as_ref().is_none_or(|since| run.started_at >= *since)
                && until.as_ref().is_none_or(|until| run.started_at <= *until)
                && has_text(run, search)
        })
        .map(|(run, _)| run)
        .collect();
    runs.sort_by(|a, b| (&b.started_at, &b.id).cmp(&(&a.started_at, &a.id)));
    let by_value = |a: &RunSummary, b: &RunSummary, greatest: bool| match (a.value, b.value) {
        (Some(a), Some(b)) if greatest => b.total_cmp(&a),
        (Some(a), Some(b)) => a.total_cmp(&b),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    match search.sort {
        SortOrder::Newest => {}
        SortOrder::Oldest => runs.reverse(),
        SortOrder::Experiment => runs.sort_by(|a, b| a.experiment.cmp(&b.experiment)),
        SortOrder::Workload => runs.sort_by(|a, b| a.workload.cmp(&b.workload)),
        SortOrder::Greatest => runs.sort_by(|a, b| by_value(a, b, true)),
        SortOrder::Least => runs.sort_by(|a, b| by_value(a, b, false)),
    }
    Ok(page(runs, search))
}

fn has_text(run: &RunSummary, search: &Search) -> bool {
    let Some(text) = search.text.as_ref().map(|text| text.to_lowercase()) else { return true };
    [run.id.as_str(), &run.experiment, &run.workload, &run.host, &run.note]
        .into_iter()
        .chain(run.all_tags())
        .any(|part| part.to_lowercase().contains(&text))
}

/// Returns the page of a search from all matching runs in order.
fn page(runs: Vec<RunSummary>, search: &Search) -> SearchPage {
    let (total, most) = (runs.len(), search.limit.unwrap_or(usize::MAX));
    SearchPage { total, runs: runs.into_iter().skip(search.offset).take(most).collect() }
}

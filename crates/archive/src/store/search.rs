//! Searches runs one page at a time. The index counts, sorts and limits, so that thousands of runs
//! cost no more than the page that is shown.

use std::path::Path;

use assay_model::RunSummary;
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

/// Conditions and page of a search. An empty condition is met by every run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// A substring of the id, experiment, workload, host, note or a tag, ignoring case.
    pub text: String,
    /// Exact name of the workload.
    pub workload: String,
    /// Exact name of the deciding metric.
    pub metric: String,
    /// A tag that the run must have (exact).
    pub tag: String,
    /// A factor: its name, or `name=level`.
    pub factor: String,
    /// Name of the run's state.
    pub state: String,
    /// Earliest start: a time or a day (`2026-11-21`), UTC, inclusive.
    pub since: String,
    /// Latest start: a time or a day, UTC, inclusive.
    pub until: String,
    pub sort: SortOrder,
    /// Number of matches to skip.
    pub offset: usize,
    /// Maximum number of runs on the page.
    pub limit: usize,
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
            let sql = format!(
                "SELECT {COLUMNS} FROM runs WHERE {conditions} ORDER BY {order} LIMIT {} OFFSET {}",
                search.limit, search.offset
            );
            let mut statement = db.prepare_cached(&sql)?;
            let runs = statement.query_map(params_from_iter(&values), summary)?;
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
    let mut add = |condition: &str, value: String| {
        values.push(Value::Text(value));
        all.push(condition.replace('?', &format!("?{}", values.len())));
    };
    for (column, value) in
        [("workload", &search.workload), ("metric", &search.metric), ("state", &search.state)]
    {
        if !value.is_empty() {
            add(&format!("{column} = ?"), value.clone());
        }
    }
    let holds = |column| format!("EXISTS (SELECT 1 FROM json_each(runs.{column}) WHERE value = ?)");
    if !search.tag.is_empty() {
        add(&format!("({} OR {})", holds("tags"), holds("added_tags")), search.tag.clone());
    }
    if !search.factor.is_empty() {
        add(&holds("factors"), search.factor.clone());
    }
    if !search.since.is_empty() {
        add("started_at >= ?", search.since.clone());
    }
    if !search.until.is_empty() {
        add("started_at <= ?", end_of(&search.until));
    }
    if !search.text.is_empty() {
        let any = "(id || ' ' || lower(experiment) || ' ' || lower(workload) || ' ' || lower(host) \
                   || ' ' || lower(tags) || ' ' || lower(added_tags) || ' ' || lower(note))";
        add(&format!("instr({any}, ?) > 0"), search.text.to_lowercase());
    }
    (all.join(" AND "), values)
}

/// Returns the last moment of a day; a time is returned unchanged.
fn end_of(until: &str) -> String {
    if until.len() == 10 { format!("{until}T23:59:59.999999999Z") } else { until.to_owned() }
}

fn from_files(archive: &Path, search: &Search) -> Result<SearchPage> {
    let text = search.text.to_lowercase();
    let until = end_of(&search.until);
    let is = |wanted: &str, value: &str| wanted.is_empty() || wanted == value;
    let mut runs: Vec<RunSummary> = names(archive)?
        .iter()
        .filter_map(|name| read(archive, name).found.ok())
        .filter(|(run, factors)| {
            is(&search.workload, &run.workload)
                && is(&search.metric, &run.metric)
                && is(&search.state, run.state.name())
                && (search.tag.is_empty() || run.all_tags().any(|tag| tag == search.tag))
                && (search.factor.is_empty() || factors.contains(&search.factor))
                && (search.since.is_empty() || run.started_at >= search.since)
                && (search.until.is_empty() || run.started_at <= until)
                && (text.is_empty()
                    || [run.id.as_str(), &run.experiment, &run.workload, &run.host, &run.note]
                        .into_iter()
                        .chain(run.all_tags())
                        .any(|part| part.to_lowercase().contains(&text)))
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
    let total = runs.len();
    let runs = runs.into_iter().skip(search.offset).take(search.limit).collect();
    Ok(SearchPage { total, runs })
}

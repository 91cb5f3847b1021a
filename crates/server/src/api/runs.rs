//! API handlers for runs of the archive.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use assay_lab::{ComparedRun, DeclaredDifferences, across, across_io, parse_margin};
use assay_model::{Across, RunId, RunSummary};
use assay_report::{RunView, TreatmentProfiles};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::app::{App, Server};
use crate::error::{Refusal, Result};
use crate::http::extract::{
    Described, FileResponse, Json, JsonObject, JsonResult, Params, Path, State,
};
use crate::searches::RunQuery;

routes! {
    /// Search the runs of the archive
    "get" "/api/v1/runs" "runs" list, [];
    /// Return all data of one run
    "get" "/api/v1/runs/{id}" "run" one, [];
    /// List the files of one run
    "get" "/api/v1/runs/{id}/files" "files" files, [];
    /// Return one file of a run
    "get" "/api/v1/runs/{id}/files/{number}" "file" file, [409];
    /// Compare runs side by side
    "get" "/api/v1/compare" "compare" compare, [404];
}

/// Maximum number of runs in a comparison.
const MAX_COMPARED: usize = 8;
/// Maximum size of a file that is served, in bytes. `assay archive export` writes larger ones.
pub(crate) const MAX_FILE: u64 = 256 << 20;

/// Page of the runs that a search found.
#[derive(Debug, Serialize, JsonSchema)]
#[allow(clippy::struct_field_names)] // the API uses these names
pub(crate) struct Runs {
    /// Number of runs that were found in total.
    pub total: usize,
    /// Number of this page, from 1.
    pub page: usize,
    /// Maximum number of runs on a page.
    pub limit: usize,
    pub runs: Vec<RunSummary>,
}

pub(crate) async fn list(State(app): Server, Params(asked): Params<RunQuery>) -> JsonResult<Runs> {
    let search = asked.search()?;
    let found = app.heavy(move |app| Ok(app.config.archive.search(&search)?)).await?;
    let (page, limit) = (asked.page(), asked.limit());
    Ok(Json(Runs { total: found.total, page, limit, runs: found.runs }))
}

/// Parses the id of a run. Prefixes are not accepted here, so that an address always means the same
/// run.
pub(crate) fn run_id(text: &str) -> Result<RunId> {
    RunId::try_from(text.to_owned()).map_err(|e| Refusal::not_found(e.to_string()))
}

async fn one(State(app): Server, Path(id): Path<String>) -> Result<JsonObject> {
    let view = app.view(run_id(&id)?).await?;
    let json =
        move |_: &Arc<App>| assay_report::formats::json::write(&view).map_err(|e| Refusal::own(&e));
    let json = app.heavy(json).await?;
    Ok(Described::new(([(CONTENT_TYPE, "application/json")], json).into_response()))
}

/// File of a run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct FileLine {
    /// Number to request the file by.
    pub number: usize,
    /// Path within the run's folder.
    pub name: String,
    pub bytes: u64,
}

/// Returns the files of a run, sorted by name. Links are skipped.
pub(crate) fn list_files(app: &App, id: &RunId) -> Result<Vec<(FileLine, PathBuf)>> {
    let root = app.config.archive.run(id)?.dir().to_owned();
    let mut paths = Vec::new();
    walk(&root, 0, &mut paths);
    paths.sort();
    let lines = paths.into_iter().enumerate().filter_map(|(number, path)| {
        let name = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
        let bytes = std::fs::symlink_metadata(&path).ok()?.len();
        Some((FileLine { number, name, bytes }, path))
    });
    Ok(lines.collect())
}

fn walk(folder: &FilePath, depth: usize, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        match entry.file_type() {
            Ok(t) if t.is_file() => paths.push(entry.path()),
            Ok(t) if t.is_dir() && depth < 3 => walk(&entry.path(), depth + 1, paths),
            _ => {}
        }
    }
}

async fn files(State(app): Server, Path(id): Path<String>) -> JsonResult<Vec<FileLine>> {
    let id = run_id(&id)?;
    let files = app.heavy(move |app| list_files(app, &id)).await?;
    Ok(Json(files.into_iter().map(|(line, _)| line).collect()))
}

async fn file(
    State(app): Server,
    Path((id, number)): Path<(String, String)>,
) -> Result<FileResponse> {
    let id = run_id(&id)?;
    let read = move |app: &Arc<App>| {
        let none = || Refusal::not_found(format!("the run has no file number {number}"));
        let wanted = number.parse::<usize>().map_err(|_| none())?;
        let files = list_files(app, &id)?;
        let found = files.into_iter().find(|(line, _)| line.number == wanted);
        let (line, path) = found.ok_or_else(none)?;
        if line.bytes > MAX_FILE {
            return Err(Refusal::conflict(format!(
                "{} has {} bytes; export it with `assay archive export {id}`",
                line.name, line.bytes
            )));
        }
        let bytes = std::fs::read(&path).map_err(|e| Refusal::own(&e))?;
        let archive = &app.config.archive;
        let redactor = archive.secrets(&archive.run(&id)?);
        let clean = redactor.file(&line.name, &bytes).map(std::borrow::Cow::into_owned);
        Ok((line.name, clean.unwrap_or(bytes)))
    };
    let (name, bytes) = app.heavy(read).await?;
    let kind = if name.ends_with(".parquet") {
        "application/octet-stream"
    } else {
        // Never as HTML: the output of a program can contain anything.
        "text/plain; charset=utf-8"
    };
    let flat: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' })
        .collect();
    let disposition = format!("inline; filename=\"{flat}\"");
    Ok(([(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, disposition)], bytes))
}

/// Comparison of runs, as query parameters.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CompareQuery {
    /// Ids of 2 to 8 different runs, separated by commas; the first is the baseline
    #[schemars(extend("type" = "array", "minItems" = 2,
        "maxItems" = MAX_COMPARED, "uniqueItems" = true,
        "items" = { "type": "string", "pattern": "^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$" }))]
    pub runs: String,
    /// Metric to compare; default: the deciding metric of the first run
    pub metric: String,
    /// Largest difference that does not matter, such as `2 %`
    #[schemars(extend("pattern" = "^([0-9]{1,2} %)?$"))]
    pub margin: String,
    /// Facts of the systems that are meant to differ, separated by commas
    pub factors: String,
    /// Soft differences that are accepted: PATH=REASON, each on a line of its own
    pub accept: String,
    #[schemars(skip)]
    pub per: String,
    /// Price of each run's system, separated by commas.
    #[schemars(skip)]
    pub prices: String,
    #[schemars(skip)]
    pub currency: String,
}

/// Runs of a comparison, with its result.
pub(crate) struct ComparedRuns {
    pub views: Vec<Arc<RunView>>,
    pub side_by_side: SideBySide,
}

/// Result of comparing runs side by side.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SideBySide {
    #[serde(flatten)]
    pub across: Across,
    /// Comparisons of every metric of the block I/O tracer that the first run has.
    pub io: Vec<Across>,
    /// Functions and system calls that differ, for each treatment that both runs profiled or
    /// counted.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub inside: Vec<TreatmentProfiles>,
}

pub(crate) async fn compare_runs(app: &Arc<App>, asked: &CompareQuery) -> Result<ComparedRuns> {
    let words = |text: &str| -> Vec<String> {
        let parts = text.split([',', ' ', '+']).map(str::trim).filter(|w| !w.is_empty());
        parts.map(str::to_owned).collect()
    };
    let mut ids: Vec<RunId> = Vec::new();
    for word in words(&asked.runs) {
        let id = run_id(&word).map_err(|e| Refusal::bad(e.message))?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if !(2..=MAX_COMPARED).contains(&ids.len()) {
        let message = format!("runs: give 2 to {MAX_COMPARED} different runs, not {}", ids.len());
        return Err(Refusal::bad(message));
    }
    let margin = match asked.margin.trim() {
        "" => None,
        text => Some(parse_margin(text).ok_or_else(|| {
            Refusal::bad(format!("margin: `{text}` is not a percentage such as `2 %`"))
        })?),
    };
    let mut views = Vec::new();
    for id in ids {
        views.push(app.view(id).await?);
    }
    let metric = match asked.metric.trim() {
        "" => views[0].analysis.metric.clone(),
        metric => metric.to_owned(),
    };
    let declared = DeclaredDifferences {
        factors: words(&asked.factors),
        accepted: accepted(&asked.accept)?,
        ..DeclaredDifferences::default()
    };
    let own = views.clone();
    let side_by_side = app
        .heavy(move |_| {
            let sides: Vec<ComparedRun<'_>> = own
                .iter()
                .map(|v| ComparedRun {
                    id: &v.summary.id,
                    experiment: &v.experiment,
                    plan: &v.plan,
                    records: &v.records,
                    system: &v.system,
                    analysis: &v.analysis,
                })
                .collect();
            let across = across(&sides, &metric, margin, &declared)
                .map_err(|e| Refusal::bad(e.to_string()))?;
            let io = across_io(&sides, &declared).map_err(|e| Refusal::bad(e.to_string()))?;
            let views: Vec<&RunView> = own.iter().map(AsRef::as_ref).collect();
            let inside = assay_report::inside(&views, &across);
            Ok(SideBySide { across, io, inside })
        })
        .await?;
    Ok(ComparedRuns { views, side_by_side })
}

/// Parses accepted differences: `PATH=REASON` on each line.
fn accepted(text: &str) -> Result<Vec<(String, String)>> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| match line.split_once('=') {
            Some((path, reason)) => Ok((path.trim().to_owned(), reason.trim().to_owned())),
            None => Err(Refusal::bad(format!("accept: `{line}`: write PATH=REASON on each line"))),
        })
        .collect()
}

async fn compare(State(app): Server, Params(args): Params<CompareQuery>) -> JsonResult<SideBySide> {
    compare_runs(&app, &args).await.map(|compared| Json(compared.side_by_side))
}

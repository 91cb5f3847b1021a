//! JSON API: one row for each route, from which the router and the OpenAPI document are built.

pub(crate) mod histories;
pub(crate) mod jobs;
pub(crate) mod keep;
pub(crate) mod others;
pub(crate) mod runs;

pub(crate) use jobs::number;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::app::App;
use crate::http::openapi::Route;

/// Builds the routes from rows of a summary, a method, a path, the operation's id, its handler, and
/// the status codes of refusals that the handler's types do not imply.
macro_rules! routes {
    ($($(#[doc = $summary:literal])* $method:literal $path:literal $id:literal $handler:path, $refusals:tt;)*) => {
        vec![$(Route::new($method, $path, $id, concat!($($summary),*), &$refusals, $handler)),*]
    };
}

pub(crate) fn routes() -> Vec<Route> {
    routes! {
        /// Return this OpenAPI document
        "get" "/api/v1/openapi.json" "openapi" others::document, [];
        /// Return the status of the server
        "get" "/api/v1/status" "status" others::status, [];
        /// List the experiments that may be submitted
        "get" "/api/v1/experiments" "experiments" others::experiments, [];
        /// Return the form for one experiment
        "get" "/api/v1/experiments/{id}" "experiment" others::experiment, [400];
        /// Read, check and plan a submission without submitting it
        "post" "/api/v1/plan" "plan" jobs::plan, [404];
        /// List the jobs of the queue
        "get" "/api/v1/jobs" "jobs" jobs::list, [];
        /// Submit an experiment to the queue
        "post" "/api/v1/jobs" "submit" jobs::submit, [404, 409];
        /// Return one job of the queue
        "get" "/api/v1/jobs/{id}" "job" jobs::one, [];
        /// Cancel a job; a running one ends its trial and restores the settings
        "post" "/api/v1/jobs/{id}/cancel" "cancel" jobs::cancel, [409];
        /// Resume a job whose run was cut off
        "post" "/api/v1/jobs/{id}/resume" "resume" jobs::resume, [409];
        /// Move a waiting job within the queue
        "post" "/api/v1/jobs/{id}/move" "move" jobs::shift, [409];
        /// Return the live status of a job's run
        "get" "/api/v1/jobs/{id}/live" "live" jobs::live, [409];
        /// Return the newest profile of the running trial, and how long it took to make; each
        /// request makes the run take the next one
        "get" "/api/v1/jobs/{id}/profile" "profile" jobs::profile, [409];
        /// Stream the events of a job's run as they happen: first its live status, then every event
        "get" "/api/v1/jobs/{id}/events" "events" jobs::events, [409];
        /// Search the runs of the archive
        "get" "/api/v1/runs" "runs" runs::list, [];
        /// Return all data of one run
        "get" "/api/v1/runs/{id}" "run" runs::one, [];
        /// List the files of one run
        "get" "/api/v1/runs/{id}/files" "files" runs::files, [];
        /// Return one file of a run
        "get" "/api/v1/runs/{id}/files/{number}" "file" runs::file, [409];
        /// Return a run as one file, as `assay archive export` writes it; requires the full token
        "get" "/api/v1/runs/{id}/bundle" "bundle" keep::bundle, [403, 409];
        /// Add or remove tags of a run and set its note; the run's record does not change
        "post" "/api/v1/runs/{id}/annotate" "annotate" keep::annotate, [];
        /// Delete a run; it can be restored until the day (UTC) ends
        "post" "/api/v1/runs/{id}/delete" "deleteRun" keep::delete, [409];
        /// Restore a deleted run
        "post" "/api/v1/runs/{id}/restore" "restoreRun" keep::restore, [409];
        /// List the deleted runs that can be restored
        "get" "/api/v1/deleted" "deleted" keep::trash, [];
        /// List the saved searches of the archive
        "get" "/api/v1/searches" "searches" keep::searches, [];
        /// Save a search under a name; replaces one with the same name
        "post" "/api/v1/searches" "saveSearch" keep::save_search, [409];
        /// Remove a saved search
        "post" "/api/v1/searches/forget" "forgetSearch" keep::forget_search, [404];
        /// Compare runs side by side
        "get" "/api/v1/compare" "compare" runs::compare, [404];
        /// List the histories of the archive, and the names of imported series
        "get" "/api/v1/histories" "histories" histories::list, [];
        /// Return a metric over revisions: points, changes and their states
        "get" "/api/v1/histories/{id}" "history" histories::one, [];
        /// Queue a fresh experiment of both sides of a change, to confirm or refute it
        "post" "/api/v1/histories/{id}/confirm" "confirmChange" histories::confirm, [409];
        /// Acknowledge a change: it raises no alarm any more
        "post" "/api/v1/histories/{id}/acknowledge" "acknowledgeChange" histories::acknowledge, [409];
        /// Start the series afresh at a commit, or take that back; earlier points are not compared
        /// with later ones
        "post" "/api/v1/histories/{id}/reset" "resetHistory" histories::reset, [409];
        /// Return the series of another program, with their suspected changes
        "get" "/api/v1/imported/{name}" "importedSeries" histories::imported, [];
        /// List the built-in landscapes
        "get" "/api/v1/landscapes" "landscapes" others::landscapes, [];
        /// Return one landscape with every denominator
        "get" "/api/v1/landscapes/{name}" "landscape" others::landscape, [];
        /// Stream samples of this machine, one a second; refused while a run is in progress
        "get" "/api/v1/observe" "observe" others::observe, [409];
        /// Return the block I/O of this machine since tracing began, as `assay io --json` prints
        /// it; tracing goes on while requests come every few seconds; refused while a run is in
        /// progress
        "get" "/api/v1/observe/io" "observeIo" others::observe_io, [409, 503];
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    routes()
        .into_iter()
        .fold(Router::new(), |router, route| router.route(route.path, route.serve))
        .route("/api/{*rest}", get(others::nothing).post(others::nothing))
}

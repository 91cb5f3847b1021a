//! The JSON API: a row a route, of which the router and its document are made.

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

/// Rows of a summary, a method, a path, the operation's id, its handler, and the status codes of refusals that the
/// types of the handler do not imply.
macro_rules! routes {
    ($($(#[doc = $summary:literal])* $method:literal $path:literal $id:literal $handler:path, $refusals:tt;)*) => {
        vec![$(Route::new($method, $path, $id, concat!($($summary),*), &$refusals, $handler)),*]
    };
}

pub(crate) fn routes() -> Vec<Route> {
    routes! {
        /// This document
        "get" "/api/v1/openapi.json" "openapi" others::document, [];
        /// The server
        "get" "/api/v1/status" "status" others::status, [];
        /// The experiments that may be submitted
        "get" "/api/v1/experiments" "experiments" others::experiments, [];
        /// The form for one experiment
        "get" "/api/v1/experiments/{id}" "experiment" others::experiment, [400];
        /// Read, check and plan what would be submitted; nothing is
        "post" "/api/v1/plan" "plan" jobs::plan, [404];
        /// The queue
        "get" "/api/v1/jobs" "jobs" jobs::list, [];
        /// Submit an experiment
        "post" "/api/v1/jobs" "submit" jobs::submit, [404, 409];
        /// One job
        "get" "/api/v1/jobs/{id}" "job" jobs::one, [];
        /// Cancel a job; one that runs ends its trial and restores the settings
        "post" "/api/v1/jobs/{id}/cancel" "cancel" jobs::cancel, [409];
        /// Resume a job that was interrupted
        "post" "/api/v1/jobs/{id}/resume" "resume" jobs::resume, [409];
        /// Move a job that waits
        "post" "/api/v1/jobs/{id}/move" "move" jobs::shift, [409];
        /// Where the run of a job stands
        "get" "/api/v1/jobs/{id}/live" "live" jobs::live, [409];
        /// The profile of the trial that runs, so far, and how long it took to make; asking makes the run take the next
        "get" "/api/v1/jobs/{id}/profile" "profile" jobs::profile, [409];
        /// What happens in the run of a job, as it happens: first its live_status, then every event
        "get" "/api/v1/jobs/{id}/events" "events" jobs::events, [409];
        /// Search the archive
        "get" "/api/v1/runs" "runs" runs::list, [];
        /// Everything of one run
        "get" "/api/v1/runs/{id}" "run" runs::one, [];
        /// The files of one run
        "get" "/api/v1/runs/{id}/files" "files" runs::files, [];
        /// One file of a run
        "get" "/api/v1/runs/{id}/files/{number}" "file" runs::file, [409];
        /// A run as one file, as `assay archive export` writes it; with the full token alone
        "get" "/api/v1/runs/{id}/bundle" "bundle" keep::bundle, [403, 409];
        /// Add tags and a note to a run, outside of its record
        "post" "/api/v1/runs/{id}/annotate" "annotate" keep::annotate, [];
        /// Delete a run; it can be restored until the day (UTC) ends
        "post" "/api/v1/runs/{id}/delete" "deleteRun" keep::delete, [409];
        /// Restore a deleted run
        "post" "/api/v1/runs/{id}/restore" "restoreRun" keep::restore, [409];
        /// The deleted runs that can be restored
        "get" "/api/v1/deleted" "deleted" keep::trash, [];
        /// The searches of the archive that were saved
        "get" "/api/v1/searches" "searches" keep::searches, [];
        /// Save a search under a name; another of that name is replaced
        "post" "/api/v1/searches" "saveSearch" keep::save_search, [409];
        /// Forget a saved search
        "post" "/api/v1/searches/forget" "forgetSearch" keep::forget_search, [404];
        /// Runs side by side
        "get" "/api/v1/compare" "compare" runs::compare, [404];
        /// The histories of the archive, and the names of imported series
        "get" "/api/v1/histories" "histories" histories::list, [];
        /// A metric over revisions: points, changes and their states
        "get" "/api/v1/histories/{id}" "history" histories::one, [];
        /// Put a fresh experiment of both sides of a change into the queue
        "post" "/api/v1/histories/{id}/confirm" "confirmChange" histories::confirm, [409];
        /// Mark a change as known: it raises no alarm any more
        "post" "/api/v1/histories/{id}/acknowledge" "acknowledgeChange" histories::acknowledge, [409];
        /// Start the series afresh at a commit, or take that back: what lies before is not compared with what follows
        "post" "/api/v1/histories/{id}/reset" "resetHistory" histories::reset, [409];
        /// Series of another program, with their suspected changes
        "get" "/api/v1/imported/{name}" "importedSeries" histories::imported, [];
        /// The landscapes
        "get" "/api/v1/landscapes" "landscapes" others::landscapes, [];
        /// One landscape with every denominator
        "get" "/api/v1/landscapes/{name}" "landscape" others::landscape, [];
        /// This machine now, one sample a second; refused while a run is in progress
        "get" "/api/v1/observe" "observe" others::observe, [409];
        /// Block I/O of this machine since the look began, as `assay io --json` says it; it is watched while somebody
        /// asks every few seconds, and refused while a run goes on
        "get" "/api/v1/observe/io" "observeIo" others::observe_io, [409, 503];
    }
}

pub(crate) fn router() -> Router<Arc<App>> {
    routes()
        .into_iter()
        .fold(Router::new(), |router, route| router.route(route.path, route.serve))
        .route("/api/{*rest}", get(others::nothing).post(others::nothing))
}

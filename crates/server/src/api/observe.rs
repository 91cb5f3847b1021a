//! API handlers for live samples and block I/O of the machine.

use assay_traces::block_io::IoReport;
use axum::response::{IntoResponse, Response};

use crate::app::{App, Server};
use crate::error::Refusal;
use crate::http::extract::{Described, EventStream, Json, Params, State};
use crate::http::sse;
use crate::live::observe_io;

routes! {
    /// Stream samples of this machine, one a second; refused while a run is in progress
    "get" "/api/v1/observe" "observe" observe, [409];
    /// Return the block I/O of this machine since tracing began, as `assay io --json` prints
    /// it; tracing goes on while requests come every few seconds; refused while a run is in
    /// progress
    "get" "/api/v1/observe/io" "observeIo" observe_io, [409, 503];
}

/// Refuses while a run is in progress, because sampling takes time of the machine that is measured.
pub(crate) fn may_observe(app: &App) -> Result<(), Refusal> {
    match app.queue.lock().running() {
        None => Ok(()),
        Some(job) => Err(Refusal::conflict(format!(
            "job {} is running, and sampling would disturb it; its page shows its monitors",
            job.id
        ))),
    }
}

async fn observe(State(app): Server) -> Result<EventStream, Refusal> {
    may_observe(&app)?;
    Ok(sse::newest(app.sampler.subscribe()?))
}

async fn observe_io(
    State(app): Server,
    Params(asked): Params<observe_io::IoQuery>,
) -> Result<Described<Response, IoReport>, Refusal> {
    let about = asked.read()?;
    may_observe(&app)?;
    let report: &IoReport = &*observe_io::newest(&app.io_traces, &about).await?;
    Ok(Described::new(Json(report).into_response()))
}

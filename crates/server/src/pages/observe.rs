//! What this machine does now.

use std::sync::Arc;

use axum::extract::State;
use maud::html;

use super::{Page, Place, shell};
use crate::api::others::may_observe;
use crate::app::App;

pub(super) async fn page(State(app): State<Arc<App>>) -> Page {
    let busy = may_observe(&app).err();
    let running = app.queue().running().map(|j| j.id);
    let body = html! {
        h1 { "Observe" }
        h2 { "This machine now" }
        @if let (Some(refusal), Some(id)) = (busy, running) {
            p class="notice" { (refusal.message) ": " a href={ "/live/" (id) } { "job " (id) } "." }
        } @else {
            p class="soft" { "One sample a second of the monitors of " code { "assay stat" } ", taken only while somebody looks." }
            noscript { p class="notice" { "The charts that move need the script." } }
            p id="live-state" role="status" { "Waiting for the first sample." }
            div id="live" data-events="/api/v1/observe" data-kind="observe" {
                div id="live-charts" class="moving" {}
                details {
                    summary { "Every value of the last sample" }
                    div class="table-box" tabindex="0" role="region" aria-label="Every value of the last sample" {
                        table { thead { tr { th scope="col" { "monitor" } th scope="col" { "of" } th scope="col" { "field" } th scope="col" class="num" { "value" } th scope="col" { "unit" } } } tbody id="live-values" {} }
                    }
                }
            }
        }
        h2 { "Block I/O" }
        p { "This page cannot show single I/Os: it reads the counters of the kernel (the disk charts above), not a trace. " code { "assay io --from TRACE" } " answers questions about a recorded one." }
    };
    Ok(shell("Observe", Place::Observe, &body))
}

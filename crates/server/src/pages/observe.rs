//! Observe page: live charts of this machine and its block I/O.

use assay_report::document::html::{scroll_box, titles};
use assay_traces::block_io::Dimension;
use axum::response::Html;
use maud::{Markup, html};

use super::{PageResult, Section, choice, get, shell, url};
use crate::api::observe::may_observe;
use crate::app::{Routes, Server};
use crate::http::extract::{Params, State};
use crate::live::observe_io::{BY, IoQuery, IoQuestion, MAX_NAME, newest};

pub(super) fn router() -> Routes {
    Routes::new().route("/observe", get(page)).route("/observe/io", get(part))
}

async fn page(State(app): Server, Params(query): Params<IoQuery>) -> PageResult {
    let about = (!query.by.is_empty()).then(|| query.read()).transpose()?;
    let busy = may_observe(&app).err();
    let running = app.queue.lock().running().map(|j| j.id);
    let body = html! {
        h1 { "Observe" }
        @if let (Some(refusal), Some(id)) = (busy, running) {
            p.notice { (refusal.message) ": " a href={ "/live/" (id) } { "job " (id) } "." }
        } @else {
            h2 { "This machine now" }
            (now())
            h2 id="io" { "Block I/O" }
            (block_io(about.as_ref()))
        }
    };
    Ok(shell(&app, "Observe", Section::Observe, &body))
}

fn now() -> Markup {
    html! {
        p.soft { "One sample per second from the monitors of " code { "assay stat" }
            ", taken only while this page is open." }
        noscript { p.notice { "Live charts need JavaScript." } }
        p id="live-state" role="status" { "Waiting for the first sample." }
        div id="live" data-events="/api/v1/observe" data-kind="observe" {
            div id="live-charts" class="moving" {}
            details {
                summary { "All values of the last sample" }
                (scroll_box("All values of the last sample", &html! { table {
                    thead { tr {
                        (titles(None, &["monitor", "of", "field"]))
                        (titles(Some("num"), &["value"])) (titles(None, &["unit"]))
                    } }
                    tbody id="live-values" {}
                } }))
            }
        }
    }
}

fn block_io(about: Option<&IoQuestion>) -> Markup {
    // Address with the current question, about dimension `d`.
    let (program, device) = about.map_or(("", ""), |a| (&a.program, &a.device));
    let address = |path: &str, by: &str, d: Dimension| {
        url(path, [(by, d.name()), ("program", program), ("device", device)])
    };
    let by = about.map(|a| a.by);
    html! {
        p.soft {
            "The report of " code { "assay io" } ": programs that read and write, sizes and \
            latencies. Tracing lasts until the page is closed; its cost is shown below the charts."
        }
        nav aria-label="Block I/O by" { ul {
            @for d in BY {
                @let href = address("/observe", "io", d) + "#io";
                (choice(&href, by == Some(d), &format!("by {}", d.name())))
            }
            @if by.is_some() { li { a href="/observe" { "stop" } } }
        } }
        @if let Some(about) = about {
            form method="get" action="/observe#io" class="fields" {
                input type="hidden" name="io" value=(about.by.name());
                @for (name, value, help) in [
                    ("program", program, "Only this program; all if empty."),
                    ("device", device, "Only this device, such as vda; all if empty."),
                ] { div.field { label for=(name) { (name) }
                    input id=(name) name=(name) value=(value) maxlength=(MAX_NAME);
                    p.soft { (help) } } }
                button type="submit" { "Watch" }
            }
            @let part = address("/observe/io", "by", about.by);
            noscript { p.notice { a href=(part) { "The report so far" } ", without JavaScript." } }
            div id="observe-io" data-refresh=(part) data-every="1000" {
                p role="status" { "Waiting for the first report." }
            }
        }
    }
}

/// Renders the part of the page that changes: the report so far, or the refusal.
async fn part(State(app): Server, Params(asked): Params<IoQuery>) -> Html<String> {
    let answer = async {
        let about = asked.read()?;
        may_observe(&app)?;
        newest(&app.io_traces, &about).await
    };
    let markup = match answer.await {
        Ok(report) => assay_report::page::observed(&report),
        Err(refusal) => html! { p.notice { (refusal.message) } },
    };
    Html(markup.into_string())
}

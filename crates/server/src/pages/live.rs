//! Live page of a run. The server renders the current status, and the script updates it.

use assay_lab::LiveProfile;
use assay_model::units::format_value;
use assay_report::document::html::{scroll_box, titles};
use assay_report::page::profile_part;
use axum::response::Html;
use maud::{Markup, html};

use super::{PageResult, Section, get, shell, time};
use crate::api::jobs::{self, ELSEWHERE, Profiling, profiling};
use crate::api::number;
use crate::app::{Routes, Server};
use crate::http::extract::{Path, State};
use crate::http::token::Role;
use crate::live::live_run::LiveStatus;
use crate::queue::job::{Job, JobState};

pub(super) fn router() -> Routes {
    Routes::new().route("/live/{id}", get(page)).route("/live/{id}/profile", get(profile))
}

async fn page(State(app): Server, role: Role, Path(id): Path<String>) -> PageResult {
    let job = app.queue.job(number(&id)?)?;
    // A server that has just started follows a running job in a moment; the script fills the page.
    let starting = || (job.state == JobState::Running).then(LiveStatus::default);
    let status = app.live(job.id).map(|live| live.status()).or_else(starting);
    let folder = app.queue.lock().folder_of(job.id);
    let profiled = if job.state.is_over() {
        Profiling::None
    } else {
        app.heavy(move |_| Ok(profiling(&folder))).await?
    };
    let body = html! {
        h1 { (job.experiment) " " span.soft { "job " (job.id) } }
        p.soft {
            @if !job.title.is_empty() { (job.title) " · " } "submitted " (time(&job.submitted_at))
            @if let Some(at) = &job.started_at { ", started " (time(at)) } "."
        }
        @match &status {
            Some(status) => { (live_run(&job, status, role, profiled)) }
            None => { (ended_run(&job)) }
        }
    };
    Ok(shell(&app, &format!("Live: {}", job.experiment), Section::Queue, &body))
}

/// Renders the newest profile of the running trial, for the script to insert into the page.
async fn profile(State(app): Server, id: Path<String>) -> PageResult {
    let made = jobs::profile(State(app.clone()), id).await?.0.0;
    let part = app.heavy(move |_| Ok(profile_snapshot(made.as_ref()))).await?;
    Ok(Html(part.into_string()))
}

fn profile_snapshot(made: Option<&LiveProfile>) -> Markup {
    let Some(made) = made else {
        return html! { p { "No profile yet: the first comes seconds after a trial began." } };
    };
    html! {
        p.soft {
            "Trial " (made.trial) @if made.treatment != "-" { ", " (made.treatment) }
            ", snapshot " (made.before + 1) ". It took " (format_value(made.cpu_s, "s"))
            " of CPU time. Snapshots are taken only while this section is open, at most once in \
            3 s and with at most 1 % of one CPU's time."
        }
        @if made.profile.stacks.is_empty() { p { "No samples yet." } }
        @else { (profile_part(&made.profile)) }
    }
}

/// Renders a job whose run this server has not followed.
fn ended_run(job: &Job) -> Markup {
    html! {
        p { (job.ending()) "." }
        @if let Some(run) = &job.run { p {
            a.button href={ "/runs/" (run) } { "The run and its results" } } }
    }
}

fn live_run(job: &Job, s: &LiveStatus, role: Role, profiled: Profiling) -> Markup {
    let table = html! { table {
        caption { "The running estimate is the geometric mean; intervals and verdicts follow at \
            the end of the run." }
        thead { tr {
            (titles(None, &["treatment"]))
            (titles(Some("num"), &["trials", "failed", "last", "estimate"]))
        } }
        tbody id="live-treatments" { @for t in s.treatments.values() { tr {
            th scope="row" { (t.label) }
            td.num { (t.completed) } td.num { (t.failed) }
            td.num { @if let Some(v) = t.last { (format_value(v, &t.unit)) } }
            td.num { @if let Some(v) = t.estimate { (format_value(v, &t.unit)) } }
        } } }
    } };
    html! {
        div id="live" data-job=(job.id) data-events={ "/api/v1/jobs/" (job.id) "/events" } {
            p.headline {
                strong id="live-state" role="status" {
                    @if job.state.is_over() { (job.ending()) "." }
                    @else if s.total == 0 { "The run is about to start." }
                    @else { "Running." }
                }
                span id="live-run" { @if let Some(run) = &s.run {
                    a href={ "/runs/" (run) } { "Run " (run) } } }
            }
            p.headline {
                progress id="live-progress" value=(s.done) max=(s.total.max(1))
                    aria-label="Finished trials" {}
                span id="live-count" { (s.done) " of " (s.total) " trials" }
                span id="live-left" { @if let Some(left) = s.left_s {
                    "about " (format_value(left, "s")) " left" } }
                span { span id="live-trial" { @if let Some(t) = &s.trial {
                    "trial " (t.number) ", block " (t.block + 1) ", " (t.label) } }
                    " " span id="live-phase" class="state" {} }
                @if role == Role::Full && !job.state.is_over() && !job.cancel {
                    @let cancel = format!("/queue/{}/cancel", job.id);
                    a.button id="live-cancel" href=(cancel) { "Cancel the run …" }
                }
            }
            div.first {
                div id="live-results" class="moving" {}
                div { (scroll_box("Treatments so far", &table)) }
            }
            h2 { "Now" }
            p.soft { "One sample per second from the monitors of the run, on a common time axis; \
                vertical lines mark phases of trials. Point at a chart, or use its arrow keys, for \
                the values at one time." }
            noscript { p.notice { "Live charts need JavaScript." } }
            div id="live-charts" class="moving" {}
            @if profiled == Profiling::Elsewhere {
                h2 { "Profile" }
                p.notice { "No live profile: " (ELSEWHERE) "." }
            }
            @if profiled == Profiling::Here {
                h2 { "Profile" }
                details id="live-profile" data-profile={ "/live/" (job.id) "/profile" } {
                    summary { "Profile of the running trial" }
                    noscript { p.notice { "The live profile needs JavaScript." } }
                    div { p { "Waiting for the first profile …" } }
                }
            }
            h2 { "Log" }
            pre id="live-log" class="log" tabindex="0" role="region" aria-label="Log" {
                @for line in &s.log { (line.from) ": " (line.text) "\n" }
            }
        }
    }
}

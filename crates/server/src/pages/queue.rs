//! Queue page: running, waiting, interrupted and ended jobs.

use std::sync::Arc;

use assay_report::document::html::{scroll_box, titles};
use axum::response::Html;
use maud::{Markup, html};

use super::run_list::{outcome, runs_with_headlines, state};
use super::{PageResult, RedirectResult, Section, age, get, post, redirect, shell, time};
use crate::api::{jobs, number};
use crate::app::{App, Outcomes, Routes, Server};
use crate::error::Refusal;
use crate::http::extract::{Form, JsonBody, Path, State};
use crate::http::token::Role;
use crate::queue::job::{Job, JobState};
use crate::searches::RunQuery;

/// Number of ended jobs that are shown.
const SHOWN: usize = 30;

pub(super) fn router() -> Routes {
    Routes::new()
        .route("/", get(|| async { redirect("/queue") }))
        .route("/queue", get(page))
        .route("/queue/part", get(part))
        .route("/queue/{id}/cancel", get(ask_cancel).post(cancel))
        .route("/queue/{id}/resume", post(resume))
        .route("/queue/{id}/move", post(shift))
}

async fn page(State(app): Server, role: Role) -> PageResult {
    let part = lists(&app, role).await?;
    let newest = if app.queue.lock().ended().is_empty() {
        newest(&app).await?
    } else {
        html! {}
    };
    let body = html! {
        h1 { "Queue" }
        p.lede { "The machine measures one run at a time. Waiting jobs survive a restart of the \
            server or the machine." }
        @if role == Role::Full { p { a.button.main href="/queue/new" { "Submit an experiment" } } }
        div id="queue" data-refresh="/queue/part" { (part) }
        (newest)
    };
    Ok(shell(&app, "Queue", Section::Queue, &body))
}

/// Renders the part of the page that changes.
async fn part(State(app): Server, role: Role) -> PageResult {
    Ok(Html(lists(&app, role).await?.into_string()))
}

/// Renders the newest runs of the archive, for a queue in which no job has ended.
async fn newest(app: &Arc<App>) -> Result<Markup, Refusal> {
    let (found, headlines) =
        runs_with_headlines(app, RunQuery { limit: Some(5), ..RunQuery::default() }).await?;
    Ok(html! {
        @if !found.runs.is_empty() {
            h2 { "Newest in the archive" }
            ul.plain-list { @for r in &found.runs { li {
                a href={ "/runs/" (r.id) } { (r.experiment) }
                span { (outcome(r, headlines.get(&r.id))) }
                span.soft { (age(&r.started_at)) " on " (r.host) }
            } } }
            p { a href="/archive" { "All runs (" (found.total) ")" } }
        }
    })
}

/// Renders the jobs of the queue. Only users with the full token get buttons.
async fn lists(app: &Arc<App>, role: Role) -> Result<Markup, Refusal> {
    let ended = app.queue.lock().ended().iter().take(SHOWN).filter_map(|j| j.run.clone()).collect();
    let outcomes = app.outcomes(ended).await?;
    let full = role == Role::Full;
    let queue = app.queue.lock();
    let (running, waiting, over) = (queue.running(), queue.waiting(), queue.ended());
    Ok(html! {
        h2 { "Running" }
        @if let Some(job) = running { (running_card(app, job, full)) }
        @else { p { "No job running." @if waiting.is_empty() { " Queue empty." } } }
        @if !waiting.is_empty() {
            h2 { "Waiting" }
            ol.cards { @for (i, job) in waiting.iter().enumerate() {
                (idle_card(job, full, &html! {
                    @if i > 0 { (button(job, "move", Some("up"), "Up")) }
                    @if i + 1 < waiting.len() { (button(job, "move", Some("down"), "Down")) }
                    (cancel_link(job))
                }))
            } }
        }
        @let cut: Vec<&&Job> = over.iter().filter(|j| j.state == JobState::Interrupted).collect();
        @if !cut.is_empty() {
            h2 { "Interrupted" }
            ul.cards { @for job in cut { (idle_card(job, full, &resume_button(job))) } }
        }
        @if !over.is_empty() { h2 { "Finished" } (table(&over, &outcomes, full)) }
    })
}

/// Renders a job that is not running, with its actions.
fn idle_card(job: &Job, full: bool, actions: &Markup) -> Markup {
    html! {
        li.card {
            p.headline { strong { (job.experiment) } span.soft { "job " (job.id) } }
            @if !job.reason.is_empty() { p { (job.reason) "." } }
            (about(job))
            @if full { div.actions { (actions) } }
        }
    }
}

fn running_card(app: &App, job: &Job, full: bool) -> Markup {
    let status = app.live(job.id).map(|live| live.status());
    html! {
        div.card.running {
            p.headline {
                strong { a href={ "/live/" (job.id) } { (job.experiment) } }
                span.soft { "job " (job.id) }
                @if job.cancel { span.soft { "is being cancelled" } }
            }
            @if let Some(s) = status {
                @if s.total > 0 { p {
                    @let done = format!("{} of {}", s.done, s.total);
                    progress value=(s.done) max=(s.total) { (done) } " " (done) " trials"
                    @if let Some(t) = &s.trial { "; " (t.label) }
                } } @else if let Some(line) = s.log.back() { p.soft { (line.text) } }
            }
            (about(job))
            div.actions {
                a.button href={ "/live/" (job.id) } { "Watch" }
                @if full && !job.cancel { (cancel_link(job)) }
            }
        }
    }
}

fn about(job: &Job) -> Markup {
    let resumes = job.run.is_some() && job.state == JobState::Waiting;
    html! {
        @if !job.title.is_empty() { p { (job.title) } }
        p.soft {
            "workload " (job.workload) " · " (job.trials) " trials planned · submitted "
            (time(&job.submitted_at))
            @if !job.submitted_by.is_empty() { " by " (job.submitted_by) }
            @if let Some(at) = &job.not_before { " · not before " (time(at)) }
            @if resumes { " · resumes where it stopped" }
        }
        @if !job.changes.is_empty() { p.soft { "changed: " (job.changes.join(", ")) } }
    }
}

fn button(job: &Job, verb: &str, to: Option<&str>, label: &str) -> Markup {
    let of = format!("{label}: job {}, {}", job.id, job.experiment);
    html! {
        form method="post" action={ "/queue/" (job.id) "/" (verb) } {
            @if let Some(to) = to { input type="hidden" name="to" value=(to); }
            button type="submit" aria-label=(of) { (label) }
        }
    }
}

fn resume_button(job: &Job) -> Markup {
    button(job, "resume", None, "Resume")
}

/// Renders the link to the page that asks before it cancels a job.
fn cancel_link(job: &Job) -> Markup {
    let label = format!("Cancel: job {}, {}", job.id, job.experiment);
    html! { a.button href={ "/queue/" (job.id) "/cancel" } aria-label=(label) { "Cancel …" } }
}

fn table(over: &[&Job], outcomes: &Outcomes, full: bool) -> Markup {
    let name =
        |job: &Job| if job.title.is_empty() { job.experiment.clone() } else { job.title.clone() };
    let of = |job: &Job| outcomes.runs.iter().find(|r| job.run.as_ref() == Some(&r.id));
    let table = html! { table {
        caption { "The newest " (over.len().min(SHOWN)) " of " (over.len()) }
        thead { tr {
            (titles(None, &["job", "result", "state", "ended"]))
            th scope="col" { span.unseen { "action" } }
        } }
        tbody { @for job in over.iter().take(SHOWN) { tr {
            @let run = of(job);
            th scope="row" { (job.id) }
            td.result {
                @if let Some(run) = &job.run { a href={ "/runs/" (run) } { (name(job)) } }
                @else { (name(job)) }
                @if let Some(run) = run { p { (outcome(run, outcomes.headlines.get(&run.id))) } }
            }
            td { @let why = !job.reason.is_empty() && job.state != JobState::Completed;
                (state(job.state.name()))
                @if why { details { summary { "why" } pre { (job.reason) } } } }
            td { @if let Some(at) = &job.ended_at { (age(at)) }
                @if let Some(run) = run { p.soft { "on " (run.host) } } }
            td { @if full && job.can_resume() { (resume_button(job)) } }
        } } }
    } };
    scroll_box("Finished jobs", &table)
}

/// Renders the page that asks whether to cancel a job.
async fn ask_cancel(State(app): Server, role: Role, Path(id): Path<String>) -> PageResult {
    role.may_write()?;
    let job = app.queue.job(number(&id)?)?;
    if job.state.is_over() {
        let message = format!("job {id} has ended: it is {}", job.state.name());
        return Err(Refusal::conflict(message));
    }
    let runs = job.state == JobState::Running;
    let (stay, keep) = if runs {
        (format!("/live/{id}"), "Keep it running")
    } else {
        ("/queue".into(), "Keep it")
    };
    let body = html! {
        h1 { "Cancel " (job.experiment) "?" }
        p {
            "Job " (job.id) " "
            @if runs { "is running. Its trial ends now and its settings are restored. Completed \
                trials stay in the archive, and the run can be resumed." }
            @else { "is waiting. It is removed from the queue; nothing was measured." }
        }
        div.actions {
            form method="post" action={ "/queue/" (job.id) "/cancel" } {
                button type="submit" class="danger" { "Cancel the job" }
            }
            a.button href=(stay) { (keep) }
        }
    };
    Ok(shell(&app, &format!("Cancel job {id}?"), Section::Queue, &body))
}

async fn cancel(app: Server, id: Path<String>) -> RedirectResult {
    jobs::cancel(app, id).await.map(|_| redirect("/queue"))
}

async fn resume(app: Server, id: Path<String>) -> RedirectResult {
    jobs::resume(app, id).await.map(|_| redirect("/queue"))
}

async fn shift(app: Server, id: Path<String>, Form(to): Form<jobs::Move>) -> RedirectResult {
    jobs::shift(app, id, JsonBody(to)).await.map(|_| redirect("/queue"))
}

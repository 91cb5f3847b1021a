//! The queue: what runs, what waits, what is over.

use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Html;
use maud::{Markup, html};

use super::{Led, Page, Section, see, shell, time};
use crate::api::{jobs, number};
use crate::app::App;
use crate::error::Refusal;
use crate::extract::{Body, Sent, Server};
use crate::guard::may_write;
use crate::job::{Job, JobState};
use crate::token::Role;

/// How many jobs that are over are shown.
const SHOWN: usize = 30;

pub(super) async fn page(State(app): Server, Extension(role): Extension<Role>) -> Page {
    let body = html! {
        h1 { "Queue" }
        p class="lede" { "One run at a time measures on this machine. What waits here is kept when the server or the machine stops." }
        @if role == Role::Full { p { a class="button main" href="/queue/new" { "Submit an experiment" } } }
        div id="queue" data-refresh="/queue/part" { (parts(&app, role)) }
    };
    Ok(shell("Queue", Section::Queue, &body))
}

/// The part that changes.
pub(super) async fn part(State(app): Server, Extension(role): Extension<Role>) -> Html<String> {
    Html(parts(&app, role).into_string())
}

/// Buttons are for those who may press them.
fn parts(app: &App, role: Role) -> Markup {
    let full = role == Role::Full;
    let queue = app.queue();
    let (running, waiting, over) = (queue.running(), queue.waiting(), queue.over());
    html! {
        h2 { "Running" }
        @if let Some(job) = running { (card(app, job, full)) } @else { p { "No job running." } }
        h2 { "Waiting" }
        @if waiting.is_empty() { p { "Nothing waits." } }
        @else {
            ol class="cards" {
                @for (i, job) in waiting.iter().enumerate() {
                    li class="card" {
                        p class="headline" { strong { (job.experiment) } span class="soft" { "job " (job.id) } }
                        (about(job))
                        @if full {
                            div class="actions" {
                                @if i > 0 { (button(job, "move", Some("up"), "Up")) }
                                @if i + 1 < waiting.len() { (button(job, "move", Some("down"), "Down")) }
                                (cancel_link(job))
                            }
                        }
                    }
                }
            }
        }
        @let cut: Vec<&&Job> = over.iter().filter(|j| j.state == JobState::Interrupted).collect();
        @if !cut.is_empty() {
            h2 { "Interrupted" }
            ul class="cards" {
                @for job in cut {
                    li class="card" {
                        p class="headline" { strong { (job.experiment) } span class="soft" { "job " (job.id) } (state(job)) }
                        p { (job.reason) "." }
                        (about(job))
                        @if full { div class="actions" { (button(job, "resume", None, "Resume")) } }
                    }
                }
            }
        }
        h2 { "Finished" }
        @if over.is_empty() { p { "Nothing has run yet." } } @else { (table(&over, full)) }
    }
}

fn card(app: &App, job: &Job, full: bool) -> Markup {
    let status = app.live(job.id).map(|live| live.status());
    html! {
        div class="card running" {
            p class="headline" {
                strong { a href={ "/live/" (job.id) } { (job.experiment) } }
                span class="soft" { "job " (job.id) }
                @if job.cancel { span class="soft" { "is being cancelled" } }
            }
            @if let Some(s) = status {
                @if s.total > 0 {
                    p { progress value=(s.done) max=(s.total) { (s.done) " of " (s.total) } " " (s.done) " of " (s.total) " trials" @if let Some(t) = &s.trial { "; " (t.label) } }
                } @else if let Some(line) = s.log.back() { p class="soft" { (line.text) } }
            }
            (about(job))
            div class="actions" {
                a class="button" href={ "/live/" (job.id) } { "Watch" }
                @if full && !job.cancel { (cancel_link(job)) }
            }
        }
    }
}

fn about(job: &Job) -> Markup {
    html! {
        @if !job.title.is_empty() { p { (job.title) } }
        p class="soft" {
            "workload " (job.workload) " · " (job.trials) " trials planned · submitted " (time(&job.submitted_at))
            @if !job.submitted_by.is_empty() { " by " (job.submitted_by) }
            @if let Some(at) = &job.not_before { " · not before " (time(at)) }
            @if job.run.is_some() && job.state == JobState::Waiting { " · continues where it \
                stopped" }
        }
        @if !job.changes.is_empty() { p class="soft" { "changed: " (job.changes.join(", ")) } }
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

/// Cancelling asks first.
fn cancel_link(job: &Job) -> Markup {
    html! { a class="button" href={ "/queue/" (job.id) "/cancel" } aria-label={ "Cancel: job " (job.id) ", " (job.experiment) } { "Cancel …" } }
}

fn state(job: &Job) -> Markup {
    html! { span class={ "state state-" (job.state.name()) } { (job.state.name()) } }
}

fn table(over: &[&Job], full: bool) -> Markup {
    html! {
        div class="table-box" tabindex="0" role="region" aria-label="Jobs that are over" {
            table {
                caption { "The newest " (over.len().min(SHOWN)) " of " (over.len()) }
                thead { tr { th scope="col" { "job" } th scope="col" { "experiment" } th scope="col" { "state" } th scope="col" { "ended" } th scope="col" { "run" } th scope="col" { span class="unseen" { "action" } } } }
                tbody {
                    @for job in over.iter().take(SHOWN) {
                        tr {
                            td { (job.id) }
                            th scope="row" { (job.experiment) }
                            td { (state(job)) @if !job.reason.is_empty() && job.state != JobState::Completed { details { summary { "why" } pre { (job.reason) } } } }
                            td { @if let Some(at) = &job.ended_at { (time(at)) } }
                            td { @if let Some(run) = &job.run { a href={ "/runs/" (run) } { (run) } } @else { "none" } }
                            td { @if full && job.can_resume() { (button(job, "resume", None, "Resume")) } }
                        }
                    }
                }
            }
        }
    }
}

/// Asks whether a job is to be cancelled.
pub(super) async fn ask_cancel(
    State(app): Server,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Page {
    may_write(role)?;
    let job = app.job(number(&id)?)?;
    if job.state.is_over() {
        let message = format!("job {id} is {} already", job.state.name());
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
            @if runs { "runs. Its trial ends now, the settings that it changed are restored, and what was measured stays in the archive, where it can be resumed." }
            @else { "waits. It leaves the queue, and nothing was measured." }
        }
        div class="actions" {
            form method="post" action={ "/queue/" (job.id) "/cancel" } { button type="submit" class="danger" { "Cancel the job" } }
            a class="button" href=(stay) { (keep) }
        }
    };
    Ok(shell(&format!("Cancel job {id}?"), Section::Queue, &body))
}

pub(super) async fn cancel(app: Server, id: Path<String>) -> Led {
    jobs::cancel(app, id).await.map(|_| see("/queue"))
}

pub(super) async fn resume(app: Server, id: Path<String>) -> Led {
    jobs::resume(app, id).await.map(|_| see("/queue"))
}

pub(super) async fn shift(app: Server, id: Path<String>, Sent(to): Sent<jobs::Move>) -> Led {
    jobs::shift(app, id, Body(to)).await.map(|_| see("/queue"))
}

//! The queue: what runs, what waits, what is over; and the form of an experiment.

use std::sync::Arc;

use assay_model::{ParamType, Stop};
use axum::Extension;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Path, State};
use axum::response::{Html, Response};
use maud::{Markup, html};
use serde::Deserialize;

use super::{Page, PageRefusal, Place, see, shell, time};
use crate::api::histories::{NewSchedule, scheduled, unscheduled};
use crate::api::jobs::{enqueue, moved};
use crate::api::number;
use crate::api::others;
use crate::app::App;
use crate::change::{self, Field};
use crate::error::Refusal;
use crate::guard::read_only;
use crate::job::{Job, JobState};
use crate::queue::Shift;
use crate::token::Role;

/// How many jobs that are over are shown.
const SHOWN: usize = 30;

pub(super) async fn page(State(app): State<Arc<App>>, Extension(role): Extension<Role>) -> Page {
    let lines = others::lines(&app).await?;
    let body = html! {
        h1 { "Queue" }
        p class="lede" { "One run at a time measures on this machine. What waits here is kept when the server or the machine stops." }
        div id="queue" data-refresh="/queue/part" { (jobs(&app, role)) }
        h2 id="experiments" { @if role == Role::Full { "Submit an experiment" } @else { "Experiments" } }
        @if lines.is_empty() {
            p { "The server was started without a folder of experiments: " code { "assay serve FOLDER" } "." }
        }
        ul class="cards" {
            @for line in &lines {
                li class="card" {
                    h3 { @if line.problem.is_none() && role == Role::Full { a href={ "/queue/new/" (line.id) } { (line.id) } } @else { (line.id) } }
                    @if !line.title.is_empty() { p { (line.title) } }
                    @if let Some(problem) = &line.problem { pre class="problem" { (problem) } }
                    @else { p class="soft" { "workload " (line.workload) } }
                }
            }
        }
    };
    Ok(shell("Queue", Place::Queue, &body))
}

/// The part that changes.
pub(super) async fn part(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
) -> Html<String> {
    Html(jobs(&app, role).into_string())
}

/// Buttons are for those who may press them.
fn jobs(app: &App, role: Role) -> Markup {
    let full = role == Role::Full;
    let queue = app.queue();
    let (running, waiting, over) = (queue.running(), queue.waiting(), queue.over());
    html! {
        h2 { "Running" }
        @if let Some(job) = running { (card(app, job, full)) } @else { p { "Nothing runs." } }
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
            h2 { "Cut off" }
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
        h2 { "Over" }
        @if over.is_empty() { p { "Nothing has run yet." } } @else { (table(&over, full)) }
        (schedules(app, full))
    }
}

/// What is submitted again and again.
fn schedules(app: &App, full: bool) -> Markup {
    let all = app.schedules().list();
    html! {
        @if !all.is_empty() {
            h2 { "Scheduled" }
            ul class="cards" {
                @for s in &all {
                    li class="card" {
                        p class="headline" {
                            strong { (s.submit.experiment) } span class="soft" { "s" (s.id) }
                            span { "every " (s.every) " UTC" @if let Some(rev) = &s.submit.rev { ", revision " (rev) } }
                        }
                        p class="soft" {
                            "next " (time(&s.next))
                            @if let Some(last) = &s.last {
                                " · last " (time(&last.due)) @if let Some(job) = last.job { ": job " (job) } @else { ": no job" }
                                @if !last.note.is_empty() { "; " (last.note) }
                            }
                        }
                        @if full {
                            div class="actions" {
                                form method="post" action={ "/schedules/" (s.id) "/cancel" } {
                                    button type="submit" aria-label={ "Cancel schedule s" (s.id) ", " (s.submit.experiment) } { "Cancel" }
                                }
                            }
                        }
                    }
                }
            }
        }
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
            @if let Some(of) = &job.scheduled { " · for schedule s" (of.schedule) ", " (time(&of.due)) }
            @if job.run.is_some() && job.state == JobState::Waiting { " · goes on where it stopped" }
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
                thead { tr { th scope="col" { "job" } th scope="col" { "experiment" } th scope="col" { "state" } th scope="col" { "ended" } th scope="col" { "run" } th scope="col" { "" } } }
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

pub(super) async fn form(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Page {
    if role == Role::ReadOnly {
        return Err(read_only().into());
    }
    let form = others::form(&app, id).await?;
    let e = &form.experiment;
    let body = html! {
        h1 { (form.id) }
        @if !e.title.is_empty() { p class="lede" { (e.title) } }
        p class="soft" {
            "workload " (e.workload) ": " (form.help) ". As it stands: " (form.treatments) " treatments, "
            @if e.design.stop == Stop::Clear { "looks until the answer is clear" } @else { (form.trials) " trials" } "."
        }
        form method="post" action={ "/queue/new/" (form.id) } class="fields" {
            fieldset {
                legend { "What differs" }
                p class="soft" { "Several values with commas make a parameter a factor; one value fixes it." }
                @for field in form.fields.iter().filter(|f| f.factor) { (input(field)) }
                @if !form.fields.iter().any(|f| f.factor) { p { "No parameter of the workload; the experiment's factors are " (e.factors.keys().cloned().collect::<Vec<_>>().join(", ")) "." } }
            }
            fieldset {
                legend { "What stays" }
                @for field in form.fields.iter().filter(|f| !f.factor) { (input(field)) }
            }
            fieldset {
                legend { "The run" }
                div class="field" { label for="blocks" { "blocks" } input id="blocks" name="blocks" inputmode="numeric" value=[e.design.blocks]; p class="soft" { "Each holds one trial of every treatment. Empty: as the experiment says." } }
                div class="field" { label for="tags" { "tags" } input id="tags" name="tags"; p class="soft" { "Words to find the run by, with commas." } }
                @if e.source.is_some() {
                    div class="field" { label for="rev" { "revision" } input id="rev" name="rev" maxlength="200"; p class="soft" { "A commit, a tag or a branch: measured as a point of the experiment's history. Empty: the experiment as it stands." } }
                    div class="field" { label for="reference" { "reference" } input id="reference" name="reference" maxlength="200"; p class="soft" { "The revision that it is measured beside. Empty: the one of the history, else the one that the file names." } }
                }
                div class="field" { label for="every" { "again, every (UTC)" } input id="every" name="every" maxlength="60" placeholder="day at 02:00"; p class="soft" { "hour, hour at :30, day at 02:00, weekday at 02:00, week on monday at 02:00. Empty: once." } }
                div class="field" { label for="not_before" { "not before (UTC)" } input id="not_before" name="not_before" type="datetime-local"; p class="soft" { "Empty: when its turn comes." } }
                div class="field" { label for="by" { "submitted by" } input id="by" name="by" maxlength="200"; }
                div class="field check" { input id="first" name="first" type="checkbox" value="1"; label for="first" { "before all others that wait" } }
            }
            button type="submit" { "Submit" }
        }
    };
    Ok(shell(&format!("Submit {}", form.id), Place::Queue, &body))
}

fn input(field: &Field) -> Markup {
    let name = &field.param.name;
    let id = format!("set-{name}");
    let value = field.value.as_deref();
    let asked = (field.locked.is_none()).then(|| format!("set.{name}"));
    html! {
        div class="field" {
            label for=(id) { (name) }
            @match &field.param.ty {
                ParamType::Choice { of } if !field.factor => {
                    select id=(id) name=[asked] disabled[field.locked.is_some()] {
                        @for word in of { option value=(word) selected[value == Some(word)] { (word) } }
                    }
                }
                ParamType::Bool if !field.factor => {
                    select id=(id) name=[asked] disabled[field.locked.is_some()] {
                        @for word in ["true", "false"] { option value=(word) selected[value == Some(word)] { (word) } }
                    }
                }
                _ => { input id=(id) name=[asked] value=[value] disabled[field.locked.is_some()] aria-describedby={ (id) "-help" }; }
            }
            p class="soft" id={ (id) "-help" } { (field.param.help) " (" (kind(&field.param.ty)) ")." @if let Some(why) = &field.locked { " Fixed here: " (why) "." } }
        }
    }
}

fn kind(ty: &ParamType) -> String {
    match ty {
        ParamType::Bool => "true or false".into(),
        ParamType::Int { min, max } if *max >= i64::MAX / 2 => format!("a whole number from {min}"),
        ParamType::Int { min, max } => format!("a whole number from {min} to {max}"),
        ParamType::Float { min, max } if *max > 1e300 => format!("a number from {min}"),
        ParamType::Float { min, max } => format!("a number from {min} to {max}"),
        ParamType::Bytes => "a size such as 100 MiB".into(),
        ParamType::Duration => "a time such as 500 ms".into(),
        ParamType::Choice { of } => format!("one of {}", of.join(", ")),
        ParamType::Text => "a text".into(),
    }
}

type Filled = Result<Form<Vec<(String, String)>>, FormRejection>;

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    filled: Filled,
) -> Result<Response, PageRefusal> {
    let Form(filled) = filled.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    let form = others::form(&app, id).await?;
    let submit = change::from_form(&form, &filled)?;
    let every = filled.iter().find(|(name, value)| name == "every" && !value.trim().is_empty());
    match every {
        Some((_, every)) => {
            let every = every.clone();
            scheduled(&app, NewSchedule { every, submit }).await?;
        }
        None => {
            enqueue(&app, submit).await?;
        }
    }
    Ok(see("/queue"))
}

/// Asks whether a job is to be cancelled.
pub(super) async fn ask_cancel(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Page {
    if role == Role::ReadOnly {
        return Err(read_only().into());
    }
    let job = app.job(number(&id)?)?;
    if job.state.is_over() {
        let message = format!("job {id} is {} already", job.state.name());
        return Err(Refusal::conflict(message).into());
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
    Ok(shell(&format!("Cancel job {id}?"), Place::Queue, &body))
}

pub(super) async fn cancel(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, PageRefusal> {
    app.cancel(number(&id)?)?;
    Ok(see("/queue"))
}

pub(super) async fn unschedule(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, PageRefusal> {
    unscheduled(&app, &id)?;
    Ok(see("/queue"))
}

pub(super) async fn resume(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, PageRefusal> {
    app.resume(number(&id)?)?;
    Ok(see("/queue"))
}

#[derive(Deserialize)]
pub(super) struct To {
    to: Shift,
}

pub(super) async fn shift(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    to: Result<Form<To>, FormRejection>,
) -> Result<Response, PageRefusal> {
    let Form(To { to }) = to.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    moved(&app, number(&id)?, to)?;
    Ok(see("/queue"))
}

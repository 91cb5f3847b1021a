//! Submission pages: start from an experiment, a workload or a text. The form shows the important
//! fields first and folds the rest, shows the current plan, and shows problems at their fields
//! while it keeps everything that was typed.

use std::sync::Arc;

use assay_model::nouns::count;
use assay_model::units::{format_value, significant};
use assay_model::{ParamSpec, ParamType};
use assay_workloads::registry::specs;
use axum::response::{Html, IntoResponse};
use axum::{Json, http::StatusCode};
use maud::{Markup, html};
use serde::Deserialize;

use super::fields::{self, DraftForm, parameter, problem, row};
use super::{PageResult, RedirectResult, Section, get, percent_encode, post, redirect, shell};
use crate::api::runs::run_id;
use crate::api::{jobs, server};
use crate::app::{App, Routes, Server};
use crate::error::Refusal;
use crate::http::extract::{Form, JsonBody, JsonResult, Params, Path, State};
use crate::http::token::Role;
use crate::submit::draft::{self, Draft, PlanSummary};
use crate::submit::form::FilledForm;
use crate::submit::overrides::Field;
use crate::submit::submission::Submission;

/// Path from which the script of the form requests the plan. Refusals are JSON there.
pub(crate) const PLAN: &str = "/queue/new/plan";

/// Fields in the folded part of the form.
const FOLDED: [&str; 6] = ["tags", "rev", "reference", "not_before", "by", "first"];

/// Starting point of the form, as query parameters.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StartQuery {
    /// Id of a run to repeat.
    run: String,
    /// Id of a run to clone as a new experiment.
    clone: String,
    workload: String,
    /// Not empty to start from an example text.
    blank: String,
}

const BLANK: &str = "name = \"new\"\nworkload = \"command\"\n\n[factors]\n\
    command = [\"sleep 0.1\", \"sleep 0.2\"]\n\n\
    [design]\nblocks = 10\n";

pub(super) fn router() -> Routes {
    Routes::new()
        .route("/queue/new", get(start).post(submit))
        .route(PLAN, post(live_plan))
        .route("/queue/new/{id}", get(experiment))
}

/// Renders the form that was requested, or the choice of where to start.
async fn start(State(app): Server, role: Role, Params(start): Params<StartQuery>) -> PageResult {
    role.may_write()?;
    let asked = if !start.run.is_empty() || !start.clone.is_empty() {
        let clone = start.run.is_empty();
        let id = run_id(if clone { &start.clone } else { &start.run })?;
        app.heavy(move |app| draft::submission_of_run(app, &id, clone)).await?
    } else if !start.workload.is_empty() {
        Submission { workload: Some(start.workload), ..Submission::default() }
    } else if !start.blank.is_empty() {
        let toml = Some(BLANK.to_owned());
        Submission { experiment: "new".into(), toml, ..Submission::default() }
    } else {
        return choose(&app).await;
    };
    open(&app, asked).await
}

/// Renders the form of an experiment of the folders.
async fn experiment(State(app): Server, role: Role, Path(id): Path<String>) -> PageResult {
    role.may_write()?;
    open(&app, Submission { experiment: id, ..Submission::default() }).await
}

async fn open(app: &Arc<App>, asked: Submission) -> PageResult {
    let filled = FilledForm::new(asked);
    let draft = drafted(app, &filled).await?;
    Ok(page(app, &filled, &draft, false))
}

async fn drafted(app: &Arc<App>, filled: &FilledForm) -> Result<Draft, Refusal> {
    let asked = filled.asked.clone();
    app.heavy(move |app| draft::draft(app, &asked)).await
}

async fn choose(app: &Arc<App>) -> PageResult {
    let lines = server::experiments(State(app.clone())).await?.0;
    let workloads = app.heavy(|app| Ok(specs(&app.config.kits))).await?;
    let needed = |p: &&ParamSpec| p.default.is_none() && p.ty == ParamType::Text;
    let body = html! {
        h1 { "Submit" }
        (machine())
        h2 id="experiments" { "Start from an experiment" }
        @if lines.is_empty() {
            p { "The server has no folder of experiments: " code { "assay serve FOLDER" } "." }
        }
        ul.cards.starts { @for line in &lines { li.card {
            h3 {
                @if line.problem.is_none() { a href={ "/queue/new/" (line.id) } { (line.id) } }
                @else { (line.id) }
            }
            @if !line.title.is_empty() { p { (line.title) } }
            @if let Some(problem) = &line.problem { pre.problem { (problem) } }
            @else { p.soft { "workload " (line.workload) } }
        } } }
        h2 { "Start from a workload" }
        ul.cards.starts { @for w in &workloads {
            @let locked = w.params.iter().find(needed).filter(|_| !app.config.allow_any);
            @let name = percent_encode(&w.name);
            li.card {
                h3 {
                    @if locked.is_some() { (w.name) }
                    @else { a href={ "/queue/new?workload=" (name) } { (w.name) } }
                }
                p.soft { (w.help) }
                @if let Some(param) = locked { p {
                    code { (param.name) } " can name any program, so it cannot be set on this \
                    server. Start it with " code { "assay serve --allow-any" } ", or put an \
                    experiment file into its folder"
                    @if let Some(f) = app.config.folders.first() { " " code { (f.display()) } } "."
                } }
            }
        } }
        h2 { "Start from a text" }
        @if app.config.allow_any {
            p { a.button href="/queue/new?blank=1" { "Write an experiment" } }
        } @else { p { "A new experiment can name any program, so it needs a server started with "
            code { "--allow-any" } "." } }
    };
    Ok(shell(app, "Submit", Section::Queue, &body))
}

/// Renders the machine that a submission is measured on, by the name that its runs record.
fn machine() -> Markup {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    html! { p.soft { "Runs on " strong { (host) } ", " (count(cpus, "CPU")) "." } }
}

/// Renders the form. `sent` is true if the form was sent and came back with problems.
fn page(app: &App, filled: &FilledForm, draft: &Draft, sent: bool) -> Html<String> {
    let asked = &filled.asked;
    let form = DraftForm { filled, draft };
    // Required parameters are shown first too.
    let front = |f: &&Field| f.factor || f.param.default.is_none();
    let (differs, stays): (Vec<_>, Vec<_>) = draft.fields.iter().partition(front);
    let wrong = |names: &[&str]| draft.problems.iter().any(|p| names.contains(&p.field.as_str()));
    let more = |name, words, kind, help| row(&form, name, words, kind, help, &filled.text(name));
    let invalid = form.has_problem("toml").then_some("true");
    let stays_wrong = stays.iter().any(|f| form.has_problem(&format!("set.{}", f.param.name)));
    let inputs = html! {
        fieldset {
            legend { "What differs" }
            p.soft { "Several values, separated by commas, make a parameter a factor; one value \
                fixes it." }
            @for field in &differs { (parameter(&form, field)) }
            @if differs.is_empty() { p { "Nothing yet: one treatment is measured." } }
            (row(&form, "blocks", "blocks", "numeric", "Each block has one trial of every \
                treatment. If empty: the number in the experiment.", &filled.blocks(draft)))
        }
        @if !stays.is_empty() { details open[stays_wrong || differs.is_empty()] {
            summary { "What stays (" (count(stays.len(), "parameter")) ")" }
            @for field in &stays { (parameter(&form, field)) }
        } }
        details open[wrong(&FOLDED)] {
            summary { "Tags, time, revision" }
            (more("tags", "tags", "text", "Words to find the run by, separated by commas."))
            @if draft.revisions {
                (more("rev", "revision", "text", "A commit, tag or branch to measure as a point of \
                    the experiment's history. If empty: the experiment itself."))
                (more("reference", "reference", "text", "The reference revision. If empty: the one \
                    of the history, else the one in the file."))
            }
            @let (name, kind) = ("not before (UTC)", "datetime-local");
            (more("not_before", name, kind, "If empty: as soon as possible."))
            (row(&form, "by", "submitted by", "text", "", &asked.by))
            div.field.check {
                input id="first" name="first" type="checkbox" value="1" checked[asked.first];
                label for="first" { "run next" }
            }
        }
        details open[wrong(&["toml"]) || asked.toml.is_some()] {
            summary { "The experiment as TOML" }
            noscript {
                p.notice { "Without JavaScript, a changed text replaces the parameters above." }
            }
            div.field {
                label for="toml" { "experiment" }
                textarea id="toml" name="toml" rows="18" spellcheck="false" autocapitalize="off"
                    class="code" aria-describedby="toml-problem" aria-invalid=[invalid] {
                    "\n" (draft.toml)
                }
                (problem(&form, "toml"))
            }
        }
    };
    let body = html! {
        h1 { "Submit " (draft.name) }
        @if !draft.title.is_empty() { p.lede { (draft.title) } }
        p.soft { "workload " (draft.workload) @if !draft.help.is_empty() { ": " (draft.help) } }
        (machine())
        @if sent { (summary(draft)) }
        form method="post" action="/queue/new" class="fields submit" id="submit"
            data-plan="/queue/new/plan" {
            input type="hidden" name="experiment" value=(asked.experiment);
            @if let Some(w) = &asked.workload { input type="hidden" name="workload" value=(w); }
            input type="hidden" name="base" value=(filled.base);
            input type="hidden" name="edited" value="";
            div.beside-plan {
                div { (inputs) }
                section aria-labelledby="plan-heading" {
                    h2 id="plan-heading" { "The plan" }
                    div id="plan" aria-live="polite" { (plan(draft)) }
                    button type="submit" { "Submit" }
                    " " a href="/queue/new" { "Start from another experiment" }
                }
            }
        }
    };
    shell(app, &format!("Submit {}", draft.name), Section::Queue, &body)
}

/// Renders the problems at the top of the page, with links to their fields.
fn summary(draft: &Draft) -> Markup {
    html! {
        @if !draft.problems.is_empty() { div.notice role="alert" id="problems" tabindex="-1" {
            p { "Nothing was submitted:" }
            ul { @for p in &draft.problems { li {
                @let (id, name) = (fields::id(&p.field), fields::label(&p.field));
                @if !p.field.is_empty() { a href={ "#" (id) } { (name) } ": " }
                (p.message)
            } } }
        } }
    }
}

/// Renders the current plan.
fn plan(draft: &Draft) -> Markup {
    html! {
        @for p in draft.problems.iter().filter(|p| p.field.is_empty()) { p.bad { (p.message) } }
        @match &draft.plan {
            Some(plan) => { (figures(plan)) }
            None if draft.problems.is_empty() => { p { "A revision is planned on submission." } }
            None => { p { "Fix " (count(draft.problems.len(), "error")) " to see the plan." } }
        }
    }
}

fn figures(plan: &PlanSummary) -> Markup {
    let percent = |ratio: f64| format!("{} %", significant((ratio - 1.0) * 100.0, 2));
    let e = &plan.estimate;
    html! {
        dl.facts {
            div { dt { "trials" } dd {
                strong { @if plan.until_clear { "at most " } (plan.trials) } " ("
                (count(plan.treatments as usize, "treatment")) ", "
                (count(e.blocks as usize, "block")) ")"
            } }
            div { dt { "time" } dd {
                @if let Some(s) = e.total_s { strong { "about " (format_value(s, "s")) } }
                @else { "unknown" }
            } }
            div { dt { "detectable difference" } dd {
                @let words = " in 80 of 100 repeats";
                @if let Some(ratio) = e.detectable { strong { (percent(ratio)) } (words) }
                @else { ul.plain-list { @for (noise, ratio) in &e.detectable_at { li {
                    @match ratio { Some(ratio) => strong { (percent(*ratio)) }, None => "none", }
                    " where trials vary by " (significant(noise * 100.0, 1)) " %"
                } } } }
            } }
        }
        p.soft { "Time and noise: " (e.basis) "." }
        @if !plan.obstacles.is_empty() {
            p { strong.bad { "Cannot be run here:" } }
            ul { @for obstacle in &plan.obstacles { li { (obstacle) } } }
        }
    }
}

type Pairs = Vec<(String, String)>;

/// Reads a form and drafts its submission. The draft includes the problems that reading the form
/// found.
async fn read(app: &Arc<App>, sent: Pairs) -> Result<(FilledForm, Draft), Refusal> {
    let filled = app.heavy(move |app| FilledForm::read(app, sent)).await?;
    let mut draft = drafted(app, &filled).await?;
    draft.problems.splice(0..0, filled.problems.iter().cloned());
    if !filled.problems.is_empty() {
        draft.plan = None;
    }
    Ok((filled, draft))
}

async fn submit(State(app): Server, Form(sent): Form<Pairs>) -> RedirectResult {
    let (filled, draft) = read(&app, sent).await?;
    if !draft.problems.is_empty() {
        return Ok((StatusCode::BAD_REQUEST, page(&app, &filled, &draft, true)).into_response());
    }
    jobs::submit(State(app), JsonBody(filled.asked)).await.map(|_| redirect("/queue"))
}

/// Returns the current state of the form for the script: the plan as a part of the page, the
/// problems, the text and the values.
async fn live_plan(State(app): Server, Form(sent): Form<Pairs>) -> JsonResult<serde_json::Value> {
    let (_, draft) = read(&app, sent).await?;
    let values: serde_json::Map<String, serde_json::Value> = draft
        .fields
        .iter()
        .map(|f| (format!("set.{}", f.param.name), f.value.clone().into()))
        .chain([("blocks".to_owned(), draft.blocks.map(|n| n.to_string()).into())])
        .collect();
    Ok(Json(serde_json::json!({
        "plan": plan(&draft).into_string(),
        "problems": draft.problems,
        "toml": draft.toml,
        "values": values,
    })))
}

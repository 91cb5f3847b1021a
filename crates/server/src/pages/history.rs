//! Histories: all series small; one large with its changes, which can be confirmed and acknowledged here.

use std::sync::Arc;

use assay_history::{Shown, ShownChange, ShownSeries, quoted};
use assay_model::RunId;
use assay_report::history::{self, History, Look, anchor};
use axum::Extension;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;

use super::archive::encode;
use super::{Page, PageRefusal, Section, see, shell};
use crate::api::histories::{
    Acknowledged, Afresh, AtCommit, acknowledged, confirmed, started_afresh,
};
use crate::app::App;
use crate::error::Refusal;
use crate::points;
use crate::token::Role;

pub(super) async fn list(State(app): State<Arc<App>>) -> Page {
    let own = Arc::clone(&app);
    let ((all, silent), imported) = app
        .heavy(move || Ok::<_, Refusal>((points::histories(&own)?, points::imported(&own))))
        .await??;
    let none = all.is_empty() && imported.is_empty();
    let mut histories: Vec<History> = all.into_iter().map(History::Own).collect();
    histories.extend(imported.into_iter().map(|(name, i)| History::Quoted(name, i)));
    let body = html! {
        h1 { "History" }
        p class="lede" { "A metric over the revisions of a program, each measured in the same \
                 blocks as a fixed reference. Changes are suspected until a fresh experiment of \
                 both sides confirms or refutes them." }
        (history::overview(
            &histories,
            &|shown, series| address(shown, series),
            &|name, i, _| format!("/history/imported/{}?series={i}", encode(name)),
        ))
        @if none {
            p { "The archive has no history yet. From a shell: " code { "assay history --rev v1..main --build make --fill -- ./prog" }
                "; every night: " code { "assay submit EXPERIMENT --every 'day at 02:00' --rev main" } "." }
        }
        @if silent > 0 { p class="soft" { (silent) " of an earlier assay are shown once " code { "assay history" } " has looked at them again." } }
    };
    Ok(shell("History", Section::History, &body))
}

fn address(shown: &Shown, series: &ShownSeries) -> String {
    format!("/history/{}#{}", shown.id, anchor(&shown.id, &series.machine))
}

pub(super) async fn page(
    State(app): State<Arc<App>>,
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> Page {
    let own = Arc::clone(&app);
    let (shown, others) = app
        .heavy(move || -> Result<(Shown, Vec<History>), Refusal> {
            let shown = points::history(&own, &id)?;
            let (all, _) = points::histories(&own)?;
            let same = |s: &Shown| s.experiment == shown.experiment && s.id != shown.id;
            let others = all.into_iter().filter(same).map(History::Own).collect();
            Ok((shown, others))
        })
        .await??;
    let act: &dyn Fn(&ShownSeries, &ShownChange) -> Markup =
        &|_, change| actions(&shown.id, change);
    let look = Look {
        run: Some(|run: &RunId| format!("/runs/{run}")),
        actions: (role == Role::Full).then_some(act),
    };
    let body = html! {
        p class="eyebrow" { a href="/history" { "History" } }
        h1 { (shown.experiment) }
        @for series in &shown.series { (history::large(&shown, series, &look)) }
        @if shown.series.is_empty() { p { "Nothing is measured yet that can be shown." } }
        @if !shown.unusable.is_empty() { p { "Cannot be measured: " (shown.unusable.join(", ")) "." } }
        @for note in &shown.notes { p { (note) "." } }
        @if role == Role::Full {
            @for commit in &shown.resets {
                form method="post" action={ "/history/" (shown.id) "/reset" } {
                    input type="hidden" name="commit" value=(commit);
                    input type="hidden" name="undo" value="true";
                    button type="submit" { "Compare again across " (history::short(commit)) }
                }
            }
        }
        @if !others.is_empty() {
            h2 { "Other series of " (shown.experiment) }
            (history::overview(&others, &|shown, series| address(shown, series), &|_, _, _| String::new()))
        }
    };
    Ok(shell(&format!("{} over revisions", shown.experiment), Section::History, &body))
}

/// What can be done about a change: a fresh experiment, a person's word.
fn actions(id: &str, change: &ShownChange) -> Markup {
    let name = history::short(&change.commit);
    html! {
        div class="actions" {
            @if change.is_undecided() {
                form method="post" action={ "/history/" (id) "/confirm" } {
                    input type="hidden" name="commit" value=(change.commit);
                    button type="submit" aria-label={ "Confirm the change at " (name) " by a fresh experiment" } { "Confirm" }
                }
            }
            details {
                summary { "Acknowledge" }
                form method="post" action={ "/history/" (id) "/acknowledge" } class="fields" {
                    input type="hidden" name="commit" value=(change.commit);
                    div class="field" { label for={ "note-" (name) } { "note" } input id={ "note-" (name) } name="note" maxlength="500"; }
                    div class="field" { label for={ "link-" (name) } { "link" } input id={ "link-" (name) } name="link" type="url" maxlength="500" placeholder="https://"; }
                    button type="submit" { "Acknowledge" }
                }
            }
            details {
                summary { "Start afresh" }
                form method="post" action={ "/history/" (id) "/reset" } {
                    input type="hidden" name="commit" value=(change.commit);
                    p { "What lies before " code { (name) } " is then not compared with what follows." }
                    button type="submit" { "Start afresh at " (name) }
                }
            }
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Which {
    #[serde(default)]
    series: usize,
}

pub(super) async fn imported(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    which: Result<Query<Which>, QueryRejection>,
) -> Page {
    let Query(Which { series: at }) = which.map_err(|e| Refusal::bad(e.body_text()))?;
    let own = Arc::clone(&app);
    let all = app.heavy(move || points::imported(&own)).await?;
    let none = || Refusal::not_found(format!("no imported series is called `{name}`"));
    let (_, found) = all.into_iter().find(|(known, _)| *known == name).ok_or_else(none)?;
    let analysed = quoted(&found);
    let (Some(series), Some(changes)) = (found.series.get(at), analysed.series.get(at)) else {
        return Err(
            Refusal::not_found(format!("`{name}` has {} series", found.series.len())).into()
        );
    };
    let body = html! {
        p class="eyebrow" { a href="/history" { "History" } }
        h1 { (name) }
        (history::large_quoted(&name, series, changes))
        @if found.series.len() > 1 {
            h2 { "All series of " (name) }
            (history::overview(
                &[History::Quoted(name.clone(), found.clone())],
                &|_, _| String::new(),
                &|name, i, _| format!("/history/imported/{}?series={i}", encode(name)),
            ))
        }
    };
    Ok(shell(&format!("{name}, quoted"), Section::History, &body))
}

type Filled<T> = Result<Form<T>, FormRejection>;

pub(super) async fn confirm(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    filled: Filled<AtCommit>,
) -> Result<Response, PageRefusal> {
    let Form(AtCommit { commit }) = filled.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    confirmed(&app, id, commit).await?;
    Ok(see("/queue"))
}

pub(super) async fn reset(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    filled: Filled<Afresh>,
) -> Result<Response, PageRefusal> {
    let Form(asked) = filled.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    let shown = started_afresh(&app, id, asked).await?;
    Ok(see(&format!("/history/{}", shown.id)))
}

pub(super) async fn acknowledge(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    filled: Filled<Acknowledged>,
) -> Result<Response, PageRefusal> {
    let Form(asked) = filled.map_err(|e| Refusal::new(e.status(), e.body_text()))?;
    let commit: String = asked.commit.chars().filter(char::is_ascii_hexdigit).take(10).collect();
    let shown = acknowledged(&app, id, asked).await?;
    Ok(see(&format!("/history/{}#change-{commit}", shown.id)))
}

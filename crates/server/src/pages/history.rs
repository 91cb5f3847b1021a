//! History pages: an overview of all series, and a page for each history with its changes, which
//! can be confirmed and acknowledged there.

use assay_model::RunId;
use assay_report::history::{self, PageLinks, PublishedHistory, series_anchor};
use assay_stats::series::{ChangeView, HistoryView, SeriesView, quoted};
use maud::{Markup, html};
use serde::Deserialize;

use super::fields::button;
use super::{PageResult, RedirectResult, Section, get, percent_encode, post, redirect, shell};
use crate::api::histories::{self, AtCommit};
use crate::app::{Routes, Server};
use crate::error::Refusal;
use crate::http::extract::{Form, JsonBody, Params, Path, State};
use crate::http::token::Role;
use crate::submit::points::{self, Acknowledgement, HistoryReset};

pub(super) fn router() -> Routes {
    Routes::new()
        .route("/history", get(list))
        .route("/history/imported/{name}", get(imported))
        .route("/history/{id}", get(page))
        .route("/history/{id}/confirm", post(confirm))
        .route("/history/{id}/acknowledge", post(acknowledge))
        .route("/history/{id}/reset", post(reset))
}

async fn list(State(app): Server) -> PageResult {
    let ((all, silent), imported) =
        app.heavy(|app| Ok((points::histories(app)?, points::imported(app)))).await?;
    let none = all.is_empty() && imported.is_empty();
    let mut histories: Vec<PublishedHistory> = all.into_iter().map(PublishedHistory::Own).collect();
    histories.extend(imported.into_iter().map(|(name, i)| PublishedHistory::Quoted(name, i)));
    let body = html! {
        h1 { "History" }
        p.lede { "A metric over the revisions of a program, each measured in the same blocks as a \
            fixed reference. A change is suspected until a new experiment of both sides confirms \
            or refutes it." }
        (history::overview(
            &histories,
            &address,
            &|name, i, _| format!("/history/imported/{}?series={i}", percent_encode(name)),
        ))
        @if none {
            p { "The archive has no history yet. From a shell: "
                code { "assay history --rev v1..main --build make --fill -- ./prog" }
                "; every night, from a crontab: "
                code { "0 2 * * * assay submit EXPERIMENT --rev main" } "." }
        }
        @if silent > 0 { p.soft {
            (silent) " of an earlier version of assay are shown after the next "
            code { "assay history" } "."
        } }
    };
    Ok(shell(&app, "History", Section::History, &body))
}

fn address(shown: &HistoryView, series: &SeriesView) -> String {
    format!("/history/{}#{}", shown.id, series_anchor(&shown.id, series))
}

async fn page(State(app): Server, role: Role, Path(id): Path<String>) -> PageResult {
    let (shown, others) = app
        .heavy(move |app| {
            let shown = points::history(app, &id)?;
            let (all, _) = points::histories(app)?;
            let same = |s: &HistoryView| s.experiment == shown.experiment && s.id != shown.id;
            let others: Vec<_> = all.into_iter().filter(same).map(PublishedHistory::Own).collect();
            Ok((shown, others))
        })
        .await?;
    let act: &dyn Fn(&SeriesView, &ChangeView) -> Markup = &|_, change| actions(&shown.id, change);
    let look = PageLinks {
        run: Some(|run: &RunId| format!("/runs/{run}")),
        actions: (role == Role::Full).then_some(act),
    };
    let body = html! {
        p.eyebrow { a href="/history" { "History" } }
        h1 { (shown.experiment) }
        (history::suite_summary(&shown))
        @for series in &shown.series { (history::large(&shown, series, &look)) }
        @if shown.series.is_empty() { p { "There are no measured points yet." } }
        (history::left_out(&shown))
        @if role == Role::Full { @for commit in &shown.resets {
            form method="post" action={ "/history/" (shown.id) "/reset" } {
                input type="hidden" name="commit" value=(commit);
                input type="hidden" name="undo" value="true";
                button type="submit" { "Compare again across " (history::short(commit)) }
            }
        } }
        @if !others.is_empty() {
            h2 { "Other series of " (shown.experiment) }
            (history::overview(&others, &address, &|_, _, _| String::new()))
        }
    };
    Ok(shell(&app, &format!("{} over revisions", shown.experiment), Section::History, &body))
}

/// Renders the actions on a change: confirm it by a fresh experiment, acknowledge it, or start
/// afresh at it.
fn actions(id: &str, change: &ChangeView) -> Markup {
    let name = history::short(&change.commit);
    html! {
        div.actions {
            @if change.is_undecided() { form method="post" action={ "/history/" (id) "/confirm" } {
                input type="hidden" name="commit" value=(change.commit);
                @let label = format!("Confirm the change at {name} by a new experiment");
                (button("", &label, "Confirm"))
            } }
            details {
                summary { "Acknowledge" }
                form method="post" action={ "/history/" (id) "/acknowledge" } class="fields" {
                    input type="hidden" name="commit" value=(change.commit);
                    div.field { label for={ "note-" (name) } { "note" }
                        input id={ "note-" (name) } name="note" maxlength="500"; }
                    div.field { label for={ "link-" (name) } { "link" }
                        input id={ "link-" (name) } name="link" type="url" maxlength="500"
                            placeholder="https://"; }
                    button type="submit" { "Acknowledge" }
                }
            }
            details {
                summary { "Start afresh" }
                form method="post" action={ "/history/" (id) "/reset" } {
                    input type="hidden" name="commit" value=(change.commit);
                    p { "Points before " code { (name) } " are then not compared with later ones." }
                    button type="submit" { "Start afresh at " (name) }
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct SeriesQuery {
    #[serde(default)]
    series: usize,
}

async fn imported(
    State(app): Server,
    Path(name): Path<String>,
    Params(SeriesQuery { series: at }): Params<SeriesQuery>,
) -> PageResult {
    let of = name.clone();
    let found = app.heavy(move |app| points::imported_as(app, &of)).await?;
    let analysed = quoted(&found);
    let (Some(series), Some(changes)) = (found.series.get(at), analysed.series.get(at)) else {
        return Err(Refusal::not_found(format!("`{name}` has {} series", found.series.len())));
    };
    let body = html! {
        p.eyebrow { a href="/history" { "History" } }
        h1 { (name) }
        (history::large_quoted(&name, series, changes))
        @if found.series.len() > 1 {
            h2 { "All series of " (name) }
            (history::overview(
                &[PublishedHistory::Quoted(name.clone(), found.clone())],
                &|_, _| String::new(),
                &|name, i, _| format!("/history/imported/{}?series={i}", percent_encode(name)),
            ))
        }
    };
    Ok(shell(&app, &format!("{name}, quoted"), Section::History, &body))
}

async fn confirm(app: Server, id: Path<String>, Form(asked): Form<AtCommit>) -> RedirectResult {
    histories::confirm(app, id, JsonBody(asked)).await.map(|_| redirect("/queue"))
}

async fn reset(app: Server, id: Path<String>, Form(asked): Form<HistoryReset>) -> RedirectResult {
    let shown = histories::reset(app, id, JsonBody(asked)).await?;
    Ok(redirect(&format!("/history/{}", shown.id)))
}

async fn acknowledge(
    app: Server,
    id: Path<String>,
    Form(asked): Form<Acknowledgement>,
) -> RedirectResult {
    let commit: String = asked.commit.chars().filter(char::is_ascii_hexdigit).take(10).collect();
    let shown = histories::acknowledge(app, id, JsonBody(asked)).await?;
    Ok(redirect(&format!("/history/{}#change-{commit}", shown.id)))
}

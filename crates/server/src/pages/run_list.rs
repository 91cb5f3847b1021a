//! Rows of runs on a page of the archive: the result first, then time and place, then the actions.

use std::collections::BTreeSet;
use std::sync::Arc;

use assay_model::{RunSummary, units};
use maud::{Markup, html};

use super::fields::button;
use super::{age, time};
use crate::api::runs::{self, Runs};
use crate::app::{App, Headlines};
use crate::error::Refusal;
use crate::http::extract::{Params, State};
use crate::searches::RunQuery;

/// Actions on runs, for users who may change them.
pub(super) struct RunActions<'a> {
    /// Address of the page to return to.
    pub back: &'a str,
    /// Names of the experiments whose runs can be repeated; `None` if all can.
    pub repeatable: Option<BTreeSet<String>>,
}

/// Renders the rows of runs. `chosen` is the id of a run that is ticked.
pub(super) fn rows(
    runs: &[RunSummary],
    headlines: &Headlines,
    actions: Option<&RunActions<'_>>,
    chosen: &str,
) -> Markup {
    html! {
        ul.runs aria-label="Runs" {
            @for r in runs { li { (row(r, headlines.get(&r.id), actions, chosen)) } }
        }
    }
}

/// Returns a page of the runs that a search finds, with their headlines.
pub(super) async fn runs_with_headlines(
    app: &Arc<App>,
    query: RunQuery,
) -> Result<(Runs, Headlines), Refusal> {
    let found = runs::list(State(app.clone()), Params(query)).await?.0;
    let runs = found.runs.clone();
    let headlines = app.heavy(move |app| Ok(app.headlines(&runs))).await?;
    Ok((found, headlines))
}

/// Renders the headline of a run, or the value of its baseline if it has no headline.
pub(super) fn outcome(r: &RunSummary, headline: Option<&String>) -> Markup {
    html! {
        @if let Some(text) = headline.filter(|text| !text.is_empty()) { (text) }
        @else if let Some(v) = r.value {
            strong { (units::format_value(v, &r.unit)) } " "
            span.soft { (r.metric) @if r.treatments > 1 { ", baseline of " (r.treatments) } }
        } @else { span.soft { (r.metric) ": no single value" } }
    }
}

fn row(
    r: &RunSummary,
    headline: Option<&String>,
    actions: Option<&RunActions<'_>>,
    chosen: &str,
) -> Markup {
    let about = format!("{}, run {}", r.experiment, r.id);
    html! {
        div.pick { input type="checkbox" name="runs" value=(r.id) form="compare"
            checked[r.id.as_str() == chosen] aria-label={ "choose " (about) }; }
        div.result {
            a href={ "/runs/" (r.id) } aria-label=(about) { (r.experiment) }
            p { (outcome(r, headline)) }
        }
        div.how {
            (state(r.state.name()))
            p.soft { (r.completed) " of " (r.planned) " trials"
                @if r.failed > 0 { ", " strong.bad { (r.failed) " failed" } } }
        }
        div.when { p { (time(&r.started_at)) }
            p.soft { (age(&r.started_at)) " on " (r.host) ", " (r.workload) } }
        div.detail {
            @if r.all_tags().next().is_some() {
                ul.chips aria-label="Tags" { @for tag in r.all_tags() { li.tag { (tag) } } }
            }
            @if !r.note.is_empty() { p.note { (r.note) } }
        }
        details.more name="run" {
            summary aria-label={ "More about " (about) } { "More" }
            (more(r, &about, actions))
        }
    }
}

/// Renders the state of a run or a job.
pub(super) fn state(name: &str) -> Markup {
    html! { span class={ "state state-" (name) } { (name) } }
}

fn more(r: &RunSummary, about: &str, actions: Option<&RunActions<'_>>) -> Markup {
    let is_repeatable = |a: &RunActions<'_>| {
        a.repeatable.as_ref().is_none_or(|names| names.contains(&r.experiment))
    };
    let [tags, help, note] = ["tags", "tags-help", "note"].map(|name| format!("{name}-{}", r.id));
    let (added, fixed) = (r.added_tags.join(", "), r.tags.join(", "));
    html! {
        div.sheet {
            p.soft { "Run " (r.id) }
            @if let Some(actions) = actions {
                form method="post" action={ "/archive/" (r.id) "/annotate" } {
                    input type="hidden" name="back" value=(actions.back);
                    input type="hidden" name="tags_before" value=(added);
                    div.field {
                        label for=(tags) { "Tags" }
                        input id=(tags) name="tags" value=(added) aria-describedby=(help);
                        p.soft id=(help) {
                            "Separated by commas."
                            @if !fixed.is_empty() {
                                " The tags of the experiment cannot be removed: " (fixed) "."
                            }
                        }
                    }
                    div.field {
                        label for=(note) { "Note" }
                        textarea id=(note) name="note" rows="3" maxlength="10000" { (r.note) }
                        p.soft { "Tags and notes are not part of the record, which is fixed." }
                    }
                    (button("", &format!("Save tags and note of {about}"), "Save"))
                }
                @if !is_repeatable(actions) { p.soft {
                    "Cannot be repeated on this server: the experiment is not in its folders. Put \
                    its file there, or start the server with " code { "--allow-any" } "."
                } }
            }
            div.actions {
                a.button href={ "/runs/" (r.id) } aria-label={ "Open " (about) } { "Open" }
                @if let Some(actions) = actions {
                    @if is_repeatable(actions) {
                        a.button href={ "/queue/new?run=" (r.id) }
                            aria-label={ "Repeat " (about) } { "Repeat" }
                        @let clone = "Clone as a new experiment";
                        a.button href={ "/queue/new?clone=" (r.id) }
                            aria-label={ (clone) ": " (about) } { (clone) }
                    }
                    a.button href={ "/api/v1/runs/" (r.id) "/bundle" } download
                        aria-label={ "Export " (about) } { "Export" }
                    form method="post" action={ "/archive/" (r.id) "/delete" } {
                        input type="hidden" name="back" value=(actions.back);
                        (button("danger", &format!("Delete {about}"), "Delete"))
                    }
                }
            }
        }
    }
}

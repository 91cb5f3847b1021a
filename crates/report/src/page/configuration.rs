//! The system under test, and what was set.

use std::collections::BTreeMap;

use assay_model::{Fact, Treatment};
use maud::{Markup, html};

use super::parts::table_box;
use crate::figures::count;
use crate::terminal::KEY_FACTS;
use crate::view::RunView;

pub(super) fn section(view: &RunView) -> Markup {
    let facts = &view.system.facts;
    let unknown = facts.values().filter(|f| f.value().is_none()).count();
    let key = html! {
        @for (name, path) in KEY_FACTS {
            @if let Some(fact) = facts.get(path) {
                tr { th scope="row" title=(path) { (name) } (value(fact)) }
            }
        }
    };
    let all = html! {
        @for (path, fact) in facts { tr { th scope="row" { code { (path) } } (value(fact)) } }
    };
    html! {
        @if facts.is_empty() {
            p { "The run has no description of the system." }
        } @else {
            @if view.imported().is_some() {
                p { "As far as the imported file tells." }
            } @else {
                p { "As described at " (view.system.taken_at) ", before the first trial." }
            }
            (table_box("Key facts of the system under test", &html! { th scope="col" { "fact" } th scope="col" { "value" } }, &key))
            details {
                summary { "All " (count(facts.len(), "fact")) ", " (unknown) " of them unknown" }
                (table_box("Every recorded fact", &html! { th scope="col" { "path" } th scope="col" { "value" } }, &all))
            }
        }
        (settings(view))
        (changes(view))
    }
}

fn value(fact: &Fact) -> Markup {
    html! {
        @match fact {
            Fact::Known { value } => td class="text" { (value) },
            Fact::Unknown { unknown } => td class="text unknown" { "unknown: " (unknown) },
        }
    }
}

/// Parameters and controls: those that are the same everywhere, and the levels of each treatment.
fn settings(view: &RunView) -> Markup {
    let all: Vec<BTreeMap<String, String>> = view.plan.treatments.iter().map(set).collect();
    let Some(first) = all.first() else { return html! {} };
    let fixed: Vec<(&String, &String)> = first
        .iter()
        .filter(|(k, v)| all.iter().all(|m| m.get(*k) == Some(v)))
        .filter(|(k, _)| !view.plan.factors.contains(k))
        .collect();
    let fixed_rows = html! { @for (k, v) in &fixed { tr { th scope="row" { code { (k) } } td class="text" { (v) } } } };
    let head = html! {
        th scope="col" class="num" { "id" } @for f in &view.plan.factors { th scope="col" { (f) } } th scope="col" { "" }
    };
    let rows = html! {
        @for t in &view.plan.treatments {
            tr id={ "treatment-" (t.id) } {
                th scope="row" class="num" { (t.id) }
                @for f in &view.plan.factors { td { @if let Some(v) = t.levels.get(f) { (v.to_text()) } } }
                td { @if t.id == view.plan.baseline && view.plan.treatments.len() > 1 { "baseline" } }
            }
        }
    };
    html! {
        @if !view.plan.factors.is_empty() {
            h3 { "Treatments" }
            (table_box("Treatments and their levels", &head, &rows))
        }
        @if !fixed.is_empty() {
            details {
                summary { "Fixed parameters and settings" }
                (table_box("What was the same in every trial", &html! { th scope="col" { "name" } th scope="col" { "value" } }, &fixed_rows))
            }
        }
    }
}

fn set(t: &Treatment) -> BTreeMap<String, String> {
    let controls = t.controls.iter().map(|c| {
        let dot = if c.key.is_empty() { "" } else { "." };
        (format!("controls.{}{dot}{}", c.control, c.key), c.value.to_text())
    });
    t.params.iter().map(|(k, v)| (k.clone(), v.to_text())).chain(controls).collect()
}

/// Facts that did not stay as they were.
fn changes(view: &RunView) -> Markup {
    let changed: Vec<_> = view.records.iter().filter(|r| !r.changed.is_empty()).collect();
    html! {
        @if !changed.is_empty() {
            h3 { "Changed during the run" }
            ul {
                @for r in &changed {
                    @for (path, now) in &r.changed {
                        li { a href={ "#trial-" (r.number) } { "trial " (r.number) } ": " code { (path) } " was " (view.system.text(path)) ", is " (now) }
                    }
                }
            }
        }
    }
}

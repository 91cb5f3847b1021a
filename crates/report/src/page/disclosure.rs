//! Everything behind the page: every trial, the files, the hashes, the command to repeat it.

use assay_model::ValidationResult;
use maud::{Markup, html};

use super::data::download;
use crate::csv;
use crate::document::html::parts;
use crate::gate::Gate;
use crate::parts::trials::trials;
use crate::view::RunView;

pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let id = view.summary.id.as_str();
    let curves = view.records.iter().any(|r| !r.curves.is_empty());
    html! {
        (parts(&trials(view, gate)))
        (notes(view))
        h3 { "Raw values" }
        ul {
            li { (download(&csv::trials(view), &format!("{id}-trials.csv"), "Every trial and metric (CSV)")) }
            li { (download(&csv::summaries(view), &format!("{id}-summaries.csv"), "Summaries (CSV)")) }
            @if !view.analysis.histograms.is_empty() { li { (download(&csv::percentiles(view), &format!("{id}-percentiles.csv"), "Percentiles of merged histograms (CSV)")) } }
            @if curves { li { (download(&csv::curves(view), &format!("{id}-curves.csv"), "Every point of every curve (CSV)")) } }
            li { "The analysis is embedded in this file as JSON: the element with the id " code { "data" } "." }
        }
        @if view.imported().is_none() {
            h3 { "To repeat it" }
            p { "Save the experiment below as " code { "experiment.toml" } ", then:" }
            div class="table-box" tabindex="0" role="region" aria-label="command" { pre { code { "assay run experiment.toml --seed " (view.plan.seed) } } }
            p class="soft" { "The seed gives the same order of trials; leave it out for a new one." }
        }
        details {
            summary { "experiment.toml" }
            div class="table-box" tabindex="0" role="region" aria-label="experiment.toml" { pre { code { (view.experiment_toml) } } }
        }
        h3 { "Provenance" }
        dl class="provenance" {
            dt { "run" } dd { code { (id) } }
            @if let Some((tool, files)) = view.imported() {
                dt { "imported from" }
                @for f in files { dd { (f.name) " of " (tool) ", SHA-256 " code { (f.sha256) } } }
            }
            dt { "assay" } dd { (view.assay_version) }
            dt { "plan, SHA-256" } dd { code { (view.plan_hash().unwrap_or("unknown: the ledger does not register a plan")) } }
            dt { "ledger head, SHA-256" }
            dd {
                @match &view.ledger_head {
                    Some(head) => { code { (head.sha256) } " (entry " (head.seq) ", the last)" }
                    None => { "unknown: the ledger is empty" }
                }
            }
        }
    }
}

/// Errors, failed validations and notes of trials, each with its trial.
fn notes(view: &RunView) -> Markup {
    let mut all: Vec<(u32, String)> = Vec::new();
    for r in &view.records {
        if !r.error.is_empty() {
            all.push((r.number, r.error.clone()));
        }
        if let ValidationResult::Failed { detail } = &r.validation
            && *detail != r.error
        {
            all.push((r.number, format!("output: {detail}")));
        }
        all.extend(r.notes.iter().map(|n| (r.number, n.clone())));
    }
    html! {
        @if !all.is_empty() {
            h4 { "Errors and notes" }
            ul { @for (n, text) in &all { li { a href={ "#trial-" (n) } { "trial " (n) } ": " (visible(text)) } } }
        }
    }
}

/// Control characters replaced: HTML cannot hold most of them.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{FFFD}' } else { c })
        .collect()
}

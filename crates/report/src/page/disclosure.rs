//! Everything behind the page: every trial, the files, the hashes, the command to repeat it.

use assay_model::{Exit, TrialRecord, ValidationResult};
use maud::{Markup, html};

use super::data::download;
use super::parts::{table_box, withheld};
use crate::csv;
use crate::figures::value_text;
use crate::gate::Gate;
use crate::view::{RunView, outcome_word};

pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let id = view.summary.id.as_str();
    let curves = view.records.iter().any(|r| !r.curves.is_empty());
    html! {
        h3 id="trials" { "Every trial" }
        (trials(view, gate))
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
            pre { code { "assay run experiment.toml --seed " (view.plan.seed) } }
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

fn trials(view: &RunView, gate: &Gate) -> Markup {
    let a = &gate.analysis;
    let head = html! {
        th scope="col" class="num" { "trial" } th scope="col" class="num" { "block" } th scope="col" { "treatment" } th scope="col" { "outcome" }
        th scope="col" class="num" { (a.metric) } th scope="col" class="num" { "wall time" } th scope="col" { "exit" } th scope="col" { "output" } th scope="col" { "started (UTC)" }
    };
    let rows = html! {
        @for r in &view.records {
            tr id={ "trial-" (r.number) } class=[(!r.counts()).then_some("not-counted")] {
                th scope="row" class="num" { (r.number) @if r.attempt > 1 { " (attempt " (r.attempt) ")" } }
                td class="num" { (r.block + 1) }
                td { (view.label(r.treatment)) }
                td { (outcome_word(r.outcome)) @if r.warmup { ", warm-up" } }
                @if let Some(w) = gate.trial(r) {
                    (withheld(2, &format!("withheld: {}", w.finding)))
                } @else {
                    td class="num" { (value_text(r.metric(&a.metric), &a.unit)) }
                    td class="num" { (value_text(r.resources.as_ref().map(|u| u.wall_s), "s")) }
                }
                td { (exit(r, view.imported().is_some())) }
                td { (validation(r)) }
                td { (r.started_at.replace('T', " ").trim_end_matches('Z')) }
            }
        }
    };
    let planned: Vec<u32> = view
        .plan
        .trials
        .iter()
        .filter(|t| view.records.iter().all(|r| r.number != t.number))
        .map(|t| t.number)
        .collect();
    html! {
        (table_box("Every trial that was started, in order", &head, &rows))
        @if !planned.is_empty() {
            p { "Planned and never started: trials " (planned.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")) "." }
        }
    }
}

fn exit(r: &TrialRecord, imported: bool) -> String {
    match r.exit {
        None if imported => "not told".to_owned(),
        Some(Exit::Code(c)) => format!("code {c}"),
        Some(Exit::Signal(s)) => format!("signal {s}"),
        None => "never started, or ended by assay".to_owned(),
    }
}

fn validation(r: &TrialRecord) -> &'static str {
    match r.validation {
        ValidationResult::Passed { .. } => "right",
        ValidationResult::Failed { .. } => "wrong",
        ValidationResult::ExitCodeOnly => "exit code only",
        ValidationResult::NotReached => "not checked",
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

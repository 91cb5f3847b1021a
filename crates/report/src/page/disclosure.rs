//! Sources of the page's numbers: every trial, the files, the hashes, and the command to repeat the
//! run.

use std::borrow::Cow;

use assay_model::ValidationResult;
use maud::{Markup, html};

use super::data;
use crate::document::html::{code_box, parts};
use crate::document::packed::file;
use crate::formats::csv;
use crate::gate::Gate;
use crate::merged_sentences::group;
use crate::parts::trials::trials;
use crate::view::RunView;
use crate::words::visible;

/// Renders the table of every trial, with errors and notes.
pub(super) fn every_trial(view: &RunView, gate: &Gate) -> Markup {
    html! {
        (parts(&trials(view, gate)))
        (notes(view))
    }
}

/// Renders the files, the hashes and the command to repeat the run.
pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let id = view.summary.id.as_str();
    let curves = view.records.iter().any(|r| !r.curves.is_empty());
    let plan = view.plan_hash().unwrap_or("unknown: the ledger does not register a plan");
    html! {
        h3.screen { "Raw values" }
        p.soft.screen { "These files are inside this page; " code { "assay publish" }
            " also writes them next to it." }
        ul.screen {
            (file(&csv::trials(view), "trials.csv", "Every trial and metric"))
            (file(&csv::summaries(view), "summaries.csv", "Summaries"))
            @if !view.analysis.histograms.is_empty() {
                @let label = "Percentiles of merged histograms";
                (file(&csv::percentiles(view), "percentiles.csv", label))
            }
            @if curves { (file(&csv::curves(view), "curves.csv", "Every point of every curve")) }
            (file(&data::analysis(view, gate), "analysis.json", "The analysis"))
        }
        @if view.imported().is_none() {
            h3 { "To repeat it" }
            p { "Save the experiment below as " code { "experiment.toml" } ", then:" }
            (code_box("command", &format!("assay run experiment.toml --seed {}", view.plan.seed)))
            p.soft { "The seed gives the same order of trials; leave it out for a new one." }
        }
        details.printed {
            summary { "experiment.toml" }
            (code_box("experiment.toml", &view.experiment_toml))
        }
        h3 { "Provenance" }
        dl.provenance {
            dt { "run" } dd { code { (id) } }
            @if let Some((tool, files)) = view.imported() {
                dt { "imported from" }
                @for f in files { dd { (f.name) " of " (tool) ", SHA-256 " code { (f.sha256) } } }
            }
            dt { "assay" } dd { (view.assay_version) }
            dt { "plan, SHA-256" } dd { code { (plan) } }
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

/// Largest number of trials that are named at a note.
const NAMED: usize = 6;

/// Renders errors, failed validations and notes with the trials that reported them. Texts that
/// differ only in their numbers are shown once, with the range of each number.
fn notes(view: &RunView) -> Markup {
    let mut said: Vec<(u32, Cow<'_, str>)> = Vec::new();
    for r in &view.records {
        let output = match &r.validation {
            ValidationResult::Failed { detail } if *detail != r.error => {
                Some(Cow::from(format!("output: {detail}")))
            }
            _ => None,
        };
        let error = Some(Cow::from(&r.error)).filter(|error| !error.is_empty());
        let texts = error.into_iter().chain(output).chain(r.notes.iter().map(Cow::from));
        said.extend(texts.map(|text| (r.number, text)));
    }
    let all = group(said.iter().map(|(trial, text)| (*trial, text.as_ref())));
    html! {
        @if !all.is_empty() {
            h3 { "Errors and notes" }
            ul { @for (text, trials) in all.iter().map(|note| (note.text(), &note.trials)) { li {
                (visible(&text)) " ·"
                @for n in trials.iter().take(NAMED) { " " a href={ "#trial-" (n) } { (n) } }
                @if trials.len() > NAMED { " and " (trials.len() - NAMED) " more" }
            } } }
        }
    }
}

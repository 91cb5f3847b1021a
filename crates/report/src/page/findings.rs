//! What the checks found, and what to do about it.

use assay_model::{Finding, Severity};
use maud::{Markup, html};

use crate::view::RunView;

pub(super) fn section(view: &RunView) -> Markup {
    let run = view.analysis.findings.iter().map(|f| (None, f));
    let trials = view.records.iter().flat_map(|r| r.findings.iter().map(|f| (Some(r.number), f)));
    let mut all: Vec<(Option<u32>, &Finding)> = run.chain(trials).collect();
    all.sort_by_key(|(_, f)| std::cmp::Reverse(f.severity));
    html! {
        @if all.is_empty() { p { "The checks found nothing to report." } }
        ul class="findings" {
            @for (trial, f) in &all {
                li class={ "finding " (word(f.severity)) } {
                    p {
                        strong { (word(f.severity)) } " " code { (f.id) } " " (f.name)
                        @if let Some(n) = trial { " · " a href={ "#trial-" (n) } { "trial " (n) } }
                    }
                    p { (f.message) }
                    @if !f.remedy.is_empty() { p class="remedy" { strong { "Remedy: " } (f.remedy) } }
                }
            }
        }
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Invalid => "invalid",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

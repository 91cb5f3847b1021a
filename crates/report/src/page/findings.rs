//! What the checks found, and what to do about it.

use assay_model::{Finding, Severity};
use maud::{Markup, html};

use crate::view::RunView;
use crate::words;

/// How many trials are named at a finding.
const SHOWN: usize = 6;

pub(super) fn section(view: &RunView) -> Markup {
    let all = view.findings();
    html! {
        @if all.is_empty() { p { "The checks found nothing to report." } }
        ul class="findings" {
            @for (f, trials) in &all {
                li class={ "finding " (word(f.severity)) } {
                    p {
                        strong { (word(f.severity)) } " " code { (f.id) } " " (f.name)
                        @for n in trials.iter().take(SHOWN) { " · " a href={ "#trial-" (n) } { "trial " (n) } }
                        @if trials.len() > SHOWN { " and " (trials.len() - SHOWN) " more" }
                    }
                    p { (f.message) }
                    @if !f.remedy.is_empty() { p class="remedy" { strong { "Remedy: " } (f.remedy) } }
                }
            }
        }
        @if let Some(line) = words::unchecked(&view.analysis) { p class="remedy" { (line) } }
    }
}

/// Findings without the trials that they are about; nothing where there is none.
pub(super) fn list(all: &[Finding]) -> Markup {
    html! {
        @if !all.is_empty() {
            ul class="findings" {
                @for f in all {
                    li class={ "finding " (word(f.severity)) } {
                        p { strong { (word(f.severity)) } " " code { (f.id) } " " (f.name) }
                        p { (f.message) }
                        @if !f.remedy.is_empty() { p class="remedy" { strong { "Remedy: " } (f.remedy) } }
                    }
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

//! What the run says, in sentences.

use assay_model::Verdict;
use maud::{Markup, html};

use super::parts::{Behind, badge};
use crate::figures::{NO_VALUE, count, percent, point_text, ratio_text, summary_text, x_text};
use crate::gate::Gate;
use crate::view::{RunView, deciding};
use crate::words;

/// Comparisons shown before the rest is folded away.
const SHOWN: usize = 6;

pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let a = &gate.analysis;
    html! {
        @for w in &gate.withheld {
            @if view.records.iter().all(|r| w.what != format!("trial {}", r.number)) {
                p class="notice invalid" { strong { (w.what) } ": " (w.text()) }
            }
        }
        @if gate.run().is_none() {
            @if a.comparisons.is_empty() { (alone(view, gate)) } @else { (compared(view, gate)) }
            (sizes(view, gate))
        }
    }
}

fn compared(view: &RunView, gate: &Gate) -> Markup {
    let cards: Vec<Markup> = gate
        .analysis
        .comparisons
        .iter()
        .map(|c| {
            let behind = Behind::metric(view, &[c.baseline, c.treatment], &c.metric);
            html! {
                li class={ "card verdict-" (c.verdict.name()) } {
                    p class="headline" {
                        (badge(c.verdict)) " "
                        @if c.verdict != Verdict::Invalid && c.ratio.is_some() {
                            span class="ratio" { (c.metric) " × " (behind.link(&ratio_text(c))) }
                        }
                    }
                    p { (words::verdict(&gate.analysis, c).replace(" %", "\u{a0}%")) }
                    @if !c.reason.is_empty() && c.verdict != Verdict::Invalid && c.ratio.is_some() { p class="soft" { (capital(&c.reason)) "." } }
                }
            }
        })
        .collect();
    html! {
        ul class="cards" { @for c in cards.iter().take(SHOWN) { (c) } }
        @if cards.len() > SHOWN {
            details {
                summary { (cards.len() - SHOWN) " more comparisons" }
                ul class="cards" { @for c in cards.iter().skip(SHOWN) { (c) } }
            }
        }
    }
}

fn alone(view: &RunView, gate: &Gate) -> Markup {
    html! {
        @for s in deciding(&gate.analysis) {
            @if gate.treatment(s.treatment).is_none() {
                @let behind = Behind::metric(view, &[s.treatment], &s.metric);
                p class="statement" {
                    (s.metric) " of " (view.label(s.treatment)) ": " strong { (behind.link(&summary_text(s))) }
                    " (" (count(s.summary.n as usize, "trial"))
                    @if let Some(i) = s.interval() { ", " (percent(i.level)) " interval" }
                    @if !s.better.words().is_empty() { ", " (s.better.words()) }
                    ")."
                }
            }
        }
        @if deciding(&gate.analysis).is_empty() { p { "No treatment has a value of " (gate.analysis.metric) ": " (NO_VALUE) "." } }
    }
}

/// The sizes to choose, where the run measured curves.
fn sizes(view: &RunView, gate: &Gate) -> Markup {
    let measured = gate.analysis.curves.iter().filter(|c| c.kind == assay_model::Kind::Measured);
    let chosen: Vec<_> = measured.filter_map(|c| Some((c, c.efficient.as_ref()?))).collect();
    html! {
        @if !chosen.is_empty() {
            ul class="statements" {
                @for (c, p) in &chosen {
                    @let behind = Behind::curve(view, c);
                    li {
                        "Most efficient " (c.x_one()) " for " (c.name) " of " (view.label(c.treatment)) ": " strong { (x_text(p.x, &c.x_unit)) }
                        " with " (behind.link(&point_text(p, &c.unit)))
                        ": " (c.judged) ", the smallest within 2 % of the best"
                        @if let Some(b) = &c.best { " (" (x_text(b.x, &c.x_unit)) " with " (behind.link(&point_text(b, &c.unit))) ")" }
                        "."
                    }
                }
            }
        }
    }
}

/// The text with a capital first letter and without a full stop.
fn capital(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + chars.as_str())
}

//! The first screen of a run's page: the verdict of each comparison, a chart of the deciding
//! metric, the failures with their reasons, and the most severe finding.

use std::collections::BTreeMap;

use assay_model::{TrialOutcome, ValidationResult};
use maud::{Markup, html};

use crate::document::html::{figure, parts};
use crate::document::{DocumentPart, Parts, Text, Tone, text};
use crate::figures::count;
use crate::gate::Gate;
use crate::parts::draw;
use crate::parts::findings::found;
use crate::parts::significance;
use crate::view::RunView;
use crate::words;

/// Number of findings on the first screen, most severe first.
const FINDINGS: usize = 1;
/// Largest number of reasons for failure on the first screen.
const REASONS: usize = 4;
/// Largest number of trials that are named for a reason.
const NAMED: usize = 6;

/// Renders the first screen.
pub(super) fn section(view: &RunView, gate: &Gate) -> Markup {
    let chart = draw::deciding_chart(view, gate).filter(|_| gate.run().is_none());
    html! {
        (parts(&significance::significance(view, gate)))
        div.answer {
            @if let Some((chart, caption)) = &chart {
                div { (figure(chart, caption)) }
            }
            div.aside {
                (parts(&failures(view)))
                (findings(view))
            }
        }
    }
}

/// Returns the failed trials, grouped by reason, the most frequent reason first.
fn failures(view: &RunView) -> Parts {
    let mut out = Parts::default();
    let mut reasons: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for r in view.records.iter().filter(|r| r.outcome != TrialOutcome::Completed) {
        let detail = match &r.validation {
            ValidationResult::Failed { detail } if r.error.is_empty() => detail,
            _ => &r.error,
        };
        let line = detail.lines().find(|l| !l.trim().is_empty()).unwrap_or("no reason recorded");
        let key = (r.outcome.words().to_owned(), words::visible(line.trim()));
        reasons.entry(key).or_default().push(r.number);
    }
    let mut all: Vec<_> = reasons.into_iter().collect();
    all.sort_by_key(|(_, trials)| std::cmp::Reverse(trials.len()));
    let rest: usize = all.iter().skip(REASONS).map(|(_, trials)| trials.len()).sum();
    let one = |((outcome, why), trials): &((String, String), Vec<u32>)| {
        let lead = text(format!("{} ", count(trials.len(), "trial")));
        let mut words = lead.strong(outcome.clone()).plain(format!(": {why} · "));
        for n in trials.iter().take(NAMED) {
            words = words.link(format!("#trial-{n}"), n.to_string()).plain(" ");
        }
        if trials.len() > NAMED {
            words = words.plain(format!("and {} more", trials.len() - NAMED));
        }
        words
    };
    let mut items: Vec<Text> = all.iter().take(REASONS).map(one).collect();
    if rest > 0 {
        let words = format!("{} more, for other reasons", count(rest, "trial"));
        items.push(Text::default().link("#trials", words));
    }
    let unstarted = view.plan.trials.len().saturating_sub(view.records.len());
    if unstarted > 0 {
        items.push(text(format!("{} never started", count(unstarted, "planned trial"))));
    }
    if !items.is_empty() {
        out.heading("", "Failures");
        out.push(DocumentPart::List(Tone::Plain, items));
    }
    out
}

/// Renders the most severe findings and a link to all of them.
fn findings(view: &RunView) -> Markup {
    let mut all = found(view);
    let n = all.len();
    all.truncate(FINDINGS);
    html! {
        h3 { "Findings" }
        (parts(&Parts::from_part(DocumentPart::Findings(all))))
        @if n > FINDINGS { p { a href="#practice" { "All " (n) " findings" } } }
    }
}

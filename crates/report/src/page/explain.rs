//! What differs along with the metric between two treatments: `assay explain` on the page.

use assay_model::Explanation;
use maud::{Markup, html};

use super::parts::table_box;
use crate::explained::{interval, name, points, value};
use crate::figures::ratio_text;
use crate::gate::Gate;
use crate::view::RunView;

/// So many observations are listed.
const SHOWN: usize = 20;
/// So many where none differs clearly.
const DULL: usize = 5;

/// A part for each comparison whose numbers may be shown; `None` without one.
pub(super) fn section(view: &RunView, gate: &Gate) -> Option<Markup> {
    if gate.run().is_some() {
        return None;
    }
    let withheld = |e: &Explanation| {
        let c = &e.comparison;
        gate.treatment(c.treatment).or_else(|| gate.treatment(c.baseline)).is_some()
    };
    let shown: Vec<&Explanation> =
        view.explanations.iter().filter(|e| !e.observations.is_empty() && !withheld(e)).collect();
    let notes = shared_notes(&shown);
    let rest = view.analysis.comparisons.len().saturating_sub(view.explanations.len());
    (!shown.is_empty()).then(|| {
        html! {
            p { "Every observation of the two treatments, differenced by block and ranked; nothing here says what caused what." }
            @for (i, e) in shown.iter().enumerate() {
                @if shown.len() == 1 { (one(e)) }
                @else { details open[i == 0] { summary { (e.treatment) " against " (e.baseline) } (one(e)) } }
            }
            @if rest > 0 { p class="soft" { (rest) " more comparisons: " code { "assay explain " (view.summary.id) " --treatment ..." } } }
            ul class="soft" { @for note in &notes { li { (note) } } }
        }
    })
}

/// The notes of all parts, each once.
fn shared_notes(shown: &[&Explanation]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in shown.iter().flat_map(|e| &e.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

fn one(e: &Explanation) -> Markup {
    let clear = e.observations.iter().filter(|o| o.change.clear()).count();
    let many = if clear == 0 { DULL } else { clear.min(SHOWN) };
    let caption = match clear {
        0 => "No observation differs clearly; those that stand out most".to_owned(),
        1 => "The one observation that differs clearly".to_owned(),
        n if n > SHOWN => format!("{SHOWN} of {n} observations that differ clearly"),
        n => format!("{n} observations that differ clearly"),
    };
    let head = html! {
        th scope="col" { "observation" } th scope="col" class="num" { (e.baseline) } th scope="col" class="num" { (e.treatment) }
        th scope="col" class="num" { "% of time" } th scope="col" class="num" { "interval of the difference" }
    };
    let rows = html! {
        @for o in e.observations.iter().take(many) {
            tr {
                th scope="row" { (name(o)) }
                td class="num" { (value(o.baseline, &o.unit)) } td class="num" { (value(o.treatment, &o.unit)) }
                td class="num" { @if let Some(t) = o.of_time { (points(t.difference)) } @else { "–" } }
                td class="num" { (interval(o)) }
            }
        }
    };
    html! {
        p {
            (e.comparison.metric) ": ratio " (ratio_text(&e.comparison)) ", " (e.comparison.verdict.name())
            @if let Some(change) = e.time_change { "; " (points(change)) " of the baseline's time for the same work" } "."
        }
        (table_box(&caption, &head, &rows))
        @if let Some(account) = &e.account {
            p class="soft" {
                "Of the CPUs' time: "
                (account.parts.iter().map(|(name, d)| format!("{name} {}", points(*d))).collect::<Vec<_>>().join(", "))
                "; together " (points(account.sum)) "."
            }
        }
        @if e.unchanged > 0 { p class="soft" { (e.unchanged) " more were the same in every trial." } }
    }
}

#[cfg(test)]
mod tests {
    use assay_model::{Change, Interval, Observed};

    use super::*;
    use crate::fixtures;

    fn explained() -> RunView {
        let mut view = fixtures::commands();
        let comparison = view.analysis.comparisons[0].clone();
        let change = Change {
            difference: -3.0,
            interval: Some(Interval { low: -4.0, high: -2.0, level: 0.95 }),
            n: 6,
        };
        view.explanations = vec![Explanation {
            baseline: "one".into(),
            treatment: "other".into(),
            comparison,
            time_change: None,
            observations: vec![Observed {
                source: "cpu".into(),
                subject: "all".into(),
                name: "system".into(),
                unit: "%".into(),
                baseline: 40.0,
                treatment: 37.0,
                change,
                of_time: None,
                standard_errors: Some(7.0),
            }],
            unchanged: 2,
            account: None,
            notes: vec!["not seen: the moon".into()],
        }];
        view
    }

    #[test]
    fn the_page_has_what_the_terminal_has() {
        let view = explained();
        let page = section(&view, &Gate::of(&view)).unwrap().into_string();
        let terminal =
            crate::terminal::explain(&view.explanations[0], crate::terminal::Style::default());
        for text in ["cpu all system", "40.00 %", "37.00 %", "-4.0..-2.0", "not seen: the moon"] {
            assert!(page.contains(text) && terminal.contains(text), "{text}\n{terminal}\n{page}");
        }
    }

    #[test]
    fn what_is_withheld_is_not_explained() {
        let mut view = explained();
        let invalid = fixtures::withheld().findings()[0].0.clone();
        assert_eq!(invalid.severity, assay_model::Severity::Invalid);
        view.analysis.findings.push(invalid);
        assert!(section(&view, &Gate::of(&view)).is_none());
    }
}

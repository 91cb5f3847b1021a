//! The conclusions of a run, in sentences.

use assay_model::Verdict;

use crate::document::{Card, DocumentPart, Parts, Text, Tone, TrialLinks, text};
use crate::figures::{
    NO_VALUE, count, in_a_sentence, ratio_in_a_sentence, ratio_mark, summary_in_a_sentence, x_text,
};
use crate::gate::Gate;
use crate::parts::curves::best_note;
use crate::parts::headline::{headline, needed};
use crate::view::{RunView, deciding};
use crate::words;

/// Largest number of comparisons that have a card on the first screen.
const CARDS: usize = 2;

/// Returns true if the cards of the comparisons are shown with the results.
fn in_results(gate: &Gate) -> bool {
    headline(&gate.analysis).is_some() || gate.analysis.comparisons.len() > CARDS
}

/// Returns a card for every comparison, if the first screen has none.
pub(crate) fn sentences(view: &RunView, gate: &Gate) -> Parts {
    let mut out = Parts::default();
    if gate.run().is_none() && in_results(gate) {
        out.push(DocumentPart::Cards(compared(view, gate)));
    }
    out
}

/// Returns the withheld results, the conclusion of each comparison (or the value of each
/// treatment), and the points to choose; without cards if one sentence states the result or if
/// there are many comparisons.
pub(crate) fn significance(view: &RunView, gate: &Gate) -> Parts {
    let mut out = Parts::default();
    let choices = choices(view, gate);
    // In a run with curves the title asks for a choice, so its answer comes first.
    if gate.run().is_none() && !choices.is_empty() {
        out.push(DocumentPart::List(Tone::Plain, choices));
    }
    if let Some(first) = headline(&gate.analysis).filter(|_| gate.run().is_none()) {
        let behind = TrialLinks::metric(view, &view.treatments(), &gate.analysis.metric);
        out.push(DocumentPart::Paragraph(Tone::Strong, Text::default().from(&behind, first)));
        out.notes(needed(view, &gate.analysis));
    }
    for w in &gate.withheld {
        if view.records.iter().all(|r| w.what != format!("trial {}", r.number)) {
            let words = Text::default().strong(w.what.clone()).plain(format!(": {}", w.text()));
            out.push(DocumentPart::Paragraph(Tone::Bad, words));
        }
    }
    if gate.run().is_some() {
        return out;
    }
    if gate.analysis.comparisons.is_empty() {
        alone(view, gate, &mut out);
    } else if !in_results(gate) {
        out.push(DocumentPart::Cards(compared(view, gate)));
    }
    out
}

fn compared(view: &RunView, gate: &Gate) -> Vec<Card> {
    let a = &gate.analysis;
    let card = |c: &assay_model::Comparison| {
        let behind = TrialLinks::metric(view, &[c.baseline, c.treatment], &c.metric);
        let shown = c.verdict != Verdict::Invalid && c.ratio.is_some();
        let ratio = ratio_in_a_sentence(c) + ratio_mark(a, c);
        Card {
            verdict: c.verdict,
            headline: if shown {
                text(format!("{}: {} × ", view.label(c.treatment), c.metric)).from(&behind, ratio)
            } else {
                Text::default()
            },
            words: if shown { words::compared_with(a, c) } else { words::verdict(a, c) },
            reason: if shown { capital(&c.reason) } else { String::new() },
        }
    };
    a.comparisons.iter().map(card).collect()
}

fn alone(view: &RunView, gate: &Gate, out: &mut Parts) {
    let all = deciding(&gate.analysis);
    for s in &all {
        if gate.treatment(s.treatment).is_some() {
            continue;
        }
        let behind = TrialLinks::metric(view, &[s.treatment], &s.metric);
        let better = s.better.words();
        let better = if better.is_empty() { String::new() } else { format!(", {better}") };
        let n = count(s.summary.n as usize, "trial");
        let words = text(format!("{} of {}: ", s.metric, view.label(s.treatment)))
            .from(&behind, summary_in_a_sentence(s))
            .plain(format!(" ({n}{better})."));
        out.push(DocumentPart::Paragraph(Tone::Strong, words));
    }
    if all.is_empty() {
        out.say(format!("No treatment has a value of {}: {NO_VALUE}.", gate.analysis.metric));
    }
}

/// Returns the sizes to choose, if the run measured curves.
fn choices(view: &RunView, gate: &Gate) -> Vec<Text> {
    let measured =
        gate.analysis.curves.iter().filter(|c| c.kind == assay_model::MetricKind::Measured);
    let chosen = measured.filter_map(|c| Some((c, c.efficient.as_ref()?)));
    let sentence = |(c, p): (&assay_model::CurveSummary, &assay_model::CurvePoint)| {
        let behind = TrialLinks::curve(view, c);
        let label = view.label(c.treatment);
        let words = text(format!("Most efficient {} for {} of {label}: ", c.x_one(), c.name))
            .strong(x_text(p.x, &c.x_unit))
            .plain(" with ")
            .from(&behind, in_a_sentence(p.value, p.interval, &c.unit))
            .plain(format!(": {}, the smallest within 2 % of the best", c.judged));
        let Some(b) = &c.best else { return words.plain(".") };
        let best = in_a_sentence(b.value, b.interval, &c.unit) + &best_note(c);
        words.plain(format!(" ({} with ", x_text(b.x, &c.x_unit))).from(&behind, best).plain(").")
    };
    chosen.map(sentence).collect()
}

/// Returns the text with a capital first letter and exactly one full stop.
fn capital(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| format!("{}{}.", c.to_uppercase(), chars.as_str()))
}

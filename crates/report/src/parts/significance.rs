//! What the run says, in sentences.

use assay_model::Verdict;

use crate::document::{Behind, Card, Part, Parts, Text, Tone, text};
use crate::figures::{
    NO_VALUE, count, in_a_sentence, ratio_doubt, ratio_in_a_sentence, summary_in_a_sentence, x_text,
};
use crate::gate::Gate;
use crate::parts::curves::best_note;
use crate::view::{RunView, deciding};
use crate::words;

/// What is withheld, what each comparison says or each treatment has, and what to choose.
pub(crate) fn significance(view: &RunView, gate: &Gate) -> Parts {
    let mut out = Parts::default();
    for w in &gate.withheld {
        if view.records.iter().all(|r| w.what != format!("trial {}", r.number)) {
            let words = Text::default().strong(w.what.clone()).plain(format!(": {}", w.text()));
            out.push(Part::Paragraph(Tone::Bad, words));
        }
    }
    if gate.run().is_some() {
        return out;
    }
    if gate.analysis.comparisons.is_empty() {
        alone(view, gate, &mut out);
    } else {
        out.push(Part::Cards(compared(view, gate)));
    }
    let choices = choices(view, gate);
    if !choices.is_empty() {
        out.push(Part::List(Tone::Plain, choices));
    }
    out
}

fn compared(view: &RunView, gate: &Gate) -> Vec<Card> {
    let a = &gate.analysis;
    let card = |c: &assay_model::Comparison| {
        let behind = Behind::metric(view, &[c.baseline, c.treatment], &c.metric);
        let told = c.verdict != Verdict::Invalid && c.ratio.is_some();
        let ratio = ratio_in_a_sentence(c) + ratio_doubt(a, c);
        Card {
            verdict: c.verdict,
            headline: if told {
                text(format!("{} × ", c.metric)).from(&behind, ratio)
            } else {
                Text::default()
            },
            words: words::verdict(a, c),
            reason: if told { capital(&c.reason) } else { String::new() },
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
        let behind = Behind::metric(view, &[s.treatment], &s.metric);
        let better = s.better.words();
        let better = if better.is_empty() { String::new() } else { format!(", {better}") };
        let n = count(s.summary.n as usize, "trial");
        let words = text(format!("{} of {}: ", s.metric, view.label(s.treatment)))
            .from(&behind, summary_in_a_sentence(s))
            .plain(format!(" ({n}{better})."));
        out.push(Part::Paragraph(Tone::Strong, words));
    }
    if all.is_empty() {
        out.say(format!("No treatment has a value of {}: {NO_VALUE}.", gate.analysis.metric));
    }
}

/// The sizes to choose, where the run measured curves.
fn choices(view: &RunView, gate: &Gate) -> Vec<Text> {
    let measured = gate.analysis.curves.iter().filter(|c| c.kind == assay_model::Kind::Measured);
    let chosen = measured.filter_map(|c| Some((c, c.efficient.as_ref()?)));
    let sentence = |(c, p): (&assay_model::CurveSummary, &assay_model::CurvePoint)| {
        let behind = Behind::curve(view, c);
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

/// The text with a capital first letter and with one full stop.
fn capital(text: &str) -> String {
    let text = text.trim().trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| format!("{}{}.", c.to_uppercase(), chars.as_str()))
}

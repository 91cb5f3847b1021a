//! F31: the trials of the treatments are interleaved in time.

use assay_model::Order;

use super::trend::trend_p;
use crate::prelude::*;

pub const INTERLEAVED: CheckRow = CheckRow {
    id: "F31",
    name: "interleaved",
    section: CheckSection::Statistics,
    severity: WARNING,
    escalation: "invalid if treatments ran one after the other and show a trend (p < 0.01)",
    needs: "start times and order of the trials",
    fires: "the treatments ran one after the other, in the same order in every block, or in an \
            unknown order",
    why: "drift of the machine counts as a difference",
    remedy: "run both as treatments of one experiment (`assay run --vs`, or a factor) with \
        design.order = \"random\"",
    source: "google/benchmark#1051; simulated: 36 % false alarms at 3 % drift",
    evidence: "start times of the trials and the order of the design",
};

pub const CHECK: Check = Check::new(&INTERLEAVED, evaluate);

/// p-value below which a trend counts as real.
const TREND_P: f64 = 0.01;

fn evaluate(e: &Evidence) -> Evaluation {
    let treatments = e.compared()?;
    let schedule = need(e.schedule.as_ref(), "the start times of the trials")?;
    if schedule.order == Some(Order::Unknown) {
        return Ok(vec![finding(
            "the trials were imported and their order is unknown, so treatments are compared as \
            independent samples and drift between them cannot be separated from the difference",
        )]);
    }
    let spans = spans(schedule, treatments.len());
    if let Some(i) = spans.iter().position(Option::is_none) {
        return missing(format!("the start times of the trials of {}", treatments[i].label));
    }
    if let Some((i, j)) = first_separate_pair(&spans) {
        let (a, b) = (&treatments[i].label, &treatments[j].label);
        let text = format!("{a} and {b} ran one after the other: their difference may be drift");
        return Ok(vec![match trend_p(schedule, treatments.len()) {
            Some(p) if p < TREND_P => {
                invalid(format!("{text}; the trials show a trend (p = {})", p_value_text(p)))
            }
            _ => finding(text),
        }]);
    }
    if schedule.order == Some(Order::Sequential) {
        return Ok(vec![finding(
            "the order is the same in every block, so drift within a block is not shared equally",
        )]);
    }
    if schedule.trials.is_empty() {
        return not_applicable("no trial ran");
    }
    Ok(Vec::new())
}

/// Returns the time span and number of trials of each treatment, in one pass. `None`: no trial ran.
fn spans(schedule: &Schedule, treatments: usize) -> Vec<Option<Span>> {
    let mut spans: Vec<Option<Span>> = vec![None; treatments];
    for trial in &schedule.trials {
        let Some(span) = spans.get_mut(trial.treatment) else { continue };
        let (from, to, n) = span.unwrap_or((trial.start_s, trial.end_s, 0));
        *span = Some((from.min(trial.start_s), to.max(trial.end_s), n + 1));
    }
    spans
}

/// Start and end in seconds, and the number of trials.
type Span = (f64, f64, u32);

/// Finds two treatments of which one ended before the other began. Two single trials never overlap
/// and are skipped; the check of enough runs reports those.
fn first_separate_pair(spans: &[Option<Span>]) -> Option<(usize, usize)> {
    let known: Vec<(usize, Span)> =
        spans.iter().enumerate().filter_map(|(i, s)| Some((i, (*s)?))).collect();
    let with = |several: bool| known.iter().filter(move |(_, s)| !several || s.2 > 1);
    // Some pair is apart if and only if the earliest end and the latest begin are, and one of the
    // two has several trials.
    let pairs = [(true, false), (false, true)];
    pairs.into_iter().find_map(|(first, second)| {
        let ends = with(first).min_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
        let begins = with(second).max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        let apart = ends.0 != begins.0 && ends.1.1 <= begins.1.0;
        apart.then(|| (ends.0.min(begins.0), ends.0.max(begins.0)))
    })
}

fn p_value_text(p: f64) -> String {
    if p < 1e-4 { "below 0.0001".to_owned() } else { format!("{p:.4}") }
}

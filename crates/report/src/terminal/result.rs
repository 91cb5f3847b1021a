//! What a run ends with: its results, and what speaks against them. Every trial is in [`super::run`].

use assay_model::{Finding, Outcome, Severity, TrialRecord};

use super::run::results;
use super::writer::Writer;
use super::{Style, findings};
use crate::alike::trials_text;
use crate::document::Tone;
use crate::figures::count;
use crate::view::RunView;

/// How many failed trials are shown.
const FAILED_SHOWN: usize = 5;

/// The results of a run, its warnings and its failed trials.
pub fn result(view: &RunView, style: Style) -> String {
    let s = &view.summary;
    let mut w = Writer::new(style);
    w.raw(&results(view, style));
    let about = |(f, trials): (Finding, Vec<u32>)| {
        if trials.is_empty() {
            return f;
        }
        let text = format!("{} ({})", f.message, trials_text(&trials));
        f.worded(text)
    };
    let all: Vec<Finding> = view.findings().into_iter().map(about).collect();
    let serious: Vec<Finding> =
        all.iter().filter(|f| f.severity > Severity::Note).cloned().collect();
    if !serious.is_empty() {
        w.blank();
        w.raw(&findings(&serious, style));
    }
    let failed: Vec<&TrialRecord> = view
        .records
        .iter()
        .filter(|r| r.outcome != Outcome::Completed && !r.error.is_empty())
        .collect();
    if !failed.is_empty() {
        w.blank();
    }
    for r in failed.iter().take(FAILED_SHOWN) {
        w.wrapped(0, &format!("trial {} failed: {}", r.number, r.error), Tone::Bad);
    }
    if failed.len() > FAILED_SHOWN {
        w.line(&format!("and {} more failed", failed.len() - FAILED_SHOWN), Tone::Bad);
    }
    w.blank();
    let notes = all.len() - serious.len();
    let also = if notes == 0 { String::new() } else { format!(", {}", count(notes, "note")) };
    let trials = count(s.completed as usize, "trial");
    w.wrapped(
        0,
        &format!(
            "run {}: {trials} completed, {} failed{also}; `assay archive show` has them all",
            s.id, s.failed
        ),
        Tone::Soft,
    );
    w.finish()
}

//! Output at the end of a run: its results, and the findings against them. Every trial is in
//! [`super::run`].

use assay_chart::axes::text::shorten;
use assay_model::{Severity, TrialOutcome, TrialRecord};

use super::Style;
use super::run::results;
use crate::document::{DocumentPart, Outputs, ShownFinding, Tone, terminal};
use crate::figures::count;
use crate::parts::findings::found;
use crate::view::RunView;
use crate::words;

/// Largest number of failed trials that are shown.
const FAILED_SHOWN: usize = 5;

/// The level of detail of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The numbers, one verdict and one line about warnings: two commands take ten lines of 80
    /// columns.
    Brief,
    /// The same with reasons, and with the remedy of every warning.
    Full,
}

/// Formats the results of a run, its warnings and its failed trials.
pub fn result(view: &RunView, detail: Detail, style: Style) -> String {
    let s = &view.summary;
    let brief = detail == Detail::Brief;
    let mut all = results(view, style);
    let found = found(view);
    let notes = found.iter().filter(|f| f.finding.severity == Severity::Note).count();
    // A busy machine was reported before the first trial.
    let merged = |f: &&ShownFinding| {
        let f = &f.finding;
        brief && f.severity == Severity::Warning && !f.message.starts_with(assay_checks::BUSY)
    };
    let serious = |f: &&ShownFinding| match f.finding.severity {
        Severity::Note => false,
        Severity::Warning => !brief,
        Severity::Invalid => true,
    };
    let shown: Vec<ShownFinding> = found.iter().filter(serious).cloned().collect();
    if !shown.is_empty() {
        all.push(DocumentPart::Findings(shown));
    }
    let failed: Vec<&TrialRecord> = view
        .records
        .iter()
        .filter(|r| r.outcome != TrialOutcome::Completed && !r.error.is_empty())
        .collect();
    for r in failed.iter().take(FAILED_SHOWN) {
        all.toned(Tone::Bad, format!("trial {} failed: {}", r.number, r.error));
    }
    if failed.len() > FAILED_SHOWN {
        all.toned(Tone::Bad, format!("and {} more failed", failed.len() - FAILED_SHOWN));
    }
    let warnings: Vec<&ShownFinding> = found.iter().filter(merged).collect();
    if !warnings.is_empty() {
        all.toned(Tone::Warn, in_short(&warnings, style));
    }
    let also = if notes == 0 { String::new() } else { format!(", {}", count(notes, "note")) };
    if let (false, Some(line)) = (brief || found.is_empty(), words::profile(&view.analysis)) {
        all.say(line);
    }
    let trials = count(s.completed as usize, "trial");
    let failed = s.failed;
    all.say(format!("run {}: {trials}, {failed} failed{also}; details: `assay show`", s.id));
    terminal::parts_of(&all, if brief { Outputs::Brief } else { Outputs::Terminal }, style)
}

/// Returns the warning with the largest effect on the numbers and its remedy, cut to three lines,
/// and the option that shows the other warnings.
fn in_short(warnings: &[&ShownFinding], style: Style) -> String {
    let Some(first) = warnings.first() else { return String::new() };
    let remedy = match first.finding.remedy.as_str() {
        "" => String::new(),
        remedy => format!("; {remedy}"),
    };
    let text = format!("warning: {}{remedy}", first.finding.message);
    let short = shorten(&text, 3 * style.columns() - 24, style.ellipsis());
    match warnings.len() - 1 {
        0 => short,
        more => format!("{short} ({more} more: -v)"),
    }
}

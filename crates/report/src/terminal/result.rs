//! What a run ends with: its results, and what speaks against them. Every trial is in [`super::run`].

use assay_chart::text::shorten;
use assay_model::{Outcome, Severity, TrialRecord};

use super::Style;
use super::run::results;
use crate::alike::once;
use crate::document::{About, Found, On, Part, Tone, terminal};
use crate::figures::count;
use crate::parts::findings::found;
use crate::view::RunView;
use crate::words;

/// How many failed trials are shown.
const FAILED_SHOWN: usize = 5;

/// How much of a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The numbers, one verdict, and that there are warnings: two commands take ten lines of 80 columns.
    Brief,
    /// With the reasons, and every warning with its remedy.
    Full,
}

/// The results of a run, its warnings and its failed trials.
pub fn result(view: &RunView, detail: Detail, style: Style) -> String {
    let s = &view.summary;
    let brief = detail == Detail::Brief;
    let mut all = results(view, style);
    let found = found(view);
    let notes = found.iter().filter(|f| f.finding.severity == Severity::Note).count();
    let merged = |f: &&Found| brief && f.finding.severity == Severity::Warning;
    let serious = |f: &&Found| f.finding.severity > Severity::Note && !merged(f);
    let shown: Vec<Found> = found.iter().filter(serious).cloned().collect();
    if !shown.is_empty() {
        all.push(Part::Findings(shown));
    }
    let failed: Vec<&TrialRecord> = view
        .records
        .iter()
        .filter(|r| r.outcome != Outcome::Completed && !r.error.is_empty())
        .collect();
    for r in failed.iter().take(FAILED_SHOWN) {
        all.toned(Tone::Bad, format!("trial {} failed: {}", r.number, r.error));
    }
    if failed.len() > FAILED_SHOWN {
        all.toned(Tone::Bad, format!("and {} more failed", failed.len() - FAILED_SHOWN));
    }
    let warnings: Vec<&Found> = found.iter().filter(merged).collect();
    if !warnings.is_empty() {
        all.toned(Tone::Warn, in_short(&warnings, style));
    }
    let also = if notes == 0 { String::new() } else { format!(", {}", count(notes, "note")) };
    if let (false, Some(line)) = (brief || found.is_empty(), words::profile(&view.analysis)) {
        all.say(line);
    }
    let trials = count(s.completed as usize, "trial");
    all.say(format!("run {}: {trials}, {} failed{also}; all: assay archive show", s.id, s.failed));
    terminal::parts_of(&all, if brief { On::Brief } else { On::Terminal }, style)
}

/// One warning, as far as two lines hold it; of several which checks warn, and about how many trials.
fn in_short(warnings: &[&Found], style: Style) -> String {
    if let [Found { finding: f, .. }] = warnings {
        let text = format!("warning: {} {}: {}", f.id, f.name, f.message);
        return shorten(&text, 2 * style.columns() - 12, style.ellipsis());
    }
    let check = |f: &&Found| format!("{} {}", f.finding.id, f.finding.name);
    let checks = once(warnings.iter().map(check));
    let mut trials: Vec<u32> = warnings
        .iter()
        .flat_map(|f| match &f.about {
            About::Trials(trials) => trials.as_slice(),
            About::Numbers(_) => &[],
        })
        .copied()
        .collect();
    trials.sort_unstable();
    trials.dedup();
    let about = match trials.len() {
        0 => String::new(),
        n => format!(" in {}", count(n, "trial")),
    };
    let number = count(warnings.len(), "warning");
    format!("{number}{about}: {} (-v prints them)", checks.join(", "))
}

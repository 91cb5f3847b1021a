//! Findings of the checks and their remedies.

use std::cmp::Reverse;

use assay_checks::{UNCHECKED, rows};
use assay_model::{CheckRow, Finding, Severity};

use crate::document::{DocumentPart, FindingSubject, Parts, ShownFinding, Tone};
use crate::view::RunView;
use crate::words;

/// Returns the findings of a run with the trials that carry them, and the number of checks that
/// could not be made.
pub(crate) fn findings(view: &RunView) -> Parts {
    let mut out = Parts::default();
    out.push(DocumentPart::Findings(found(view)));
    if let Some(line) = words::profile(&view.analysis) {
        out.push(DocumentPart::Paragraph(Tone::Soft, line.into()));
    }
    if let Some(line) = words::unchecked(&view.analysis) {
        out.push(DocumentPart::Paragraph(Tone::Soft, line.into()));
    }
    out
}

/// Checks in descending order of the effect that their findings have on the numbers of a run; all
/// other checks come last.
const BY_EFFECT: [&CheckRow; 17] = [
    &rows::SUITE_READ,
    &rows::UNIT_OF_REPLICATION,
    &rows::OUTPUT_VERIFIED,
    &rows::SAME_WORK,
    &rows::BINARY_IDENTITY,
    &rows::CONFOUNDER,
    &rows::PAGE_SIZE,
    &rows::ENVIRONMENT_STABLE,
    &rows::CLOCK_AND_HEAT,
    &rows::COLD_START,
    &rows::MEMORY_NODES,
    &rows::GENERATOR_NOT_LIMIT,
    &rows::INTERLEAVED,
    &rows::LAYOUT_SAMPLED,
    &rows::TIMER_AND_LENGTH,
    &rows::ENOUGH_RUNS,
    &rows::SHAPE_FITS_SUMMARY,
];

/// Returns each finding of a run with its trials: the most severe first, then those with the
/// largest effect on the numbers. Checks that could not be made are left out; [`words::unchecked`]
/// counts them.
pub(crate) fn found(view: &RunView) -> Vec<ShownFinding> {
    let place = |f: &Finding| {
        let place = BY_EFFECT.iter().position(|row| row.id == f.id);
        (Reverse(f.severity), place.unwrap_or(BY_EFFECT.len()))
    };
    let counted = |f: &Finding| f.severity < Severity::Invalid && f.message.starts_with(UNCHECKED);
    let mut all = view.findings();
    all.retain(|(f, _)| !counted(f));
    all.sort_by_key(|(f, _)| place(f));
    let found = |(finding, trials)| ShownFinding {
        finding,
        about: FindingSubject::Trials(trials),
        id: None,
    };
    all.into_iter().map(found).collect()
}

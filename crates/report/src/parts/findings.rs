//! What the checks found, and what to do about it.

use crate::document::{About, Found, Part, Parts, Tone};
use crate::view::RunView;
use crate::words;

/// The findings of a run with the trials that carry them, and what could not be checked.
pub(crate) fn findings(view: &RunView) -> Parts {
    let mut out = Parts::default();
    out.push(Part::Findings(found(view)));
    if let Some(line) = words::profile(&view.analysis) {
        out.push(Part::Paragraph(Tone::Soft, line.into()));
    }
    if let Some(line) = words::unchecked(&view.analysis) {
        out.push(Part::Paragraph(Tone::Soft, line.into()));
    }
    out
}

/// Each finding of a run with its trials.
pub(crate) fn found(view: &RunView) -> Vec<Found> {
    let found = |(finding, trials)| Found { finding, about: About::Trials(trials), id: None };
    view.findings().into_iter().map(found).collect()
}

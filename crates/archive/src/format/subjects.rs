//! Redacts the names of sampled subjects.

use std::borrow::Cow;

use assay_model::SampleSet;
use assay_system::redact::Redactor;

use crate::format::layout::SAMPLES;

/// Redacts the subjects of all series. Returns true if any was changed.
pub(crate) fn clean(set: &mut SampleSet, redactor: &Redactor) -> bool {
    let mut changed = false;
    for series in &mut set.series {
        if let Cow::Owned(clean) = redactor.text(SAMPLES, &series.subject) {
            series.subject = clean;
            changed = true;
        }
    }
    changed
}

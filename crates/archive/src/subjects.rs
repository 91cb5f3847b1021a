//! The names of what was sampled, as they may be shown.

use std::borrow::Cow;

use assay_model::SampleSet;
use assay_redact::Redactor;

use crate::layout::SAMPLES;

/// Cleans them; whether that changed any.
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

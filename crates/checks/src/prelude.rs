//! Names that most files of the catalogue use.

pub(crate) use assay_model::{CheckRow, CheckSection, FiredCheck, Observation};

pub(crate) use crate::check::{
    Check, Evaluation, INVALID, NOTE, NOTE_OR_INVALID, NOTE_OR_WARNING, WARNING,
    WARNING_OR_INVALID, about, finding, finding_at, found_or_missing, invalid, note,
    shortened_list, versus, warning,
};
pub(crate) use crate::evidence::*;

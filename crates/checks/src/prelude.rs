//! Names that most files of the catalogue use.

pub(crate) use assay_model::{CheckRow, CheckSection, FiredCheck, Observation};

pub(crate) use crate::check::{
    Check, Evaluation, I, N, NI, NW, Stop, W, WI, about, at, found_or_missing, grave, missing,
    need, not_applicable, number, plain, shortened,
};
pub(crate) use crate::{Evidence, RecordedValue, TreatmentEvidence};

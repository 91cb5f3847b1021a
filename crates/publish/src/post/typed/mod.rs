//! Quantities that a person typed into a post. They are found by digits and number words after
//! rendering, marked in every output of the post, and counted. The words around them are not
//! interpreted.

mod atoms;
mod check;
mod detect;
mod exempt;
mod fold;
mod mark;
mod stretch;

pub(super) use detect::is_percent;
pub(super) use exempt::ExemptWords;
pub(super) use fold::unseen;
pub(super) use mark::{Marks, daggers, events_of};
pub(super) use stretch::{NUMBER, OPTIONS, Stretch, StretchKind, events, stretches};

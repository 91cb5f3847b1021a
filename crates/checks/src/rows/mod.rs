//! The rows of the catalogue as data, a constant each, named as the check is. A finding is made by its row
//! ([`assay_model::Row::finding`]); id, name and severity are written here and nowhere else.

mod claims;
mod environment;
mod never;
mod nodes;
mod retired;
mod statistics;
mod workload;

use assay_model::{Severities, Severity};

pub use claims::*;
pub use environment::*;
pub use never::always_checked;
pub use nodes::*;
pub use retired::retired;
pub use statistics::*;
pub use workload::*;

/// A note in both profiles.
pub(crate) const N: Severities = Severities::both(Severity::Note);
/// A warning in both profiles.
pub(crate) const W: Severities = Severities::both(Severity::Warning);
/// Invalid in both profiles.
pub(crate) const I: Severities = Severities::both(Severity::Invalid);
/// A note at the bench, a warning when published.
pub(crate) const NW: Severities = Severities { lab: Severity::Note, publish: Severity::Warning };
/// A note at the bench, invalid when published.
pub(crate) const NI: Severities = Severities { lab: Severity::Note, publish: Severity::Invalid };
/// A warning at the bench, invalid when published.
pub(crate) const WI: Severities = Severities { lab: Severity::Warning, publish: Severity::Invalid };

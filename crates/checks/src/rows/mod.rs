//! The rows of the catalogue as data: one constant per check, with the check's name.
//!
//! A row makes its findings ([`assay_model::CheckRow::finding`]). Ids, names and severities of
//! checks are written here only.

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
/// A note in profile `lab`, a warning in `publish`.
pub(crate) const NW: Severities = Severities { lab: Severity::Note, publish: Severity::Warning };
/// A note in profile `lab`, invalid in `publish`.
pub(crate) const NI: Severities = Severities { lab: Severity::Note, publish: Severity::Invalid };
/// A warning in profile `lab`, invalid in `publish`.
pub(crate) const WI: Severities = Severities { lab: Severity::Warning, publish: Severity::Invalid };

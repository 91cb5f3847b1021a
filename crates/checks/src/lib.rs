//! The catalogue of checks that decide if a comparison is sound and how it may be published.
//!
//! The checks are data: one row each in [`rows`]. Callers supply typed evidence.
//! [`judge_observation`] turns one [`assay_model::Observation`] from a trial into a finding;
//! [`evaluate`] runs every check over the [`Evidence`] about a whole run, comparison, page or
//! claim. A check is a pure function. A check whose evidence is missing reports that it cannot
//! check, which never counts as a pass.

mod audited_claim;
mod catalogue;
mod check;
mod classes;
mod evidence;
mod from_run;
mod observations;
mod prelude;
mod report;
mod table;

pub use audited_claim::{AuditedClaim, RecomputedClaim};
pub use catalogue::{BUSY, MAX_QUEUE_PER_CPU, catalogue, find, judge, rows};
pub use check::{Check, CheckOutcome};
pub use classes::environment_markdown;
pub use evidence::*;
pub use from_run::{RunMaterial, from_run};
pub use observations::{judge_observation, judge_observations, record_observation};
pub use report::{CheckReport, PassedCheck, SkippedCheck, UNCHECKED, evaluate};
pub use table::markdown;

//! The catalogue of checks: whether a comparison is honest, and in what terms it may be published.
//!
//! [`rows`] are the checks as data. Whoever knows something hands over typed evidence: what was seen in a
//! trial as [`assay_model::Observation`]s, which [`judge_seen`] turns into findings, and what is known of a
//! whole run, comparison, page or claim as [`Evidence`], of which [`evaluate`] makes every check. A check is a
//! pure function; what the evidence does not hold cannot be checked, which is never a pass.

mod catalogue;
mod check;
mod classes;
mod evidence;
mod from_nodes;
mod from_run;
mod judge;
mod report;
pub mod rows;
mod seen;
mod table;

pub use catalogue::{Check, Outcome, catalogue, find, judge};
pub use classes::environment_markdown;
pub use evidence::*;
pub use from_run::{RunMaterial, from_run};
pub use judge::modes;
pub use report::{Checked, Report, UNCHECKED, Unchecked, evaluate};
pub use seen::{BUSY, judge_all, judge_seen, see};
pub use table::markdown;

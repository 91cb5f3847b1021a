//! Parses the two result formats of SPEC CPU's tools as plain data: the raw file ([`rsf`]) and the
//! CSV report ([`report`]). The functions are pure and take text. Their callers decide how the
//! numbers count: as quoted results of others, or as measurements of a licensed kit.

pub mod report;
mod result;
pub mod rsf;

pub use result::{SpecResult, SpecRun};

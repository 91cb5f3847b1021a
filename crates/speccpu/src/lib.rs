//! Reads the two result files of SPEC CPU's tools, the raw file ([`rsf`]) and the CSV report
//! ([`report`]), as plain data. Pure functions from text; whoever reads a file decides what its
//! numbers are (quoted results of others, or what a licensed kit has just measured).

pub mod report;
mod result;
pub mod rsf;

pub use result::{Flaw, SpecResult, SpecRun};

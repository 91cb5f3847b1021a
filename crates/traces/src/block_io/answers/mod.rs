//! Answers to questions about I/Os: groups, histograms, regions, series.

pub(super) mod analysis;
pub(super) mod counted;
pub(super) mod devices;
pub(super) mod filter;
pub(super) mod grid;
pub(super) mod groups;
pub(super) mod heat;
pub(super) mod histogram;
pub(super) mod question;
pub(super) mod regions;
pub(super) mod report;
pub(super) mod seek;
pub(super) mod series;

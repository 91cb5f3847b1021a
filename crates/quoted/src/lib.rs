//! Rules for publishing results: the rule [`pack`]s of benchmarks, results quoted from other
//! publications, denominators such as cores or watts, and landscapes, which are ranked tables of
//! results. [`pack::evaluate`] checks a result against a rule pack, [`quoted::read`] reads quoted
//! results from CSV, and [`landscape::Collection`] builds tables from them.

pub mod denominator;
pub mod landscape;
pub mod pack;
pub mod quantity;
pub mod quoted;

//! In what terms a result may be published: the rule [`pack`]s of benchmarks, results quoted from elsewhere,
//! the denominators they are divided by, the landscapes they are ranked in. [`pack::evaluate`] judges; [`quoted::read`] is
//! where outside results come in; [`landscape::Collection`] makes their tables.

pub mod denominator;
pub mod landscape;
pub mod pack;
pub mod quantity;
pub mod quoted;

//! Whether a comparison is honest, and in what terms it may be published: the [`catalogue`] of checks,
//! the rule [`pack`]s of benchmarks, results quoted from elsewhere, the denominators they are divided by, the
//! landscapes they are ranked in. [`catalogue::run`] and [`pack::evaluate`] judge; [`quoted::read`] is
//! where outside results come in; [`landscape::Collection`] makes their tables; [`audit::audit`]
//! recomputes what a text claims.

pub mod audit;
pub mod catalogue;
pub mod denominator;
pub mod landscape;
pub mod pack;
pub mod quantity;
pub mod quoted;

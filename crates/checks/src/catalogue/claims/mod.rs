//! Checks F46 to F60: claims and publication.

pub(crate) mod absolutes_shown;
pub(crate) mod denominator_defined;
pub(crate) mod derived_marked;
pub(crate) mod kinds_not_mixed;
pub(crate) mod power_measured;
pub(crate) mod price_basis;
pub(crate) mod ranking_flips;
pub(crate) mod repeatable;
pub(crate) mod required_disclosure;
pub(crate) mod same_metric;
pub(crate) mod selective_report;
pub(crate) mod source_and_date;
pub(crate) mod wording_exact;

//! Names that most readers use.

pub(super) use crate::readers::file::error::Flaw;
pub(super) use crate::readers::file::json::{self, Json};
pub(super) use crate::readers::file::lines::{head_has, is_missing, lines, number, quantity};
pub(super) use crate::readers::file::unit;
pub(super) use crate::readers::result::figures::Figures;
pub(super) use crate::readers::result::series::ForeignSeries;
pub(super) use crate::readers::result::suite::SuiteReader;
pub(super) use crate::readers::result::{
    BENCHMARK, ForeignResult, ForeignTreatment, ForeignTrial, value,
};

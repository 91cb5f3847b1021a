//! Judges claims, a file for each kind, and the readings that their words allow.

pub(crate) mod alike;
pub(crate) mod average;
pub(crate) mod beside;
pub(crate) mod compare;
pub(crate) mod convert;
pub(crate) mod dated;
pub(crate) mod denominator;
pub(crate) mod derived;
pub(crate) mod difference;
pub(crate) mod instance;
pub(crate) mod measure;
pub(crate) mod naming;
pub(crate) mod nearby;
pub(crate) mod noted;
pub(crate) mod omitted;
pub(crate) mod rank;
pub(crate) mod reading;
pub(crate) mod restate;
pub(crate) mod share;
pub(crate) mod total;

//! Posts, whose numbers are computed from runs and quoted results, and sites: an archive and its
//! posts as static pages. Everything is built from the parts of `assay-report`.

pub mod post;
pub mod reproduce;
pub mod site;

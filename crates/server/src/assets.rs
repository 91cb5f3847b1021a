//! The style sheet and the script of the pages.

use assay_report::page;

/// The style sheet: that of published pages, and what only a server's pages have.
pub(crate) fn style() -> String {
    format!("{}{}", page::style(), include_str!("assets/server.css"))
}

/// The script of published pages: read-outs and keys on charts.
pub(crate) const CHARTS: &str = page::SCRIPT;

/// The script of a server's pages: signing in, and what moves.
pub(crate) const SERVER: &str = include_str!("assets/server.js");

//! Why memory with the pages that are asked for cannot be had.

use std::io;

use assay_model::units::format_bytes;

use super::params::Pages;
use crate::Failure;

/// The memory cannot be had.
pub fn map(bytes: u64, pages: Pages, source: &io::Error) -> Failure {
    let remedy = match pages {
        Pages::Explicit(size) => format!(
            "; the pool needs {} free pages: `controls.pages = \"{}*N\"`",
            bytes.div_ceil(size),
            format_bytes(size).replace(' ', "")
        ),
        _ => String::new(),
    };
    let bytes = format_bytes(bytes);
    Failure::other(format!(
        "{bytes} of memory with {} cannot be mapped: {source}{remedy}",
        pages.name()
    ))
}

/// The kernel does not take the advice.
pub fn advise(pages: Pages, source: &io::Error) -> Failure {
    Failure::other(format!(
        "madvise for {}: {source}; this kernel may have no transparent huge pages",
        pages.name()
    ))
}

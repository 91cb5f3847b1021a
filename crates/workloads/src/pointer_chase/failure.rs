//! Why a walk could not be made.

use std::io;

use assay_model::units::format_bytes;

use super::params::Pages;

/// Why a walk could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// What was handed over is no order.
    #[error("the order of the trial cannot be read: {0}")]
    Order(serde_json::Error),
    /// The memory cannot be had.
    #[error("{bytes} of memory with {pages} cannot be mapped: {source}{remedy}")]
    Map {
        /// How much.
        bytes: String,
        /// Which pages.
        pages: &'static str,
        /// What the kernel said.
        source: io::Error,
        /// What would help.
        remedy: String,
    },
    /// The kernel does not take the advice.
    #[error("madvise for {pages}: {source}; this kernel may have no transparent huge pages")]
    Advise {
        /// Which pages.
        pages: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl Failure {
    pub(super) fn map(bytes: u64, pages: Pages, source: io::Error) -> Self {
        let remedy = match pages {
            Pages::Explicit(size) => format!(
                "; the pool needs {} free pages: `controls.pages = \"{}*N\"`",
                bytes.div_ceil(size),
                format_bytes(size).replace(' ', "")
            ),
            _ => String::new(),
        };
        Failure::Map { bytes: format_bytes(bytes), pages: pages.name(), source, remedy }
    }

    pub(super) fn advise(pages: Pages, source: io::Error) -> Self {
        Failure::Advise { pages: pages.name(), source }
    }
}

//! Arguments of `assay kit`.

use std::path::PathBuf;

use clap::Subcommand;

/// `assay kit`.
#[derive(Debug, Subcommand)]
pub enum Kit {
    /// List the kits and their folders.
    List,
    /// Check a kit's `kit.toml`.
    Check {
        /// The folder of the kit.
        dir: PathBuf,
    },
}

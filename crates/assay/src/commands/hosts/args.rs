//! Arguments of `assay hosts`.

use clap::Args;

/// `assay hosts`.
#[derive(Debug, Args)]
pub struct Hosts {
    /// The run: an id, a part of an id that fits only one run, or `last`.
    #[arg(default_value = "last", value_name = "RUN")]
    pub run: String,
}

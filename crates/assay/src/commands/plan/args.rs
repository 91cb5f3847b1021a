//! Arguments of `assay plan`.

use clap::Args;

use crate::arguments::ExperimentArgs;

/// `assay plan`.
#[derive(Debug, Args)]
pub struct Plan {
    /// The experiment and its layout.
    #[command(flatten)]
    pub what: ExperimentArgs,
}

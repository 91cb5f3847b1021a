//! Arguments of `assay explain`.

use clap::Args;

/// `assay explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The run: an id, a part of an id that fits only one run, or `last`.
    #[arg(default_value = "last", value_name = "RUN")]
    pub run: String,
    /// The treatment to compare with the baseline: a part of its label [default: the only one].
    #[arg(long, value_name = "LABEL")]
    pub treatment: Option<String>,
}

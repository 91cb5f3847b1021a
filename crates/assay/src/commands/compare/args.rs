//! Arguments of `assay compare`.

use std::path::PathBuf;

use clap::Args;

/// `assay compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// Runs: an id, a part of an id that fits only one run, or `last`. Join runs that repeat each
    /// other with commas, to make them one side; with three or more on each side, the means of the
    /// runs are compared.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<String>,
    /// The metric to compare [default: the one that decided in the first run].
    #[arg(long)]
    pub metric: Option<String>,
    /// Treat differences up to this size as equal, such as `2 %`.
    #[arg(long, value_name = "PERCENT", allow_hyphen_values = true)]
    pub margin: Option<String>,
    /// A system fact or parameter that is meant to differ between the runs, such as
    /// `kernel.release` or `cpu.model`. May be given several times.
    #[arg(long, value_name = "PATH")]
    pub factor: Vec<String>,
    /// Accept the soft differences at a path and below it, with a reason, which is printed. May be
    /// given several times.
    #[arg(long, value_name = "PATH=REASON")]
    pub accept: Vec<String>,
    /// A treatment that all runs have and that did not change: compare relative to it, which
    /// cancels the drift between the runs.
    #[arg(long, value_name = "LABEL")]
    pub reference: Option<String>,
    /// Also write a page: one self-contained HTML file, with the runs over time and their block I/O
    /// side by side.
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
}

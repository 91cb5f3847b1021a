//! Arguments of `assay reproduce`.

use std::path::PathBuf;

use clap::Args;

/// `assay reproduce`.
#[derive(Debug, Args)]
pub struct Reproduce {
    /// A post's template, or a folder of them.
    #[arg(value_name = "POST.md|DIR")]
    pub what: PathBuf,
    /// Stop after this much time, such as `2h`; the same command continues with the rest.
    #[arg(long, value_name = "TIME")]
    pub budget: Option<String>,
    /// Publish each post into a folder of its own below this one, with the table of claims.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Show what would run, in which order and for how long; run nothing.
    #[arg(long)]
    pub plan: bool,
    /// A folder of quoted results, in addition to the built-in ones; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Wait until no other run measures on this machine.
    #[arg(long, alias = "wait-turn")]
    pub wait_for_lock: bool,
}

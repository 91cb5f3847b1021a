//! Arguments of `assay doctor`.

use clap::Args;

use crate::arguments::PlaceArgs;

/// `assay doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Measure the difference between identical treatments here (the A/A floor). Takes about a
    /// minute.
    #[arg(long)]
    pub aa: bool,
    /// Number of comparisons of identical treatments that `--aa` makes.
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub comparisons: u32,
    /// Restore the settings that a crash left changed.
    #[arg(long)]
    pub restore: bool,
    /// Also list every finding, monitor, tracer and control, with the reason if one does not work.
    #[arg(short, long)]
    pub verbose: bool,
    /// Examine a cluster (`--on slurm`), with a job of a few seconds, or hosts (`--host`) instead.
    #[command(flatten)]
    pub place: PlaceArgs,
}

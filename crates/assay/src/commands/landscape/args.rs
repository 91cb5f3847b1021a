//! Arguments of `assay landscape`.

use std::path::PathBuf;

use clap::Args;

/// `assay landscape`.
#[derive(Debug, Args)]
pub struct Landscape {
    /// The landscape to show [default: list them].
    pub name: Option<String>,
    /// Show only results that were current on this day, such as 2009-08-27.
    #[arg(long, value_name = "DATE", requires = "name")]
    pub as_of: Option<String>,
    /// Add a column of the values per chip, core, thread, instance, core-ghz, watt, rack-unit or
    /// price; the first one orders the table. May be given several times.
    #[arg(long, value_name = "DENOMINATOR", requires = "name")]
    pub per: Vec<assay_quoted::denominator::Denominator>,
    /// Show every system under every recorded denominator, with ranks, and where the order
    /// reverses.
    #[arg(long, requires = "name")]
    pub matrix: bool,
    /// Add a measured run to the quoted results. May be given several times.
    #[arg(long = "with", value_name = "RUN", requires = "name")]
    pub with_runs: Vec<String>,
    /// Another folder of results: `*.csv`, and optionally `landscapes.toml` and `sources.csv`. May
    /// be given several times.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Show only this metric.
    #[arg(long, requires = "name")]
    pub metric: Option<String>,
    /// Show at most N lines, 0 for all [default: 40 in a terminal's table, else all].
    #[arg(long, value_name = "N", requires = "name")]
    pub top: Option<usize>,
    /// Print CSV; with --matrix, print the matrix.
    #[arg(long, requires = "name", conflicts_with_all = ["json", "markdown"])]
    pub csv: bool,
    /// Print the table as Markdown.
    #[arg(long, requires = "name", conflicts_with = "json")]
    pub markdown: bool,
    /// Write a page: one self-contained HTML file, with the matrix.
    #[arg(short, long, value_name = "FILE.html", requires = "name")]
    pub output: Option<PathBuf>,
}

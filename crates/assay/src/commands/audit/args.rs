//! Arguments of `assay audit`.

use std::path::PathBuf;

use clap::Args;

/// `assay audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// The text: Markdown (`.md`), HTML (`.html`), CSV, or plain text; `-` is standard input.
    pub text: PathBuf,
    /// The claims file: judge each claim that it binds. Without this option, list the tables and
    /// comparisons of the text, and judge nothing.
    #[arg(long, value_name = "FILE.toml")]
    pub claims: Option<PathBuf>,
    /// Write a claims file with every comparison of the text, for you to fill in; `-` prints it.
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["claims", "json"])]
    pub draft: Option<PathBuf>,
    /// Replace the file of `--draft` if it exists.
    #[arg(long, requires = "draft")]
    pub force: bool,
    /// A file of quoted results (CSV) that expressions may name, in addition to the built-in ones.
    /// May be given several times.
    #[arg(long, requires = "claims", value_name = "CSV")]
    pub results: Vec<PathBuf>,
    /// A folder of results, as for `assay landscape`. May be given several times.
    #[arg(long, requires = "claims", value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Also list the comparisons that are not checked, and the rows of columns that hold.
    #[arg(short, long)]
    pub verbose: bool,
}

//! Arguments of `assay publish`.

use std::path::PathBuf;

use clap::Args;

/// `assay publish`.
#[derive(Debug, Args)]
pub struct Publish {
    /// The run (an id, a part of an id that fits only one run, or `last`), or a post's template: a
    /// file that ends in `.md`.
    #[arg(default_value = "last", value_name = "RUN|POST.md")]
    pub what: String,
    /// Publish histories instead: all histories of the archive, or those of the named experiment.
    #[arg(long)]
    pub history: bool,
    /// The folder to write to [default: a folder with the name of the run].
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Show which files would be published and which values replaced; write nothing.
    #[arg(long, conflicts_with_all = ["output", "no_redact"])]
    pub preview: bool,
    /// Replace secrets, names of machines and people, home folders and network shares. This is the
    /// default.
    #[arg(long, conflicts_with = "no_redact")]
    pub redact: bool,
    /// Publish the run as it was recorded, with names of machines and people.
    #[arg(long)]
    pub no_redact: bool,
    /// Replace an earlier publication in that folder.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// For a post: a folder of quoted results, in addition to the built-in ones; may be repeated.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// For a post: publish it without the numbers that a check calls invalid, instead of refusing
    /// it.
    #[arg(long)]
    pub withhold: bool,
}

impl Publish {
    /// Returns the folder to write to.
    ///
    /// # Errors
    /// The `-o` option is missing.
    pub fn folder(&self) -> anyhow::Result<&PathBuf> {
        let missing = || crate::exit::Usage("give the folder to write to with -o DIR".to_owned());
        Ok(self.output.as_ref().ok_or_else(missing)?)
    }
}

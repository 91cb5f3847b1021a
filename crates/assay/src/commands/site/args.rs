//! Arguments of `assay site`.

use std::path::PathBuf;

use clap::Args;

/// `assay site`.
#[derive(Debug, Args)]
pub struct Site {
    /// The folder to write to: a new or empty folder, or an existing site to update.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// The folder of posts, one `.md` file each [default: no posts].
    #[arg(long, value_name = "DIR")]
    pub posts: Option<PathBuf>,
    /// The title of the site.
    #[arg(long, default_value = "Performance notes", value_name = "TEXT")]
    pub title: String,
    /// The address that the site will be served from; without it the site has no sitemap and no
    /// JSON feed.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Another folder of results for landscapes and posts, as for `assay landscape`. May be given
    /// several times.
    #[arg(long, value_name = "DIR")]
    pub published: Vec<PathBuf>,
    /// Publish runs as they were recorded, with the names of machines and people.
    #[arg(long)]
    pub no_redact: bool,
    /// Write into a folder that also holds other files; they are kept unless a page has the same
    /// name.
    #[arg(long)]
    pub force: bool,
}

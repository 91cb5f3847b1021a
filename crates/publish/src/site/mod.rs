//! A static site of an archive: everything around the pages of runs, posts, landscapes and
//! histories. A [`Site`] puts a page into its frame (navigation, description, permanent address).
//! [`lists`] makes the pages that list many things from [`cards`], [`pages`] those of one thing,
//! [`feed`] the feeds and the sitemap, and [`search`] a page that searches without a server. All
//! functions return text; `assay site` reads and writes the files.

pub mod cards;
pub mod feed;
mod frame;
pub mod lists;
pub mod pages;
pub mod search;
mod slug;

pub use cards::{HistoryCard, LandscapeCard, PostCard, RunCard};
pub use frame::{PageDescription, Site, SitePage, SiteSection};
pub use slug::slug;

//! A static site of an archive: what stands around the pages of runs, posts, landscapes and histories. A
//! [`Site`] puts a page between its edges (navigation, description, permanent address), [`lists`] makes the
//! pages of many things from [`cards`], [`pages`] those of one, [`feed`] the feeds and the sitemap, [`search`] the page that finds
//! things without a server. All of it is text in, text out: `assay site` reads and writes.

pub mod cards;
pub mod feed;
mod frame;
pub mod lists;
pub mod pages;
pub mod search;
mod slug;

pub use cards::{HistoryCard, LandscapeCard, PostCard, RunCard};
pub use frame::{About, Page, Section, Site};
pub use slug::slug;

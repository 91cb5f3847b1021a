//! A profile in a terminal: what was sampled, what threads did, the functions.

use assay_profile::Profile;

use super::Style;
use crate::document::terminal;
use crate::parts::profile as parts;
pub use crate::parts::profile::Threads;

/// The profile with so many functions of each side.
pub fn profile(profile: &Profile, most: usize, threads: Threads, style: Style) -> String {
    terminal::parts(&parts::whole(profile, most, threads), style)
}

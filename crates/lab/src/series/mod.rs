//! Histories in an archive: what they are of, their points out of the runs, what is known of their changes.

mod define;
mod keep;
mod read;
mod show;

pub use define::{Defined, confirmation, define, id_of, point};
pub use keep::{Kept, histories, imported, imported_path};
pub use read::read;
pub use show::{Cleaner, show};

/// Blocks of a point by default.
pub const POINT_BLOCKS: u32 = 6;
/// What the tag of every run of a history starts with; its id follows.
const PREFIX: &str = "history-";
/// What the tag of a run that confirms a change ends with.
const CONFIRMS: &str = "-confirm";

/// What the tag of a run that profiles both sides of a change ends with.
const PROFILES: &str = "-profile";

/// The tag of the runs of a history.
pub fn tag(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// The tag of the runs that confirm its changes.
pub fn confirm_tag(id: &str) -> String {
    format!("{PREFIX}{id}{CONFIRMS}")
}

/// The tag of the runs that profile both sides of its changes: they have no points.
pub fn profile_tag(id: &str) -> String {
    format!("{PREFIX}{id}{PROFILES}")
}

//! Histories in an archive: what they are of, their points out of the runs, what is known of their changes.

mod define;
mod functions;
mod keep;
mod read;
mod show;

pub use define::{Defined, confirmation, define, id_of, point};
pub use functions::{PROFILED_BLOCKS, PROFILES_BY, functions, profiling, sides, unexplained};
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

/// What a run of a history is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum For {
    /// A point.
    Point,
    /// To confirm a change.
    Confirmation,
    /// To profile both sides of one.
    Functions,
}

/// The history that a run with this tag is of, and what the run is for; `None`: it is another tag.
pub fn of_tag(tag: &str) -> Option<(&str, For)> {
    let rest = tag.strip_prefix(PREFIX)?;
    let (id, what) = match (rest.strip_suffix(CONFIRMS), rest.strip_suffix(PROFILES)) {
        (Some(id), _) => (id, For::Confirmation),
        (_, Some(id)) => (id, For::Functions),
        _ => (rest, For::Point),
    };
    keep::is_id(id).then_some((id, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_what_a_run_is_for() {
        let id = "0123456789ab";
        assert_eq!(of_tag(&tag(id)), Some((id, For::Point)));
        assert_eq!(of_tag(&confirm_tag(id)), Some((id, For::Confirmation)));
        assert_eq!(of_tag(&profile_tag(id)), Some((id, For::Functions)));
        for other in ["history-", "history-0123", "history-0123456789ab-other", "nightly"] {
            assert_eq!(of_tag(other), None, "{other}");
        }
    }
}

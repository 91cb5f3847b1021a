//! Histories in an archive: their definitions, their points from the runs, and the stored findings
//! about their changes.

mod define;
mod functions;
mod hook;
mod keep;
mod read;
mod show;
mod suite;

pub use define::{DefinedHistory, confirmation, define, id_of, point};
pub use functions::{PROFILED_BLOCKS, PROFILES_BY, functions, profiling, sides, unexplained};
pub use hook::{ConfirmedChange, call_hooks};
pub use keep::{StoredFindings, histories, imported, imported_path};
pub use read::read;
pub use show::{Cleaner, show};
pub use suite::narrow;

/// Default number of blocks of a point.
pub const POINT_BLOCKS: u32 = 6;
/// Number of blocks that confirm changes of a suite, as far as the budget has time.
pub const SUITE_BLOCKS: u32 = 60;
/// Prefix of the tag of every run of a history; the id follows.
const PREFIX: &str = "history-";
/// Suffix of the tag of a run that confirms a change.
const CONFIRMS: &str = "-confirm";
/// Suffix of the tag of a run that profiles both sides of a change.
const PROFILES: &str = "-profile";

/// Returns the tag of the runs that measure a history's points.
pub fn tag(id: &str) -> String {
    format!("{PREFIX}{id}")
}

/// Returns the tag of the runs that confirm a history's changes.
pub fn confirm_tag(id: &str) -> String {
    format!("{PREFIX}{id}{CONFIRMS}")
}

/// Returns the tag of the runs that profile both sides of a history's changes. These runs have no
/// points.
pub fn profile_tag(id: &str) -> String {
    format!("{PREFIX}{id}{PROFILES}")
}

/// Purpose of a run of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPurpose {
    /// Measures a point of the history.
    Point,
    /// Confirms a change with fresh trials.
    Confirmation,
    /// Profiles both sides of a change.
    Functions,
}

/// Returns the id of the history and the purpose of a run with this tag; `None` for another tag.
pub fn of_tag(tag: &str) -> Option<(&str, RunPurpose)> {
    let rest = tag.strip_prefix(PREFIX)?;
    let (id, what) = match (rest.strip_suffix(CONFIRMS), rest.strip_suffix(PROFILES)) {
        (Some(id), _) => (id, RunPurpose::Confirmation),
        (_, Some(id)) => (id, RunPurpose::Functions),
        _ => (rest, RunPurpose::Point),
    };
    keep::is_id(id).then_some((id, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_what_a_run_is_for() {
        let id = "0123456789ab";
        assert_eq!(of_tag(&tag(id)), Some((id, RunPurpose::Point)));
        assert_eq!(of_tag(&confirm_tag(id)), Some((id, RunPurpose::Confirmation)));
        assert_eq!(of_tag(&profile_tag(id)), Some((id, RunPurpose::Functions)));
        for other in ["history-", "history-0123", "history-0123456789ab-other", "nightly"] {
            assert_eq!(of_tag(other), None, "{other}");
        }
    }
}

//! Progress of a run: events and their watchers.

pub(super) mod events;
pub(crate) mod live_profile;
pub(super) mod watcher;

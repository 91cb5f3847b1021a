//! Progress of a run: events and their watchers.

pub(super) mod events;
pub(super) mod watcher;

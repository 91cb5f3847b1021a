//! HTTP layer: connections, tokens, sessions, rate limits, and extractors of requests.

pub(super) mod connections;
pub(super) mod extract;
pub(super) mod heavy;
pub(super) mod net;
pub(super) mod rate;
pub(super) mod sessions;
pub(super) mod sse;
pub(super) mod token;

//! HTTP layer: connections, authentication, rate limits, request extractors and the OpenAPI
//! document.

pub(super) mod connections;
pub(super) mod extract;
pub(super) mod guard;
pub(super) mod heavy;
pub(super) mod net;
pub(super) mod openapi;
pub(super) mod rate;
pub(super) mod sessions;
pub(super) mod sse;
pub(super) mod token;

//! The web UI, its API and the run queue: `assay serve`, and the client that `assay submit`, `pending`,
//! `wait` and `cancel` talk through. tokio and axum are used here and nowhere else.
//!
//! [`serve`] is the front door. The queue is a folder of plain files in assay's state
//! folder; each run is a process of its own (`assay run --events`), so that a crash of one does not
//! take the other, and a server that comes back follows a run that went on without it.

mod api;
mod app;
mod archive;
mod assets;
mod client;
mod config;
mod error;
mod http;
mod live;
mod pages;
mod queue;
mod serve;
mod submit;

pub use client::{Client, ClientError};
pub use config::{Config, LoadRun};
pub use error::ServeError;
pub use http::token::Keys;
pub use queue::job::{Job, JobState};
pub use serve::serve;

/// Locks a mutex, also after a thread that held it panicked.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

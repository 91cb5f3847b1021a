//! The web UI, its API and the run queue: `assay serve`, and the client that `assay submit`, `pending`,
//! `wait` and `cancel` talk through. tokio and axum are used here and nowhere else.
//!
//! [`serve`] is the front door. The queue is a folder of plain files in assay's state
//! folder; each run is a process of its own (`assay run --events`), so that a crash of one does not
//! take the other, and a server that comes back follows a run that went on without it.

mod api;
mod app;
mod archived;
mod asked;
mod assets;
mod change;
mod child;
mod client;
mod config;
mod connections;
mod dispatch;
mod draft;
mod error;
mod extract;
mod filled;
mod folders;
mod follow;
mod guard;
mod heavy;
mod job;
mod live;
mod net;
mod observe;
mod observe_io;
mod openapi;
mod pages;
mod points;
mod queue;
mod rate;
mod searches;
mod serve;
mod sessions;
mod sse;
mod submission;
mod token;

pub use client::{Client, ClientError};
pub use config::{Config, LoadRun};
pub use error::ServeError;
pub use job::{Job, JobState};
pub use serve::serve;
pub use token::Keys;

/// Locks a mutex, also after a thread that held it panicked.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

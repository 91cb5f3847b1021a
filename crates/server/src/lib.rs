//! Web UI, JSON API and run queue of `assay serve`, and the client that `assay submit`, `pending`,
//! `wait` and `cancel` use. People submit experiments in a browser or from a shell; the server runs
//! them one at a time, shows the run in progress live, and lets people browse and compare the runs
//! of the archive. Only this crate uses tokio and axum.
//!
//! [`serve`] is the entry point. The queue is a folder of plain files in assay's state folder. Each
//! run is a separate process (`assay run --events`): if the run or the server crashes, the other
//! continues, and a restarted server follows a run that is still in progress.

mod api;
mod app;
mod client;
mod config;
mod dispatch;
mod error;
mod guard;
mod http;
mod live;
mod pages;
mod queue;
mod searches;
mod serve;
mod submit;

pub use client::{Client, ClientError};
pub use config::{Config, LoadRun, MAX_RESPONSE_TIME};
pub use error::ServeError;
pub use http::token::Keys;
pub use queue::job::{Job, JobState};
pub use serve::serve;

/// Locks a mutex, even if a thread panicked while holding it.
fn locked<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

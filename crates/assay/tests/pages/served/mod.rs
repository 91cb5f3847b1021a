//! The server and its pages: its API, its queue, who is let in, and what a real browser makes of it.

mod a_run_goes_on;
mod accessible;
mod api;
mod archive;
mod browser;
mod disk;
mod guard;
mod histories;
mod submit;

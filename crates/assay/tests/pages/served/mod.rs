//! The server and its pages: its API, its queue, its access control, and its pages in a real
//! browser.

mod a_run_goes_on;
mod accessible;
mod api;
mod archive;
mod browser;
mod disk;
mod guard;
mod histories;
mod landscapes;
mod submit;

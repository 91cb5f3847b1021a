//! Tables of `assay stat`: the newest samples of several monitors, one line per interval. Nothing
//! is printed here; a [`Renderer`] turns a [`Frame`] into text.

mod column;
mod disks;
mod frame;
pub(crate) mod number;
mod renderer;
#[cfg(test)]
mod tests;

pub use disks::{DiskTableLayout, Disks, Naming};
pub use frame::Frame;
pub use renderer::{Renderer, View};

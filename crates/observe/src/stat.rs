//! `assay stat`: the newest samples of several monitors as a table, one line an interval. Nothing
//! is printed here; a [`Renderer`] makes text of a [`Frame`].

mod column;
mod disks;
mod frame;
pub(crate) mod number;
mod renderer;
#[cfg(test)]
mod tests;

pub use disks::{Disks, Naming, Shape};
pub use frame::Frame;
pub use renderer::{Renderer, View};

//! Axes, scales, labels and frames that charts share.

pub(super) mod axis;
pub(super) mod frame;
pub(super) mod labels;
pub(super) mod legend;
pub(super) mod mark;
pub(super) mod reach;
pub mod reduce;
pub(super) mod scale;
pub mod text;
pub(super) mod ticks;
pub(super) mod timeline;

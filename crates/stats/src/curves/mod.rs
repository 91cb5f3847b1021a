//! Curves and trends: fits, roughness, segments, warm-up.

pub mod curve;
pub mod roughness;
pub mod scaling;
pub mod segment;
pub mod usl;
pub mod warmup;

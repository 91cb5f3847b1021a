//! Readers of the output of benchmark tools.

pub mod speccpu;

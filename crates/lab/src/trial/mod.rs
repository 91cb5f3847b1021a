//! One trial on one machine: prepare, start, observe, collect, validate.

pub(super) mod artifacts;
pub(super) mod cpus;
pub(super) mod event_reader;
pub(super) mod execution;
pub(super) mod inputs;
pub(super) mod machine;
pub(super) mod observations;
pub(super) mod per_operation;
pub(super) mod power;
pub(super) mod window;
pub(super) mod working_folder;

//! Tests that load, configure or trace this machine: servers, clusters, devices, kernels.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // tests panic, and print why they are skipped

mod block_size;
mod bulkload;
mod cae;
mod cases;
#[path = "../common/mod.rs"]
mod common;
mod container;
mod device_names;
mod devices;
mod doubts;
mod experiments;
mod faults;
mod groups;
mod io_live;
mod kill;
mod memcached;
mod numa;
mod profile;
mod redis;
mod runqueue;
mod slurm;
mod ssh;
mod stages;
mod startup;
mod syscalls;
mod tools;
mod tracing_copy;
mod virtual_machine;

//! Readers of the formats, one file each.

pub(super) mod asv;
pub(super) mod bencher;
pub(super) mod conbench;
pub(super) mod csv;
pub(super) mod fio;
pub(super) mod git_perf;
pub(super) mod github_action;
pub(super) mod google;
pub(super) mod hyperfine;
pub(super) mod jmh;
pub(super) mod mcperf;
pub(super) mod memtier;
pub(super) mod profile;
pub(super) mod spec;

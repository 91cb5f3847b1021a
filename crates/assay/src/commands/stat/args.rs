//! Arguments of `assay stat`.

use std::ffi::OsString;
use std::path::PathBuf;

use assay_observe::stat::{DiskTableLayout, Naming};
use clap::Args;

use crate::arguments::{Choice, choice};

/// `assay stat`.
#[derive(Debug, Args)]
pub struct Stat {
    /// Seconds between lines, or a duration such as `500 ms`.
    #[arg(short, long, default_value = "1 s", value_name = "DURATION")]
    pub interval: String,
    /// Stop after this many lines [default: when interrupted, or when the command ends].
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Stop after this many seconds, instead of after a number of lines.
    #[arg(short, long, value_name = "N", conflicts_with = "count")]
    pub seconds: Option<f64>,
    /// Show every disk, with the columns of iostat.
    #[arg(short = 'x', long)]
    pub disk: bool,
    /// Show every CPU; with --disk, print a line about all CPUs before the disks.
    #[arg(short, long)]
    pub cpu: bool,
    /// Show the time of each process: user, kernel, or waiting for CPU, disk or memory; with its
    /// context switches, faults, memory and I/O, the busiest first.
    #[arg(long, conflicts_with_all = ["disk", "cpu"])]
    pub tasks: bool,
    /// Show threads instead of processes.
    #[arg(long, requires = "tasks")]
    pub threads: bool,
    /// List at most this many tasks.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "tasks")]
    pub busiest: usize,
    /// Show only these processes and their descendants.
    #[arg(long, value_name = "PID", requires = "tasks", conflicts_with_all = ["cgroup", "command"])]
    pub pid: Vec<u32>,
    /// Show only the processes of this control group and of the groups below it.
    #[arg(long, value_name = "PATH", requires = "tasks", conflicts_with = "command")]
    pub cgroup: Option<PathBuf>,
    /// Omit the idle disks.
    #[arg(short = 'z', long, requires = "disk")]
    pub skip_idle: bool,
    /// The iostat columns to print [default: all columns of Linux's iostat if the terminal is wide
    /// enough, else the short form].
    #[arg(long, requires = "disk", value_name = "SHAPE", value_parser = choice(SHAPES))]
    pub shape: Option<DiskTableLayout>,
    /// The kind of names to show for disks.
    #[arg(long, default_value = "mapped", value_name = "HOW", value_parser = choice(NAMES))]
    pub names: Naming,
    /// Run this command and print samples while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

const SHAPES: [Choice<DiskTableLayout>; 3] = [
    ("linux", "All of `iostat -x` of Linux", DiskTableLayout::Linux),
    ("short", "Columns of `iostat -xs` of Linux, 80 characters", DiskTableLayout::Short),
    ("solaris", "Columns of `iostat -xn` of Solaris", DiskTableLayout::Solaris),
];

const NAMES: [Choice<Naming>; 3] = [
    ("kernel", "As the kernel: `dm-0`", Naming::Kernel),
    ("mapped", "As LVM or another mapper, where there is one: `vg0-data`", Naming::Mapped),
    ("mount", "By mount point, where there is one: `/srv`", Naming::Mount),
];

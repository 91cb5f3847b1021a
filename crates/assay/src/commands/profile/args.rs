//! Arguments of `assay profile`.

use std::path::PathBuf;

use assay_observe::profile::Unwind;
use clap::Args;

use crate::arguments::{Choice, Targets, choice};

/// `assay profile`.
#[derive(Debug, Args)]
pub struct Profile {
    #[command(flatten)]
    pub of: Targets,
    /// Show a recorded profile (`-`: standard input): perf script's text, folded stacks,
    /// async-profiler's collapsed form, pprof, callgrind's files, or assay's own JSON. The format
    /// is detected from the content.
    #[arg(long, value_name = "FILE",
        conflicts_with_all = ["pid", "cgroup", "all", "seconds", "command"])]
    pub from: Option<PathBuf>,
    /// Samples per second and CPU.
    #[arg(long, value_name = "HZ", default_value_t = 99.0, conflicts_with = "from")]
    pub rate: f64,
    /// Sample time on CPU only, not waiting: cheaper if threads switch very often.
    #[arg(long, conflicts_with = "from")]
    pub on_cpu: bool,
    /// Method to unwind stacks. `auto` copies a stack, to be unwound by DWARF, if its frame
    /// pointers do not lead to its beginning; `fp` never does, and `dwarf` always. Stacks of waits
    /// have frame pointers only.
    #[arg(long, default_value = "auto", value_name = "HOW", conflicts_with = "from",
        value_parser = choice(UNWIND))]
    pub unwind: Unwind,
    /// Maximum number of different stacks to keep; the rest are only counted.
    #[arg(long, value_name = "N", default_value_t = assay_observe::profile::ROOM,
        conflicts_with = "from",
          value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    pub room: u32,
    /// List at most this many functions.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// List the functions of each thread separately.
    #[arg(long)]
    pub threads: bool,
    /// Also write a file: .html (a page with flame graphs), .folded and .offcpu.folded, .pb.gz
    /// (pprof), .speedscope.json, .firefox.json, or .json (assay's own). May be given several
    /// times.
    #[arg(short, long, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

const UNWIND: [Choice<Unwind>; 3] = [
    ("auto", "By frame pointers, else by DWARF", Unwind::Auto),
    ("fp", "By frame pointers", Unwind::FramePointers),
    ("dwarf", "By DWARF", Unwind::Dwarf),
];

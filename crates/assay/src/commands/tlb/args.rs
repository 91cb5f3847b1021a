//! Arguments of `assay tlb`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// `assay tlb`.
#[derive(Debug, Args)]
pub struct Tlb {
    /// Simulate instead of counting: run these address streams (`-`: standard input) through the
    /// TLBs and TSBs of a machine. Several streams are processes that share the CPU in time slices.
    #[arg(long, value_name = "TRACE", num_args = 1.., conflicts_with = "command")]
    pub simulate: Vec<PathBuf>,
    /// The machine to simulate: a built-in one (solaris-9, solaris-10, two-level-tsb, x86-64), or a
    /// TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "x86-64", requires = "simulate")]
    pub machine: String,
    /// Back data with pages of this size; --instruction-page sets the size for instructions.
    #[arg(long, value_name = "SIZE", requires = "simulate")]
    pub page: Option<String>,
    /// Back instructions with pages of this size.
    #[arg(long, value_name = "SIZE", requires = "simulate")]
    pub instruction_page: Option<String>,
    /// Print a line every N accesses.
    #[arg(long, value_name = "N", requires = "simulate")]
    pub every: Option<u64>,
    /// The length of a time slice, in accesses.
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "simulate")]
    pub slice: u64,
    /// Also write the stream to a file in assay's own format, which is read fastest.
    #[arg(long, value_name = "FILE", requires = "simulate")]
    pub record: Option<PathBuf>,
    /// Seconds between lines, or a duration such as `500 ms`.
    #[arg(short, long, default_value = "1 s", value_name = "DURATION")]
    pub interval: String,
    /// Run this command and count while it runs.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

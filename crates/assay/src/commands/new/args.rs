//! Arguments of `assay new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `assay new`.
#[derive(Debug, Args)]
pub struct New {
    /// The kind of file to write.
    pub kind: NewKind,
    /// The file of an experiment, or the folder of the others. Its name becomes the name.
    pub path: PathBuf,
}

/// Kinds of first files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NewKind {
    /// An experiment file: a program, what varies, and how often it runs.
    Experiment,
    /// A kit: a program with its build, inputs, checks and metrics.
    Kit,
    /// A kit that reads the numbers that a tool prints.
    Reader,
    /// A kit whose program reports its own phases and metrics.
    Workload,
}

//! Readers of a system's files, below `/` or below a folder with the same layout.

pub mod clock;
pub(crate) mod command_output;
pub(crate) mod cpu_times;
pub(crate) mod digest;
pub(crate) mod limits;
pub mod mounts;
pub mod numa;
pub(crate) mod program;
pub(crate) mod root;
pub(crate) mod source_tree;
pub(crate) mod sysctl_name;
pub(crate) mod which;

//! The files of a system, read: below `/`, or a folder that looks like it.

pub mod clock;
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

//! Arguments of `assay vm`.

use clap::Subcommand;

/// `assay vm`.
#[derive(Debug, Subcommand)]
pub enum Vm {
    /// List the built kernels, and the hypervisor and acceleration available here.
    List,
    /// Build a Debian root file system and kernels from Debian's packages; needs root, mmdebstrap
    /// and a mirror.
    Build {
        /// A kernel: 5.10, 6.1, 6.12 or a newer series of Debian's backports; or the path to a
        /// vmlinuz, whose modules are in $MODULES.
        #[arg(required = true, value_name = "KERNEL")]
        kernels: Vec<String>,
    },
}

//! Imitation of older kernels, so that their code paths can be tested on a newer one.

/// Kernel features that the probes may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelFeatures {
    /// All features of the running kernel.
    #[default]
    Newest,
    /// As on Linux 6.1: requests are followed from where they are queued or issued.
    Queued,
    /// As on Linux 5.10: also without the instructions and functions that came later.
    Compat,
}

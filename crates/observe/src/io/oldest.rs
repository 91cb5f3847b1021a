//! As on which kernel a tracer asks: a newer one can be asked as an older one would be.

/// Which ways of telling the probes may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oldest {
    /// All that the kernel has.
    #[default]
    Newest,
    /// As on Linux 6.1: requests are followed from where they are queued or issued.
    Queued,
    /// As on Linux 5.10: also without the instructions and functions that came later.
    Compat,
}

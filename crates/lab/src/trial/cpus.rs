//! CPUs that assay is allowed to use.

/// Returns the CPUs of this process's affinity mask in rising order; `[0]` if the system does not
/// report it.
pub fn allowed() -> Vec<usize> {
    assay_system::current_cpus().unwrap_or_else(|_| vec![0])
}

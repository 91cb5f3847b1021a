//! CPUs that assay is allowed to use.

/// Returns the CPUs of this process's affinity mask in rising order; `[0]` if the system does not
/// report it.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return vec![0] };
    let cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    cpus.take(set.count() as usize).collect()
}

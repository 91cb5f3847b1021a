//! The CPUs that assay may use.

/// In rising order; `[0]` when the system will not say.
pub fn allowed() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return vec![0] };
    let cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu));
    cpus.take(set.count() as usize).collect()
}

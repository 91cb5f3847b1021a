//! Parameters of a treatment, and the working sets for the caches of the machine.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::Scalar;

use crate::WorkloadError;
use crate::builtin::memory::caches::Cache;
use crate::builtin::memory::kernels::{KERNELS, Kernel, UNIT};
use crate::builtin::pointer_chase::params::{BackingPages, MAX_BYTES, PAGES, list};
use crate::declare::{int, one_of, or_none, params, parsed, size, text, time, word, wrong};

/// Quantity that a trial measures.
#[derive(Debug, Clone, Copy)]
pub enum Test {
    Bandwidth,
    LoadedLatency,
    CoreToCore,
    PageFaults,
}

const TESTS: [(&str, Test); 4] = [
    ("bandwidth", Test::Bandwidth),
    ("loaded-latency", Test::LoadedLatency),
    ("core-to-core", Test::CoreToCore),
    ("page-faults", Test::PageFaults),
];
const INSTRUCTIONS: [&str; 6] = ["auto", "avx512", "avx2", "sse2", "neon", "scalar"];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone)]
    pub struct MemoryParams {
        /// `bandwidth` of kernels by working set; `loaded-latency`: latency of a load while other
        /// CPUs move memory; `core-to-core`: time for a cache line to go from one CPU to another,
        /// for every pair; `page-faults`: time of the first touch of a page.
        test: Test = one_of(&TESTS), "bandwidth";
        /// Kernels of `bandwidth`, separated by spaces: `copy`, `scale`, `add` and `triad` as in
        /// STREAM, `read`, `write`, `copy-nt` and `write-nt` with non-temporal stores, and `memcpy`
        /// of the C library. The first is the traffic of `loaded-latency`.
        kernels: Vec<Kernel> = parsed(kernels), "read write copy scale add triad write-nt";
        /// Bytes of one thread, all arrays of a kernel together: `sweep` from `min_size` to
        /// `max_size`, or one size, or several separated by commas. The other tests use the
        /// largest.
        working_set: String = text(), "sweep";
        /// Smallest working set of a sweep; 0: half of the first-level data cache.
        min_size: Option<u64> = or_none(size()), 0;
        /// Largest working set of a sweep; 0: four times the last cache, divided among the threads
        /// that share it.
        max_size: Option<u64> = or_none(size()), 0;
        /// Number of working sets for each doubling of the size in a sweep.
        per_octave: u32 = int(1, 16), 2;
        /// Number of threads, each bound to a CPU of the trial; 0: one for each of them. In
        /// `loaded-latency` one of them measures the latency.
        threads: Option<u32> = or_none(int(0, 4096)), 0;
        /// Pages for the memory, as in `pointer-chase`: `control` follows the control `pages`, and
        /// a trial whose memory did not get them is invalid.
        pages as "page_size": Option<BackingPages> = one_of(&PAGES), "control";
        /// Instructions of the kernels: `auto` takes the widest vectors of the processor; `scalar`
        /// moves one word at a time, and has no non-temporal stores.
        instructions: String = word(&INSTRUCTIONS), "auto";
        /// Minimum length of a repetition.
        min_time: Duration = time(), "5 ms";
        /// Number of repetitions of each measurement.
        rounds: u32 = int(1, 1000), 5;
    }
}

fn kernels(text: &str) -> Result<Vec<Kernel>, String> {
    let mut all = Vec::new();
    for name in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let Some(row) = KERNELS.iter().find(|row| row.0 == name) else {
            let known = KERNELS.map(|row| row.0).join(", ");
            return Err(format!("there is no kernel `{name}`; it takes {known}"));
        };
        if !all.contains(&row.1) {
            all.push(row.1);
        }
    }
    if all.is_empty() { Err("name at least one kernel".to_owned()) } else { Ok(all) }
}

impl MemoryParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = MemoryParams::read(map)?;
        if params.min_time.is_zero() {
            return Err(wrong("`min_time` must be longer than 0 s"));
        }
        let around = params.kernels.iter().find(|k| matches!(k, Kernel::CopyNt | Kernel::WriteNt));
        if let Some(kernel) = around.filter(|_| params.instructions == "scalar") {
            let name = kernel.name();
            return Err(wrong(format!("`{name}` has no `scalar` form; leave it out of `kernels`")));
        }
        params.sets(&[], &[]).map(|_| params)
    }

    /// Returns the working sets in bytes, in ascending order, for threads on `cpus` whose first CPU
    /// has `caches`. Without known caches a sweep goes from 16 KiB to 256 MiB.
    ///
    /// # Errors
    /// Fails if the list is empty or a size is invalid.
    pub fn sets(&self, caches: &[Cache], cpus: &[usize]) -> Result<Vec<u64>, WorkloadError> {
        let sets = if self.working_set == "sweep" {
            let sharers = |c: &Cache| c.cpus.iter().filter(|c| cpus.contains(c)).count().max(1);
            let share = caches.iter().map(|c| c.bytes / sharers(c) as u64).max();
            let half = caches.first().map_or(16 << 10, |c| c.bytes / 2);
            let (min, max) = (self.min_size.unwrap_or(half), share.map_or(256 << 20, |c| 4 * c));
            let max = self.max_size.unwrap_or(max);
            sweep(min, max, u64::from(self.per_octave))?
        } else {
            list(&self.working_set)?
        };
        // Three arrays have at least one round of vectors each.
        let (least, most) = (3 * UNIT as u64, MAX_BYTES);
        match sets.iter().find(|s| !(least..=most).contains(s)) {
            Some(s) => Err(wrong(format!("a working set of {s} B; it takes {least} B to 64 GiB"))),
            None => Ok(sets),
        }
    }
}

/// Returns the working sets from `min` to `max`: powers of two, and as many sizes between them that
/// each doubling has `per_octave`.
fn sweep(min: u64, max: u64, per_octave: u64) -> Result<Vec<u64>, WorkloadError> {
    if min > max || max > MAX_BYTES {
        return Err(wrong(format!(
            "no sweep goes from {min} B (`min_size`) to {max} B (`max_size`); the smaller comes \
             first, and the larger is at most 64 GiB"
        )));
    }
    let powers = (0..=MAX_BYTES.ilog2()).map(|n| 1u64 << n);
    let sizes = powers.flat_map(|p| (0..per_octave).map(move |i| p + p * i / per_octave));
    let mut sets: Vec<u64> = sizes.filter(|s| (min..max).contains(s)).chain([max]).collect();
    sets.dedup();
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::treatment;

    fn read(changes: &[(&str, Scalar)]) -> Result<MemoryParams, WorkloadError> {
        MemoryParams::from_map(&treatment(MemoryParams::rows(), changes))
    }

    #[test]
    fn a_sweep_covers_the_caches_of_the_machine() {
        let cache = |level, kib: u64, cpus: &[usize]| Cache {
            level,
            bytes: kib << 10,
            cpus: cpus.to_vec(),
        };
        let caches = [cache(1, 48, &[4]), cache(2, 1024, &[4]), cache(3, 32768, &[4, 5, 6, 7])];
        let kib = |params: &MemoryParams, caches: &[Cache], cpus: &[usize]| -> Vec<u64> {
            params.sets(caches, cpus).unwrap().into_iter().map(|s| s >> 10).collect()
        };
        let auto = read(&[]).unwrap();
        let one = kib(&auto, &caches, &[4]);
        assert_eq!((&one[..4], one.last()), (&[24, 32, 48, 64][..], Some(&(128 << 10))));
        // Two of the CPUs that share the last cache have half of it each.
        assert_eq!(kib(&auto, &caches, &[4, 5, 12]).last(), Some(&(64 << 10)));
        let hidden = kib(&auto, &[], &[4]);
        assert_eq!((hidden[0], hidden.last()), (16, Some(&(256 << 10))));
        let given = read(&[("min_size", "4 KiB".into()), ("max_size", "9 KiB".into())]).unwrap();
        assert_eq!(kib(&given, &caches, &[4]), [4, 6, 8, 9]);
    }

    #[test]
    fn impossible_treatments_are_refused() {
        for (changes, says) in [
            (vec![("kernels", Scalar::from("copy swim"))], "no kernel `swim`; it takes copy, "),
            (vec![("kernels", " ".into())], "at least one kernel"),
            (vec![("working_set", "512".into())], "it takes 768 B to 64 GiB"),
            (vec![("working_set", "1 TiB".into())], "it takes 768 B"),
            (
                vec![("min_size", "2 GiB".into()), ("max_size", "1 GiB".into())],
                "the smaller comes first",
            ),
            (vec![("max_size", "1 TiB".into())], "at most 64 GiB"),
            (vec![("min_time", "0".into())], "longer than 0 s"),
            (vec![("instructions", "scalar".into())], "`write-nt` has no `scalar` form"),
        ] {
            let error = read(&changes).unwrap_err().to_string();
            assert!(error.contains(says), "{changes:?}: {error}");
        }
        let kernels = read(&[("kernels", "triad, copy  triad".into())]).unwrap().kernels;
        assert_eq!(kernels, [Kernel::Triad, Kernel::Copy]);
    }
}

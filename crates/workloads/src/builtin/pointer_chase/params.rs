//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::Scalar;
use assay_model::units::{self, format_bytes};

use crate::WorkloadError;
use crate::declare::{int, one_of, params, size, text, time, wrong};

/// Maximum size of a working set in bytes.
pub const MAX_BYTES: u64 = 64 << 30;
/// Maximum number of working sets.
const MAX_POINTS: usize = 1024;

/// Kind of pages that back the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackingPages {
    /// Any pages that the kernel provides.
    Any,
    /// Base pages of any size; huge pages are disabled with madvise(2).
    Base,
    /// Base pages, which must have 4 KiB.
    Small,
    /// Transparent huge pages, requested with madvise(2).
    Asked,
    /// Transparent huge pages, which the machine provides without a request.
    Machine,
    /// Explicit huge pages of this size in bytes.
    Explicit(u64),
}

impl BackingPages {
    /// Returns the name of the pages for messages.
    pub fn name(self) -> String {
        let of = |bytes| format!("pages of {}", format_bytes(bytes));
        match self {
            BackingPages::Any => "any pages".into(),
            BackingPages::Base => of(rustix::param::page_size() as u64),
            BackingPages::Small => of(4096),
            BackingPages::Asked | BackingPages::Machine => "transparent huge pages".into(),
            BackingPages::Explicit(bytes) => of(bytes),
        }
    }

    /// Returns the size of explicit huge pages in bytes.
    pub fn bytes(self) -> Option<u64> {
        match self {
            BackingPages::Explicit(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Returns the pages for a level of the control `pages`, which the program finds in
    /// `ASSAY_PAGES`.
    pub fn of_control(text: &str) -> Option<Self> {
        match text {
            "4KiB" => Some(BackingPages::Small),
            "base" => Some(BackingPages::Base),
            "madvise" => Some(BackingPages::Asked),
            "always" => Some(BackingPages::Machine),
            "2MiB" => Some(BackingPages::Explicit(2 << 20)),
            "1GiB" => Some(BackingPages::Explicit(1 << 30)),
            _ => None,
        }
    }
}

/// Order of the links in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainOrder {
    /// One cycle in random order, which no prefetcher can predict.
    Random,
    /// Another page with each load, as lmbench's lat_mem_rd does with `-t`: pages in random order,
    /// and the same random order of lines in each. If the working set is not a whole number of
    /// pages, or the stride does not divide a page, the order is random.
    Pages,
    /// Ascending addresses, as lmbench's lat_mem_rd does without `-t`.
    Forward,
}

const ORDERS: [(&str, ChainOrder); 3] = [
    ("random", ChainOrder::Random),
    ("pages", ChainOrder::Pages),
    ("forward", ChainOrder::Forward),
];
/// Values of the parameter `page_size`.
pub const PAGES: [(&str, Option<BackingPages>); 7] = [
    ("control", None),
    ("any", Some(BackingPages::Any)),
    ("4KiB", Some(BackingPages::Small)),
    ("base", Some(BackingPages::Base)),
    ("thp", Some(BackingPages::Asked)),
    ("2MiB", Some(BackingPages::Explicit(2 << 20))),
    ("1GiB", Some(BackingPages::Explicit(1 << 30))),
];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ChaseParams {
        /// `sweep` from `min_size` to `max_size`; otherwise one size, or several separated by
        /// commas.
        working_set: String = text(), "sweep";
        /// Smallest working set of a sweep.
        min_size: u64 = size(), "4 KiB";
        /// Largest working set of a sweep.
        max_size: u64 = size(), "64 MiB";
        /// Number of working sets for each doubling of the size in a sweep.
        per_octave: u32 = int(1, 16), 4;
        /// Distance between links in bytes. 4160 (a page and a line) touches one line of each page,
        /// in all sets of the caches, which leaves mostly the cost of address translation.
        stride: u64 = size(), 64;
        /// `random` is one cycle that no prefetcher can predict; `pages` goes to another page with
        /// each load, as lmbench's `lat_mem_rd -t`; `forward` is ascending, as lat_mem_rd without
        /// `-t`.
        order: ChainOrder = one_of(&ORDERS), "random";
        /// Pages for the memory: `control` follows the control `pages` (any pages without it),
        /// `thp` requests transparent huge pages, `2MiB` and `1GiB` take explicit ones from a pool.
        /// A trial whose memory did not get them is invalid.
        pages as "page_size": Option<BackingPages> = one_of(&PAGES), "control";
        /// Minimum length of one measurement.
        min_time: Duration = time(), "5 ms";
        /// Number of measurements of each working set; the smallest counts, because disturbances
        /// only add time.
        rounds: u32 = int(1, 1000), 5;
    }
}

impl ChaseParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = ChaseParams::read(map)?;
        let stride = params.stride;
        if stride < 8 || !stride.is_multiple_of(8) || stride > 1 << 30 {
            return Err(wrong(format!(
                "`stride` is {stride} B; it takes multiples of 8 B up to 1 GiB"
            )));
        }
        if params.min_time.is_zero() {
            return Err(wrong("`min_time` must be longer than 0 s"));
        }
        params.sets().map(|_| params)
    }

    /// Returns the working sets in bytes, in ascending order.
    ///
    /// # Errors
    /// Fails if the list is empty or a size is invalid.
    pub fn sets(&self) -> Result<Vec<u64>, WorkloadError> {
        let stride = self.stride;
        let sets = if self.working_set == "sweep" {
            sweep(self.min_size, self.max_size, self.per_octave, stride)?
        } else {
            list(&self.working_set)?
        };
        if let Some(small) = sets.iter().find(|s| **s < stride) {
            return Err(wrong(format!("a working set of {small} B holds no stride of {stride} B")));
        }
        if let Some(large) =
            sets.iter().find(|s| **s > MAX_BYTES || **s / stride > u64::from(u32::MAX))
        {
            return Err(wrong(format!("a working set of {large} B is too large")));
        }
        Ok(sets)
    }
}

/// Returns working sets between both ends, evenly spaced by ratio, in whole strides.
fn sweep(min: u64, max: u64, per_octave: u32, stride: u64) -> Result<Vec<u64>, WorkloadError> {
    let min = min.max(stride);
    if min > max {
        return Err(wrong(format!(
            "`min_size` is {min} B and `max_size` {max} B; the smaller comes first"
        )));
    }
    let octaves = (max as f64 / min as f64).log2();
    let steps = (octaves * f64::from(per_octave)).round().max(1.0) as u32;
    let at =
        |i: u32| (min as f64 * (octaves * f64::from(i) / f64::from(steps)).exp2()).round() as u64;
    let mut sets: Vec<u64> = (0..=steps).map(|i| at(i) / stride * stride).collect();
    sets.dedup();
    check_count(sets)
}

/// Returns the working sets of a list, in ascending order.
pub fn list(text: &str) -> Result<Vec<u64>, WorkloadError> {
    let each = text.split(',').map(|part| {
        units::parse_bytes(part)
            .map_err(|e| wrong(format!("`working_set` takes `sweep` or sizes: {e}")))
    });
    let mut sets = each.collect::<Result<Vec<u64>, _>>()?;
    sets.sort_unstable();
    sets.dedup();
    check_count(sets)
}

fn check_count(sets: Vec<u64>) -> Result<Vec<u64>, WorkloadError> {
    match sets.len() {
        0 => Err(wrong("there is no working set between `min_size` and `max_size`")),
        n if n > MAX_POINTS => {
            Err(wrong(format!("{n} working sets; at most {MAX_POINTS} are taken")))
        }
        _ => Ok(sets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::treatment;

    fn read(changes: &[(&str, Scalar)]) -> Result<ChaseParams, WorkloadError> {
        ChaseParams::from_map(&treatment(ChaseParams::rows(), changes))
    }

    #[test]
    fn a_sweep_is_even_by_ratio_and_ends_where_it_should() {
        let sets = read(&[("min_size", "4 KiB".into()), ("max_size", "1 MiB".into())])
            .unwrap()
            .sets()
            .unwrap();
        assert_eq!((sets[0], *sets.last().unwrap()), (4096, 1 << 20));
        assert_eq!(sets.len(), 8 * 4 + 1);
        assert!(sets.iter().all(|s| s.is_multiple_of(64)));
        let some = read(&[("working_set", "1 MiB, 64 KiB".into())]).unwrap();
        assert_eq!(some.sets().unwrap(), [65536, 1 << 20]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (name, value, says) in [
            ("stride", Scalar::from("12"), "multiples of 8 B"),
            ("stride", "0".into(), "multiples of 8 B"),
            ("working_set", "32".into(), "holds no stride"),
            ("working_set", "1 TiB".into(), "too large"),
            ("working_set", "much".into(), "sweep"),
            ("min_size", "2 GiB".into(), "smaller comes first"),
            ("page_size", "16KiB".into(), "one of control"),
            ("order", "up".into(), "random"),
            ("min_time", "0".into(), "longer than 0 s"),
            ("rounds", 0.into(), "1 to 1000"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }
}

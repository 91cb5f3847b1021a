//! The parameters of a treatment, declared and as types.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Scalar, units};

use crate::WorkloadError;
use crate::declare::{int, one_of, params, size, text, time, wrong};

/// The largest working set that is taken.
const MAX_BYTES: u64 = 64 << 30;
/// More points than this are refused.
const MAX_POINTS: usize = 1024;

/// Which pages the memory gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// Whatever it happens to get.
    Any,
    /// Pages of 4 KiB: large ones are refused.
    Small,
    /// Transparent huge pages, asked for with madvise(2).
    Asked,
    /// Transparent huge pages, given by the machine without being asked.
    Machine,
    /// Explicit huge pages of this size.
    Explicit(u64),
}

impl Pages {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Pages::Any => "any pages",
            Pages::Small => "pages of 4 KiB",
            Pages::Asked | Pages::Machine => "transparent huge pages",
            Pages::Explicit(b) if b == 1 << 30 => "pages of 1 GiB",
            Pages::Explicit(_) => "pages of 2 MiB",
        }
    }

    /// The size of an explicit page.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Pages::Explicit(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// What the level of the control `pages` means to a program that finds it in `ASSAY_PAGES`.
    pub fn of_control(text: &str) -> Option<Self> {
        match text {
            "4KiB" => Some(Pages::Small),
            "madvise" => Some(Pages::Asked),
            "always" => Some(Pages::Machine),
            "2MiB" => Some(Pages::Explicit(2 << 20)),
            "1GiB" => Some(Pages::Explicit(1 << 30)),
            _ => None,
        }
    }
}

/// In which order the links lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One cycle in random order: no prefetcher helps.
    Random,
    /// Another page each time, as lmbench's lat_mem_rd walks with `-t`: pages in random order, and in
    /// each the same random order of lines. A working set that is no whole number of pages, or a stride
    /// that does not divide one, is walked at random.
    Pages,
    /// Upwards, as lmbench's lat_mem_rd walks without `-t`.
    Forward,
}

const ORDERS: [(&str, Order); 3] =
    [("random", Order::Random), ("pages", Order::Pages), ("forward", Order::Forward)];
const PAGES: [(&str, Option<Pages>); 6] = [
    ("control", None),
    ("any", Some(Pages::Any)),
    ("4KiB", Some(Pages::Small)),
    ("thp", Some(Pages::Asked)),
    ("2MiB", Some(Pages::Explicit(2 << 20))),
    ("1GiB", Some(Pages::Explicit(1 << 30))),
];

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Params {
        /// `sweep` from `min_size` to `max_size`; or one size, or several with commas.
        working_set: String = text(), "sweep";
        /// The smallest working set of a sweep.
        min_size: u64 = size(), "4 KiB";
        /// The largest working set of a sweep.
        max_size: u64 = size(), "64 MiB";
        /// Working sets for each doubling of a sweep.
        per_octave: u32 = int(1, 16), 4;
        /// Bytes from link to link. 4160 (a page and a line) touches one line of each page, in all sets of the
        /// caches: mostly translation is left.
        stride: u64 = size(), 64;
        /// `random` is one cycle that no prefetcher foresees; `pages` goes to another page each time, as
        /// lmbench's `lat_mem_rd -t`; `forward` goes upwards, as lat_mem_rd without.
        order: Order = one_of(&ORDERS), "random";
        /// Which pages: `control` as the control `pages` says (any without it), `thp` asks for transparent
        /// ones, `2MiB` and `1GiB` take explicit ones from a pool. A trial whose memory did not get them is
        /// invalid.
        pages as "page_size": Option<Pages> = one_of(&PAGES), "control";
        /// How long one measurement lasts at least.
        min_time: Duration = time(), "5 ms";
        /// Measurements of each working set; the smallest counts, as what disturbs only adds.
        rounds: u32 = int(1, 1000), 5;
    }
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = Params::read(map)?;
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

    /// The working sets, bytes, in rising order.
    ///
    /// # Errors
    /// There is none, or one cannot be.
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

/// Working sets between both ends, evenly spaced by ratio, in whole strides.
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

fn list(text: &str) -> Result<Vec<u64>, WorkloadError> {
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

    fn read(changes: &[(&str, Scalar)]) -> Result<Params, WorkloadError> {
        Params::from_map(&treatment(Params::rows(), changes))
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

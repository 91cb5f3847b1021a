//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_model::{Scalar, units};
use serde::{Deserialize, Serialize};

use crate::WorkloadError;

/// The largest working set that is taken.
const LARGEST: u64 = 64 << 30;
/// More points than this are refused.
const MOST_POINTS: usize = 1024;

/// Which pages the memory gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// The working sets, bytes, in rising order.
    pub sets: Vec<u64>,
    /// Bytes from link to link.
    pub stride: u64,
    /// The order.
    pub order: Order,
    /// The pages; `None`: as the control `pages` says, else any.
    pub pages: Option<Pages>,
    /// How long one measurement lasts at least.
    pub min_time: Duration,
    /// Measurements of each working set.
    pub rounds: u32,
}

fn wrong(message: String) -> WorkloadError {
    WorkloadError::Param(message)
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let value = |name: &str| {
            map.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))
        };
        let bytes =
            |name: &str| units::bytes_of(value(name)?).map_err(|e| wrong(format!("`{name}`: {e}")));
        let stride = bytes("stride")?;
        if stride < 8 || !stride.is_multiple_of(8) || stride > 1 << 30 {
            return Err(wrong(format!(
                "`stride` is {stride} B; it takes multiples of 8 B up to 1 GiB"
            )));
        }
        let text = value("working_set")?.to_text();
        let sets = if text.trim() == "sweep" {
            let per = value("per_octave")?.as_i64().filter(|n| (1..=16).contains(n));
            let per = per.ok_or_else(|| wrong("`per_octave` takes 1 to 16".into()))?;
            sweep(bytes("min_size")?, bytes("max_size")?, per as u32, stride)?
        } else {
            list(&text)?
        };
        if let Some(small) = sets.iter().find(|s| **s < stride) {
            return Err(wrong(format!("a working set of {small} B holds no stride of {stride} B")));
        }
        if let Some(large) =
            sets.iter().find(|s| **s > LARGEST || **s / stride > u64::from(u32::MAX))
        {
            return Err(wrong(format!("a working set of {large} B is too large")));
        }
        let min_time = units::duration_of(value("min_time")?)
            .map_err(|e| wrong(format!("`min_time`: {e}")))?;
        if min_time.is_zero() {
            return Err(wrong("`min_time` must be longer than 0 s".into()));
        }
        let rounds = value("rounds")?.as_i64().filter(|n| (1..=1000).contains(n));
        Ok(Params {
            sets,
            stride,
            order: match value("order")?.to_text().as_str() {
                "random" => Order::Random,
                "pages" => Order::Pages,
                "forward" => Order::Forward,
                other => {
                    return Err(wrong(format!(
                        "`order` is `{other}`; it takes random, pages, forward"
                    )));
                }
            },
            pages: match value("page_size")?.to_text().as_str() {
                "control" => None,
                "any" => Some(Pages::Any),
                "4KiB" => Some(Pages::Small),
                "thp" => Some(Pages::Asked),
                "2MiB" => Some(Pages::Explicit(2 << 20)),
                "1GiB" => Some(Pages::Explicit(1 << 30)),
                other => {
                    let known = "control, any, 4KiB, thp, 2MiB, 1GiB";
                    return Err(wrong(format!("`page_size` is `{other}`; it takes {known}")));
                }
            },
            min_time,
            rounds: rounds.ok_or_else(|| wrong("`rounds` takes 1 to 1000".into()))? as u32,
        })
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
        0 => Err(wrong("there is no working set between `min_size` and `max_size`".into())),
        n if n > MOST_POINTS => {
            Err(wrong(format!("{n} working sets; at most {MOST_POINTS} are taken")))
        }
        _ => Ok(sets),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(changes: &[(&str, Scalar)]) -> Result<Params, WorkloadError> {
        let mut map: BTreeMap<String, Scalar> = super::super::spec::spec()
            .params
            .into_iter()
            .filter_map(|p| p.default.map(|d| (p.name, d)))
            .collect();
        for (name, value) in changes {
            assert!(map.insert((*name).to_owned(), value.clone()).is_some(), "no `{name}`");
        }
        Params::from_map(&map)
    }

    #[test]
    fn a_sweep_is_even_by_ratio_and_ends_where_it_should() {
        let params = read(&[("min_size", "4 KiB".into()), ("max_size", "1 MiB".into())]).unwrap();
        assert_eq!((params.sets[0], *params.sets.last().unwrap()), (4096, 1 << 20));
        assert_eq!(params.sets.len(), 8 * 4 + 1);
        assert!(params.sets.iter().all(|s| s.is_multiple_of(64)));
        let some = read(&[("working_set", "1 MiB, 64 KiB".into())]).unwrap();
        assert_eq!(some.sets, [65536, 1 << 20]);
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
            ("page_size", "16KiB".into(), "takes control"),
            ("order", "up".into(), "random"),
            ("min_time", "0".into(), "longer than 0 s"),
            ("rounds", 0.into(), "1 to 1000"),
        ] {
            let said = read(&[(name, value)]).unwrap_err().to_string();
            assert!(said.contains(says), "{name}: {said}");
        }
    }
}

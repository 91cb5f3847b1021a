//! The parameters of a treatment, as types.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Scalar, units};
use serde::{Deserialize, Serialize};

use crate::WorkloadError;

/// More processes than this are refused.
pub const MAX_PROCESSES: i64 = 4096;
/// More sizes than this in one trial are refused: the list travels as one argument.
const MAX_SIZES: usize = 8192;
/// No buffer is larger than this.
const MAX_BUFFER: u64 = 1 << 30;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// read(2).
    Read,
    /// write(2).
    Write,
}

/// Whether the page cache takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// Through the page cache.
    Page,
    /// Past it: `O_DIRECT`.
    Direct,
}

/// Which buffer sizes a trial visits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// The planner picks them between these ends, both included.
    Sweep {
        /// Bytes.
        min: u64,
        /// Bytes.
        max: u64,
    },
    /// These, in bytes.
    These(Vec<u64>),
}

/// The parameters of a treatment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// Size of the file, bytes.
    pub file_size: u64,
    /// Which way.
    pub direction: Direction,
    /// Through the page cache or past it.
    pub cache: Cache,
    /// How many processes at once.
    pub processes: u32,
    /// Which buffer sizes.
    pub sizes: Sizes,
    /// How long each size is measured in a trial.
    pub min_time: Duration,
    /// How long a sweep may measure in a trial.
    pub budget: Duration,
    /// A file or folder that the person named.
    pub path: Option<PathBuf>,
    /// Whether each process is kept on one CPU.
    pub pin: bool,
}

impl Params {
    /// Reads the checked parameters of a treatment and looks at how they go together.
    ///
    /// # Errors
    /// [`WorkloadError::Param`]: a value or a combination that cannot be, and what would be right.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let buffer = text(map, "buffer_size")?;
        let sizes = if buffer.trim() == "sweep" {
            Sizes::Sweep { min: bytes(map, "min_size")?, max: bytes(map, "max_size")? }
        } else {
            Sizes::These(list(&buffer)?)
        };
        let path = text(map, "path")?;
        let params = Params {
            file_size: bytes(map, "file_size")?,
            direction: match text(map, "direction")?.as_str() {
                "read" => Direction::Read,
                "write" => Direction::Write,
                other => {
                    return Err(wrong(format!("`direction` is `{other}`; it takes read, write")));
                }
            },
            cache: match text(map, "cache")?.as_str() {
                "page" => Cache::Page,
                "direct" => Cache::Direct,
                other => return Err(wrong(format!("`cache` is `{other}`; it takes page, direct"))),
            },
            processes: value(map, "processes")?
                .as_i64()
                .filter(|p| (1..=MAX_PROCESSES).contains(p))
                .ok_or_else(|| wrong(format!("`processes` takes 1 to {MAX_PROCESSES}")))?
                as u32,
            sizes,
            min_time: duration(map, "min_time")?,
            budget: duration(map, "budget")?,
            path: (!path.is_empty()).then(|| PathBuf::from(path)),
            pin: value(map, "pin")?
                .as_bool()
                .ok_or_else(|| wrong("`pin` takes true or false".into()))?,
        };
        params.agree()?;
        Ok(params)
    }

    fn agree(&self) -> Result<(), WorkloadError> {
        let (least, greatest) = match &self.sizes {
            Sizes::Sweep { min, max } => {
                if min > max {
                    return Err(wrong(format!(
                        "`min_size` is {min} and `max_size` is {max}; the smaller comes first"
                    )));
                }
                (*min, *max)
            }
            Sizes::These(sizes) => {
                (sizes.iter().copied().min().unwrap_or(0), sizes.iter().copied().max().unwrap_or(0))
            }
        };
        if least == 0 {
            return Err(wrong("a buffer of 0 bytes reads nothing; the smallest is 1 B".into()));
        }
        if greatest > MAX_BUFFER {
            let limit = units::format_bytes(MAX_BUFFER);
            return Err(wrong(format!("a buffer of {greatest} B is more than {limit}")));
        }
        if greatest > self.file_size {
            return Err(wrong(format!(
                "the largest buffer is {greatest} B and the file {} B; \
                 make `file_size` larger or `max_size` smaller",
                self.file_size
            )));
        }
        if self.cache == Cache::Direct && !self.file_size.is_multiple_of(4096) {
            return Err(wrong(format!(
                "`cache = \"direct\"` needs a `file_size` that is a multiple of 4096 B; {} is not",
                self.file_size
            )));
        }
        if self.min_time.is_zero() || self.budget.is_zero() {
            return Err(wrong("`min_time` and `budget` must be longer than 0 s".into()));
        }
        Ok(())
    }

    /// The largest buffer that may be asked for, bytes.
    pub fn largest(&self) -> u64 {
        match &self.sizes {
            Sizes::Sweep { max, .. } => *max,
            Sizes::These(sizes) => sizes.iter().copied().max().unwrap_or(1),
        }
    }
}

fn wrong(message: String) -> WorkloadError {
    WorkloadError::Param(message)
}

fn value<'a>(map: &'a BTreeMap<String, Scalar>, name: &str) -> Result<&'a Scalar, WorkloadError> {
    map.get(name).ok_or_else(|| wrong(format!("the parameter `{name}` is missing")))
}

fn text(map: &BTreeMap<String, Scalar>, name: &str) -> Result<String, WorkloadError> {
    value(map, name).map(Scalar::to_text)
}

fn bytes(map: &BTreeMap<String, Scalar>, name: &str) -> Result<u64, WorkloadError> {
    units::bytes_of(value(map, name)?).map_err(|e| wrong(format!("`{name}`: {e}")))
}

fn duration(map: &BTreeMap<String, Scalar>, name: &str) -> Result<Duration, WorkloadError> {
    units::duration_of(value(map, name)?).map_err(|e| wrong(format!("`{name}`: {e}")))
}

/// `4 KiB` or `512, 4 KiB, 102400`, without repeats.
fn list(text: &str) -> Result<Vec<u64>, WorkloadError> {
    let mut sizes = Vec::new();
    for part in text.split(',') {
        let size = units::parse_bytes(part)
            .map_err(|e| wrong(format!("`buffer_size` takes `sweep` or sizes: {e}")))?;
        sizes.push(size);
    }
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > MAX_SIZES {
        return Err(wrong(format!(
            "`buffer_size` lists {} sizes; one trial takes at most {MAX_SIZES}",
            sizes.len()
        )));
    }
    Ok(sizes)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The defaults, with some of them changed.
    pub fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        let mut map: BTreeMap<String, Scalar> = super::super::spec::spec()
            .params
            .into_iter()
            .filter_map(|p| p.default.map(|d| (p.name, d)))
            .collect();
        for (name, value) in changes {
            assert!(map.insert((*name).to_owned(), value.clone()).is_some(), "no `{name}`");
        }
        map
    }

    #[test]
    fn reads_the_defaults() {
        let params = Params::from_map(&map(&[])).unwrap();
        assert_eq!(params.file_size, 104_857_600);
        assert_eq!(params.sizes, Sizes::Sweep { min: 1, max: 102_400 });
        assert_eq!(params.path, None);
    }

    #[test]
    fn reads_lists_of_sizes() {
        let params = Params::from_map(&map(&[("buffer_size", "64 KiB, 512,512".into())])).unwrap();
        assert_eq!(params.sizes, Sizes::These(vec![512, 65536]));
        assert_eq!(params.largest(), 65536);
    }

    #[test]
    fn refuses_what_cannot_be() {
        let cases: [(&str, Scalar, &str); 6] = [
            ("min_size", 0.into(), "0 bytes"),
            ("max_size", "200 MiB".into(), "file_size"),
            ("buffer_size", "many".into(), "sweep"),
            ("buffer_size", "0".into(), "0 bytes"),
            ("budget", "0 s".into(), "budget"),
            ("min_size", "1 MiB".into(), "smaller comes first"),
        ];
        for (name, value, says) in cases {
            let error = Params::from_map(&map(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }
}

//! Parameters of a treatment: their declaration and their types.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use assay_model::{Scalar, units};
use serde::{Deserialize, Serialize};

use crate::WorkloadError;
use crate::declare::{flag, int, one_of, or_none, params, parsed, path, size, time, wrong};

/// Maximum number of processes.
pub const MAX_PROCESSES: i64 = 4096;
/// Maximum number of sizes in one trial: the list is passed as one argument.
const MAX_SIZES: usize = 8192;
/// Maximum buffer size in bytes.
const MAX_BUFFER: u64 = 1 << 30;

/// Direction of the transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The file is read with read(2).
    Read,
    /// The file is written with write(2).
    Write,
}

/// Use of the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// Through the page cache.
    Page,
    /// Bypassing the page cache with `O_DIRECT`.
    Direct,
}

params! {
    /// The parameters of a treatment.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SweepParams {
        /// Size of the file.
        file_size: u64 = size(), "100 MiB";
        /// Direction of the transfer: `read` uses read(2), `write` uses write(2).
        direction: Direction =
            one_of(&[("read", Direction::Read), ("write", Direction::Write)]), "read";
        /// `page` goes through the page cache, `direct` bypasses it (O_DIRECT).
        cache: Cache = one_of(&[("page", Cache::Page), ("direct", Cache::Direct)]), "page";
        /// Number of processes that read or write at the same time.
        processes: u32 = int(1, MAX_PROCESSES), 1;
        /// `sweep` lets the workload choose the sizes; otherwise one size, or several separated by
        /// commas.
        sizes as "buffer_size": Option<Vec<u64>> = parsed(list), "sweep";
        /// Smallest buffer of a sweep.
        min_size: u64 = size(), 1;
        /// Largest buffer of a sweep.
        max_size: u64 = size(), 102_400;
        /// Time for which each size is measured in a trial, in slices spread over the trial.
        min_time: Duration = time(), "10 ms";
        /// Measurement time of a sweep's trial.
        budget: Duration = time(), "4 s";
        /// Folder to make the file in, or (only for reading) an existing file; empty: the run's own
        /// folder.
        path: Option<PathBuf> = or_none(path()), "";
        /// If true, each process is pinned to one of the trial's CPUs.
        pin: bool = flag(), Scalar::Bool(true);
    }
}

impl SweepParams {
    /// Reads the parameters of a treatment and checks that they are consistent.
    ///
    /// # Errors
    /// [`WorkloadError::Param`] with a remedy: a value or a combination of values is invalid.
    pub fn from_map(map: &BTreeMap<String, Scalar>) -> Result<Self, WorkloadError> {
        let params = SweepParams::read(map)?;
        params.agree()?;
        Ok(params)
    }

    fn agree(&self) -> Result<(), WorkloadError> {
        let (min, max) = (self.min_size, self.max_size);
        if self.sizes.is_none() && min > max {
            return Err(wrong(format!(
                "`min_size` is {min} and `max_size` is {max}; the smaller comes first"
            )));
        }
        let minimum = self.sizes.as_ref().map_or(min, |sizes| sizes.first().copied().unwrap_or(0));
        let maximum = self.largest();
        if minimum == 0 {
            return Err(wrong("a buffer of 0 bytes reads nothing; the smallest is 1 B"));
        }
        if maximum > MAX_BUFFER {
            let limit = units::format_bytes(MAX_BUFFER);
            return Err(wrong(format!("a buffer of {maximum} B is more than {limit}")));
        }
        if maximum > self.file_size {
            return Err(wrong(format!(
                "the largest buffer is {maximum} B and the file {} B; \
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
            return Err(wrong("`min_time` and `budget` must be longer than 0 s"));
        }
        Ok(())
    }

    /// Returns the largest buffer that may be used, in bytes.
    pub fn largest(&self) -> u64 {
        self.sizes.as_ref().map_or(self.max_size, |sizes| sizes.last().copied().unwrap_or(0))
    }
}

/// Parses `4 KiB` or `512, 4 KiB, 102400` to sorted sizes without duplicates; `None` for `sweep`.
fn list(text: &str) -> Result<Option<Vec<u64>>, String> {
    if text == "sweep" {
        return Ok(None);
    }
    let each = text.split(',').map(units::parse_bytes).collect::<Result<Vec<u64>, _>>();
    let mut sizes = each.map_err(|e| format!("it takes `sweep` or sizes: {e}"))?;
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > MAX_SIZES {
        return Err(format!("{} sizes; one trial takes at most {MAX_SIZES}", sizes.len()));
    }
    Ok(Some(sizes))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the default parameters with some of them changed.
    pub fn map(changes: &[(&str, Scalar)]) -> BTreeMap<String, Scalar> {
        crate::declare::treatment(SweepParams::rows(), changes)
    }

    #[test]
    fn reads_the_defaults() {
        let params = SweepParams::from_map(&map(&[])).unwrap();
        assert_eq!(params.file_size, 104_857_600);
        assert_eq!((params.sizes, params.min_size, params.max_size), (None, 1, 102_400));
        assert_eq!(params.path, None);
    }

    #[test]
    fn reads_lists_of_sizes() {
        let params =
            SweepParams::from_map(&map(&[("buffer_size", "64 KiB, 512,512".into())])).unwrap();
        assert_eq!(params.largest(), 65536);
        assert_eq!(params.sizes, Some(vec![512, 65536]));
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
            let error = SweepParams::from_map(&map(&[(name, value)])).unwrap_err().to_string();
            assert!(error.contains(says), "{name}: {error}");
        }
    }
}

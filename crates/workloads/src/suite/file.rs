//! `suite.toml`: the members of a suite in their order, the reference times, and descriptions of
//! the flags.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::WorkloadError;
use crate::kit::read_toml;
use crate::problem::Problem;

/// Name of the file that makes a folder a suite.
pub const FILE: &str = "suite.toml";

/// Content of a `suite.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// Version of the format.
    pub schema_version: u32,
    /// Name of the suite, equal to the name of its folder.
    pub name: String,
    /// Version of the suite itself, increased when its results can change.
    pub version: String,
    /// Description in one sentence: the work that the suite makes the system do.
    pub help: String,
    /// Names of the members, each a kit in a folder of that name below the suite's.
    pub members: Vec<String>,
    pub reference: Reference,
    /// Description of each flag in a sentence. A `*` at the end of a flag matches any rest.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
}

/// Reference machine and times for the ratios.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Description of the machine.
    pub machine: String,
    /// Date of the measurement, such as `2026-11-21`.
    pub date: String,
    #[serde(default)]
    pub compiler: String,
    #[serde(default)]
    pub flags: String,
    /// Description of the measurement.
    #[serde(default)]
    pub how: String,
    /// Times in seconds, by size and member.
    #[serde(default)]
    pub times: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Reference {
    /// Returns the reference time of a member at a size, in seconds.
    pub fn time(&self, size: &str, member: &str) -> Option<f64> {
        self.times.get(size)?.get(member).copied()
    }
}

/// Reads and checks the suite in a folder.
///
/// # Errors
/// Fails if the file is missing or has a mistake.
pub fn suite(dir: &Path) -> Result<SuiteFile, WorkloadError> {
    let path = dir.join(FILE);
    let (file, _): (SuiteFile, _) = read_toml(&path)?;
    let bad = |message: String| Err(Problem::whole(&path, message).into());
    if file.schema_version != 1 {
        return bad(format!("schema_version is {}; this assay reads 1", file.schema_version));
    }
    if file.members.is_empty() {
        return bad("`members` is empty; name at least one".into());
    }
    for member in &file.members {
        if member.contains(['/', '\\']) || member.starts_with('.') {
            return bad(format!("the member `{member}` is not the name of a folder"));
        }
    }
    for (size, times) in &file.reference.times {
        for (member, time) in times {
            if !file.members.contains(member) {
                return bad(format!(
                    "there is a reference time for `{member}`, which is not a member"
                ));
            }
            if !(time.is_finite() && *time > 0.0) {
                return bad(format!("the reference time of `{member}` at {size} is {time}"));
            }
        }
    }
    Ok(file)
}

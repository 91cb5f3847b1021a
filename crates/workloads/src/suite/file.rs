//! `suite.toml`: the members of a suite in their order, the reference times, and what the flags mean.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::WorkloadError;
use crate::kit::{Problem, read_toml};

/// The file that makes a folder a suite.
pub const FILE: &str = "suite.toml";

/// A suite as its file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// The version of the format.
    pub schema_version: u32,
    /// Its name, that of its folder.
    pub name: String,
    /// Its own version, put up when its results can change.
    pub version: String,
    /// One sentence: what it makes the system do.
    pub help: String,
    /// The members, each a kit in a folder of that name below the suite's.
    pub members: Vec<String>,
    /// What ratios are made with.
    pub reference: Reference,
    /// What each flag means, in a sentence. `*` at the end stands for anything.
    #[serde(default)]
    pub flags: BTreeMap<String, String>,
}

/// The reference that ratios are made with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What machine it was.
    pub machine: String,
    /// When, `2026-11-21`.
    pub date: String,
    /// By which compiler.
    #[serde(default)]
    pub compiler: String,
    /// With which flags.
    #[serde(default)]
    pub flags: String,
    /// How the times were made.
    #[serde(default)]
    pub how: String,
    /// By size and member: seconds.
    #[serde(default)]
    pub times: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Reference {
    /// The reference time of a member at a size, seconds.
    pub fn time(&self, size: &str, member: &str) -> Option<f64> {
        self.times.get(size)?.get(member).copied()
    }
}

/// Reads and checks the suite of the folder.
///
/// # Errors
/// The file is not there or wrong, or a member is.
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
            return bad(format!("the member `{member}` is no name of a folder"));
        }
    }
    for (size, times) in &file.reference.times {
        for (member, time) in times {
            if !file.members.contains(member) {
                return bad(format!(
                    "there is a reference time for `{member}`, which is no member"
                ));
            }
            if !(time.is_finite() && *time > 0.0) {
                return bad(format!("the reference time of `{member}` at {size} is {time}"));
            }
        }
    }
    Ok(file)
}

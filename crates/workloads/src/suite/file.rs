//! `suite.toml`: the members of a suite in their order, the reference times, and what the flags mean.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::WorkloadError;

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

/// Reads a TOML file, or says where it is wrong.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, WorkloadError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| wrong(path, None, format!("it cannot be read: {e}")))?;
    toml::from_str(&text).map_err(|e| {
        let line = e.span().map(|s| 1 + text[..s.start.min(text.len())].matches('\n').count());
        wrong(path, line, e.message().replace('\n', "; "))
    })
}

/// What is wrong in the file.
pub fn wrong(path: &Path, line: Option<usize>, message: String) -> WorkloadError {
    WorkloadError::Kit { path: PathBuf::from(path), line, message }
}

/// Reads and checks the suite of the folder.
///
/// # Errors
/// The file is not there or wrong, or a member is.
pub fn suite(dir: &Path) -> Result<SuiteFile, WorkloadError> {
    let path = dir.join(FILE);
    let file: SuiteFile = read(&path)?;
    let bad = |message| Err(wrong(&path, None, message));
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

//! The description of the system under test: a flat map from path to fact, so that two systems can
//! be compared path by path.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// One fact about the system. A value that could not be read is `Unknown` with the reason; two
/// unknowns are never equal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Fact {
    /// A fact that was read.
    Known {
        /// Value of the fact, as text.
        value: String,
    },
    /// A fact that could not be read.
    Unknown {
        /// Reason why it could not be read, for a person.
        unknown: String,
    },
}

impl Fact {
    pub fn known(value: impl Into<String>) -> Self {
        Fact::Known { value: value.into() }
    }

    pub fn unknown(reason: impl Into<String>) -> Self {
        Fact::Unknown { unknown: reason.into() }
    }

    /// Returns the value, or `None` for a fact that could not be read.
    pub fn value(&self) -> Option<&str> {
        match self {
            Fact::Known { value } => Some(value),
            Fact::Unknown { .. } => None,
        }
    }
}

/// Written by hand for speed: a description has a thousand facts, and serde's derive would first
/// read an untagged enum into a tree.
impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            value: Option<String>,
            unknown: Option<String>,
        }
        match Fields::deserialize(deserializer)? {
            Fields { value: Some(value), .. } => Ok(Fact::Known { value }),
            Fields { unknown: Some(unknown), .. } => Ok(Fact::Unknown { unknown }),
            _ => Err(D::Error::custom("a fact has neither a value nor a reason why it is unknown")),
        }
    }
}

/// Description of the system under test at one moment: facts by dotted lower-case path
/// (`cpu.model`, `kernel.release`, `sysctl.vm.swappiness`, `block.sda.scheduler`).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SystemDescription {
    /// Version of this format.
    pub schema_version: u32,
    /// Time of the description: ISO 8601, UTC.
    pub taken_at: String,
    /// The facts, by path.
    pub facts: BTreeMap<String, Fact>,
}

impl SystemDescription {
    /// Returns the value at `path`; `None` if it is missing or could not be read.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.facts.get(path).and_then(Fact::value)
    }

    /// Returns the value at `path`, or `unknown`.
    pub fn text(&self, path: &str) -> &str {
        self.get(path).unwrap_or("unknown")
    }
}

/// Groups the paths of facts by their first component; for block and network devices by the first
/// two, so that each device has a group of its own.
pub fn fact_groups<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in paths {
        let parts = if path.starts_with("block.") || path.starts_with("net.") { 2 } else { 1 };
        let end = path.match_indices('.').nth(parts - 1).map_or(path.len(), |(at, _)| at);
        match all.iter_mut().find(|(group, _)| *group == &path[..end]) {
            Some((_, paths)) => paths.push(path),
            None => all.push((&path[..end], vec![path])),
        }
    }
    all
}

/// Summarizes paths of facts in one line: the first six groups, then the number of remaining paths:
/// `block.loop0 (26), env (12), limit.open_files, 7 more`.
pub fn folded_facts<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let all = fact_groups(paths);
    let shown = all.iter().take(6).map(|(group, paths)| match paths.as_slice() {
        [only] => (*only).to_owned(),
        more => format!("{group} ({})", more.len()),
    });
    let more = all.iter().skip(6).map(|(_, paths)| paths.len()).sum::<usize>();
    let more = (more > 0).then(|| format!("{more} more"));
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

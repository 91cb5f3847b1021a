//! The description of the system under test: a flat map from path to fact, so that two systems can
//! be compared path by path.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};

/// One fact about the system. What could not be read is `Unknown` with the reason; two unknowns are
/// never equal.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Fact {
    /// It was read.
    Known {
        /// What was read, as text.
        value: String,
    },
    /// It could not be read.
    Unknown {
        /// Why not, as a person would say it.
        unknown: String,
    },
}

impl Fact {
    /// A fact that was read.
    pub fn known(value: impl Into<String>) -> Self {
        Fact::Known { value: value.into() }
    }

    /// A fact that could not be read, and why.
    pub fn unknown(reason: impl Into<String>) -> Self {
        Fact::Unknown { unknown: reason.into() }
    }

    /// The value, if it was read.
    pub fn value(&self) -> Option<&str> {
        match self {
            Fact::Known { value } => Some(value),
            Fact::Unknown { .. } => None,
        }
    }
}

/// By hand: a description has a thousand facts, and serde reads an untagged enum into a tree first.
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

/// The system under test at one moment: dotted lower-case paths (`cpu.model`,
/// `kernel.release`, `sysctl.vm.swappiness`, `block.sda.scheduler`) and their facts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SystemDescription {
    /// The version of this format.
    pub schema_version: u32,
    /// When it was taken: ISO 8601, UTC.
    pub taken_at: String,
    /// The facts by path.
    pub facts: BTreeMap<String, Fact>,
}

impl SystemDescription {
    /// The value at `path`, if it is there and was read.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.facts.get(path).and_then(Fact::value)
    }

    /// The value at `path`, or `unknown`.
    pub fn text(&self, path: &str) -> &str {
        self.get(path).unwrap_or("unknown")
    }
}

/// Paths of facts by what they belong to: the first part, and of a device its name too.
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

/// Paths of facts in one line: the first six groups, `block.loop0 (26), env (12), limit.open_files`.
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

//! Description of a program from its file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program that a trial ran, as described by its file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Path of the file, links resolved.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Machine architecture that it is built for (`x86_64`); empty for a script.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Build id set by the linker; empty if the file has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build_id: String,
    /// Compilers that the file names; empty if it names none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compilers: Vec<String>,
    /// Required x86 instruction-set level (1: any, 2 to 4: v2 to v4); `null` if the file does not
    /// state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa_level: Option<u32>,
    /// Interpreter of a script; empty for other programs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub interpreter: String,
    /// SHA-256 of the linked libraries, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
    /// Properties that could not be determined, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<String>,
}

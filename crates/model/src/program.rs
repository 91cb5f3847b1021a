//! What a program is, as far as its file tells.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A program that a trial ran, by its file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Program {
    /// Its path, links followed.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
    /// The machine that it is built for (`x86_64`); empty for a script.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// The linker's build id; empty: it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build_id: String,
    /// The compilers that left their names in it; empty: none did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compilers: Vec<String>,
    /// The x86 instruction-set level that it needs (1: any, 2 to 4: v2 to v4); `null`: it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isa_level: Option<u32>,
    /// What a script is interpreted by; empty: it is no script.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub interpreter: String,
    /// SHA-256 of the libraries that it is linked with, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
    /// What could not be determined, as sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<String>,
}

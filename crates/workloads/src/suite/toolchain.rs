//! Toolchains: files with the compilers for the members, and their flags for base and peak.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::WorkloadError;
use crate::declare::wrong;
use crate::kit::read_toml;
use crate::problem::Problem;

/// Compilers and flags of a toolchain.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// Version of the format.
    pub schema_version: u32,
    /// Description in one sentence, which is recorded.
    pub help: String,
    pub compilers: Compilers,
    /// Flags of base: one set for all members.
    pub base: Flags,
    /// Flags of peak for members without their own; if absent, those of base.
    pub peak: Option<Flags>,
    /// Flags of peak by member.
    #[serde(default)]
    pub members: BTreeMap<String, Flags>,
    /// Portability flags by member; they replace the member's own.
    #[serde(default)]
    pub portability: BTreeMap<String, String>,
}

/// A compiler for each language.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compilers {
    pub c: String,
    pub cxx: String,
    pub fortran: String,
}

/// Flags for each language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flags {
    /// Flags for all languages, placed before those of each language.
    pub all: String,
    pub c: String,
    pub cxx: String,
    pub fortran: String,
    pub link: String,
    /// True if the program is built twice, the second time with a profile of the training input.
    pub feedback: bool,
}

impl Flags {
    /// Returns the same flags for every language and for the linker, which optimises too with some
    /// of them.
    pub fn everywhere(flags: &str) -> Self {
        Flags { all: flags.to_owned(), link: flags.to_owned(), ..Flags::default() }
    }

    /// Returns the flags of one language, given its own ones.
    pub fn with_common(&self, own: &str) -> String {
        [self.all.trim(), own.trim()]
            .iter()
            .filter(|f| !f.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl Toolchain {
    /// Returns the flags of a member.
    pub fn flags(&self, member: &str, peak: bool) -> &Flags {
        if !peak {
            return &self.base;
        }
        self.members.get(member).or(self.peak.as_ref()).unwrap_or(&self.base)
    }
}

/// Returns the path of a toolchain: the name itself if it contains a `/`, else a file in the
/// suite's folder `toolchains`, else in the folder `toolchains` next to the suite.
pub fn path(name: &str, suite: &Path) -> PathBuf {
    if name.contains('/') {
        return name.into();
    }
    let file = format!("toolchains/{name}.toml");
    let own = suite.join(&file);
    match suite.parent().map(|p| p.join(&file)) {
        Some(shared) if !own.is_file() => shared,
        _ => own,
    }
}

/// Returns the names of the suite's toolchains, sorted.
pub fn names(suite: &Path) -> Vec<String> {
    let folders = [Some(suite), suite.parent()];
    let mut names: Vec<String> = folders
        .into_iter()
        .flatten()
        .filter_map(|dir| std::fs::read_dir(dir.join("toolchains")).ok())
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.strip_suffix(".toml").map(str::to_owned))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Reads a toolchain by name or path.
///
/// # Errors
/// Fails if the name is unknown (the message lists the known ones) or the file has a mistake.
pub fn read(name: &str, suite: &Path) -> Result<Toolchain, WorkloadError> {
    let path = path(name, suite);
    if !path.is_file() {
        return Err(wrong(format!(
            "there is no toolchain `{name}` ({}); use {}, or the path of a file",
            path.display(),
            names(suite).join(", ")
        )));
    }
    let (toolchain, _): (Toolchain, _) = read_toml(&path)?;
    match toolchain.schema_version {
        1 => Ok(toolchain),
        other => {
            let message = format!("schema_version is {other}; this assay reads 1");
            Err(Problem::whole(&path, message).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "schema_version = 1\nhelp = \"h\"\n\
        compilers = { c = \"gcc\", cxx = \"g++\", fortran = \"gfortran\" }\n\
        base = { all = \"-O2\", c = \"-fno-common\" }\n\
        peak = { all = \"-O3\" }\n\
        [members.xz]\nall = \"-Ofast\"\nfeedback = true\n";

    #[test]
    fn peak_is_a_member_s_own_or_the_shared_one() {
        let toolchain: Toolchain = toml::from_str(FILE).unwrap();
        let base = toolchain.flags("xz", false);
        assert_eq!(
            (base.with_common(&base.c), base.with_common(&base.cxx)),
            ("-O2 -fno-common".into(), "-O2".into())
        );
        assert_eq!(toolchain.flags("xz", true).all, "-Ofast");
        assert!(toolchain.flags("xz", true).feedback);
        assert_eq!(toolchain.flags("lua", true).all, "-O3");
    }

    #[test]
    fn an_unknown_one_is_answered_with_those_that_are_there() {
        let dir = tempfile::tempdir().unwrap();
        let suite = dir.path().join("cpu-int");
        std::fs::create_dir_all(dir.path().join("toolchains")).unwrap();
        std::fs::create_dir_all(&suite).unwrap();
        std::fs::write(dir.path().join("toolchains/gcc.toml"), FILE).unwrap();
        assert!(read("gcc", &suite).is_ok());
        let error = read("icc", &suite).unwrap_err().to_string();
        assert!(error.contains("`icc`") && error.contains("use gcc"), "{error}");
        std::fs::write(suite.join("bad.toml"), FILE.replace("help", "halp")).unwrap();
        let path = suite.join("bad.toml").display().to_string();
        assert!(read(&path, &suite).unwrap_err().to_string().contains("bad.toml:2"));
    }
}

//! Toolchains: which compilers build the members and with which flags, base and peak, as a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::WorkloadError;
use crate::declare::wrong;
use crate::kit::{Problem, read_toml};

/// Compilers and flags.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// The version of the format.
    pub schema_version: u32,
    /// What it is, in a sentence; the record has it.
    pub help: String,
    /// The programs.
    pub compilers: Compilers,
    /// The flags of base: one set for all members.
    pub base: Flags,
    /// The flags of peak where a member has none of its own; base's where there is none.
    #[serde(default)]
    pub peak: Option<Flags>,
    /// The flags of peak by member.
    #[serde(default)]
    pub members: BTreeMap<String, Flags>,
    /// Portability flags by member, instead of the member's own.
    #[serde(default)]
    pub portability: BTreeMap<String, String>,
}

/// A compiler for each language.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compilers {
    /// C.
    pub c: String,
    /// C++.
    pub cxx: String,
    /// Fortran.
    pub fortran: String,
}

/// Flags for each language.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Flags {
    /// For all languages, before each one's own.
    pub all: String,
    /// For C.
    pub c: String,
    /// For C++.
    pub cxx: String,
    /// For Fortran.
    pub fortran: String,
    /// For the linker.
    pub link: String,
    /// Whether the program is built twice, the second time with a profile of the training input.
    pub feedback: bool,
}

impl Flags {
    /// The same flags for every language, and for the linker, which optimises too with some of them.
    pub fn everywhere(flags: &str) -> Self {
        Flags { all: flags.to_owned(), link: flags.to_owned(), ..Flags::default() }
    }

    /// The flags of one language.
    pub fn of(&self, own: &str) -> String {
        [self.all.trim(), own.trim()]
            .iter()
            .filter(|f| !f.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

impl Toolchain {
    /// The flags of a member.
    pub fn flags(&self, member: &str, peak: bool) -> &Flags {
        if !peak {
            return &self.base;
        }
        self.members.get(member).or(self.peak.as_ref()).unwrap_or(&self.base)
    }
}

/// Where the toolchain of that name is: a path if it has a `/`, else a file of the suite's folder
/// `toolchains`, else of that folder beside the suite.
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

/// The names of the toolchains that the suite knows, sorted.
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

/// Reads a toolchain.
///
/// # Errors
/// There is none of that name (with those that are), or its file is wrong.
pub fn read(name: &str, suite: &Path) -> Result<Toolchain, WorkloadError> {
    let path = path(name, suite);
    if !path.is_file() {
        return Err(wrong(format!(
            "there is no toolchain `{name}` ({}); known are {}, or the path of a file",
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
            (base.of(&base.c), base.of(&base.cxx)),
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
        assert!(error.contains("`icc`") && error.contains("known are gcc"), "{error}");
        std::fs::write(suite.join("bad.toml"), FILE.replace("help", "halp")).unwrap();
        let path = suite.join("bad.toml").display().to_string();
        assert!(read(&path, &suite).unwrap_err().to_string().contains("bad.toml:2"));
    }
}

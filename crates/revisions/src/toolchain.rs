//! What a build depends on beside the source: compilers and build tools on PATH, and variables that they read.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs whose first line of version is part of what a build is.
const TOOLS: [&str; 14] = [
    "cc", "c++", "gcc", "g++", "clang", "ld", "make", "cmake", "rustc", "cargo", "go", "javac",
    "node", "python3",
];
/// Variables that compilers and build tools read.
const VARIABLES: [&str; 22] = [
    "PATH",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "MAKEFLAGS",
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "CARGO_PROFILE",
    "CARGO_BUILD_TARGET",
    "RUSTUP_TOOLCHAIN",
    "GOFLAGS",
    "GOARCH",
    "CGO_ENABLED",
    "JAVA_HOME",
    "NODE_ENV",
];

/// The first line of each tool's version, for those that are here.
pub(crate) fn tools() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for tool in TOOLS {
        let argument = if tool == "go" { "version" } else { "--version" };
        let output = Command::new(tool)
            .arg(argument)
            .current_dir(Path::new("/"))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let Ok(output) = output else { continue };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if let Some(line) = text.lines().next() {
            found.insert(tool.to_owned(), line.trim().to_owned());
        }
    }
    found
}

/// The variables that are set, with their values; they are hashed and never recorded.
pub(crate) fn variables() -> Vec<(String, std::ffi::OsString)> {
    VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
        .collect()
}

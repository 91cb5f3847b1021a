//! Dependencies of a build other than the source: compilers and build tools on PATH, and
//! environment variables that they read.

use std::collections::BTreeMap;
use std::path::Path;

/// Programs whose version is part of a build's identity.
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

/// Returns the version of each installed tool, or the reason why it is unknown.
pub(crate) fn tools() -> BTreeMap<String, String> {
    let here = TOOLS.into_iter().filter_map(|tool| Some((tool, crate::which(tool)?)));
    here.map(|(tool, path)| {
        let argument = if tool == "go" { "version" } else { "--version" };
        let version = crate::version(&path, &[argument], Path::new("/"));
        (tool.to_owned(), version.unwrap_or_else(|e| e.reason))
    })
    .collect()
}

/// Returns the variables that are set, with their values. The values are hashed and never recorded.
pub(crate) fn variables() -> Vec<(String, std::ffi::OsString)> {
    VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
        .collect()
}

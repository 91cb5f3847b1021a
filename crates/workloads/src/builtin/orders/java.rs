//! The Java virtual machine: finding it, its version, and its options.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_model::Fact;

use crate::WorkloadError;
use crate::builtin::orders::params::OrdersParams;
use crate::declare::wrong;
use crate::driver::program::{digest, need};

/// Oldest feature version that runs the kit.
const OLDEST: u32 = 11;

/// An installed Java virtual machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// Path of the `java` program.
    pub path: PathBuf,
    /// Output of `java -version` as one line.
    pub version: String,
    /// Feature version: 8, 11, 17.
    pub feature: u32,
}

/// Finds the virtual machine and determines its version.
///
/// # Errors
/// Fails if Java is not installed, does not start, or is too old.
pub fn find(name: &str) -> Result<Java, WorkloadError> {
    let name = if name.is_empty() { "java" } else { name };
    let remedy =
        "install the Debian package openjdk-17-jdk-headless, or give the path of one as `jvm`";
    let path = need(name, format!("the Java virtual machine `{name}`"), remedy)?;
    let version = ask(&path)
        .map_err(|e| WorkloadError::step(format!("asking `{} -version`", path.display()), e))?;
    let Some(feature) = feature(&version) else {
        return Err(wrong(format!(
            "`{}` does not report its version of Java; it printed: {version}",
            path.display()
        )));
    };
    if feature < OLDEST {
        return Err(wrong(format!(
            "`{}` is Java {feature}; orders runs on Java {OLDEST} and later: install the Debian \
             package openjdk-17-jdk-headless, or give the path of a newer one as `jvm`",
            path.display()
        )));
    }
    Ok(Java { path, version, feature })
}

/// Returns the output for `-version` on either stream.
fn ask(path: &Path) -> Result<String, String> {
    let out = Command::new(path)
        .arg("-version")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let text = [&out.stderr, &out.stdout].map(|b| String::from_utf8_lossy(b).into_owned()).concat();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).take(4).collect();
    if out.status.success() {
        Ok(lines.join("; "))
    } else {
        Err(format!("{}: {}", out.status, lines.join("; ")))
    }
}

/// Parses the feature version from `version "17.0.1"` or, before 9, `version "1.8.0_292"`.
fn feature(text: &str) -> Option<u32> {
    let quoted = text.split_once("version \"")?.1;
    let number: String = quoted.split('"').next()?.to_owned();
    let mut parts = number.split(|c: char| !c.is_ascii_digit()).filter_map(|p| p.parse().ok());
    match parts.next()? {
        1 => parts.next(),
        feature => Some(feature),
    }
}

impl Java {
    /// Returns facts for the system description.
    pub fn facts(&self) -> BTreeMap<String, Fact> {
        let real = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        // The launcher stays the same for years; the virtual machine itself is in its library.
        let library = real.parent().and_then(Path::parent).map(|h| h.join("lib/server/libjvm.so"));
        let hashed = library.filter(|l| l.is_file()).unwrap_or(real);
        BTreeMap::from([
            ("workload.jvm.path".into(), Fact::known(self.path.display().to_string())),
            ("workload.jvm.version".into(), Fact::known(self.version.clone())),
            ("workload.jvm.sha256".into(), digest(&hashed)),
        ])
    }

    /// Returns the options of an instance with a heap of `heap` bytes that logs its collections to
    /// `log`.
    pub fn options(&self, params: &OrdersParams, heap: u64, log: &Path) -> Vec<OsString> {
        let kib = (heap / 1024).max(2048);
        let mut options: Vec<OsString> =
            vec![format!("-Xms{kib}k").into(), format!("-Xmx{kib}k").into()];
        // ZGC logs its pauses as phases of a collection.
        let z = params.collector == "zgc" || params.options.iter().any(|o| o == "-XX:+UseZGC");
        // `timenanos` is CLOCK_MONOTONIC.
        let (option, more) = match (self.version.contains("OpenJ9"), z) {
            (true, _) => ("-Xverbosegclog:", ""),
            (false, true) => ("-Xlog:gc,gc+phases:file=", ":uptime,timenanos,level,tags"),
            (false, false) => ("-Xlog:gc:file=", ":uptime,timenanos,level,tags"),
        };
        options.push([option.as_ref(), log.as_os_str(), more.as_ref()].into_iter().collect());
        let collector = match params.collector.as_str() {
            "g1" => "-XX:+UseG1GC",
            "parallel" => "-XX:+UseParallelGC",
            "serial" => "-XX:+UseSerialGC",
            "zgc" => "-XX:+UseZGC",
            "shenandoah" => "-XX:+UseShenandoahGC",
            _ => "",
        };
        let pages = match params.pages.as_str() {
            "transparent" => "-XX:+UseTransparentHugePages",
            "reserved" => "-XX:+UseLargePages",
            _ => "",
        };
        options.extend([collector, pages].iter().filter(|o| !o.is_empty()).map(OsString::from));
        options.extend(params.options.iter().cloned());
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_they_are_printed() {
        assert_eq!(feature("openjdk version \"17.0.15\" 2025-04-15"), Some(17));
        assert_eq!(feature("java version \"1.8.0_292\"; Java(TM) SE"), Some(8));
        assert_eq!(feature("openjdk version \"25\" 2025-09-16"), Some(25));
        assert_eq!(feature("openjdk version \"26-ea\""), Some(26));
        assert_eq!(feature("gij (GNU libgcj)"), None);
    }

    #[test]
    fn what_is_no_java_or_too_old_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path.display().to_string()
        };
        let old = make("old", "echo 'openjdk version \"1.8.0_292\"' >&2");
        let error = find(&old).unwrap_err().to_string();
        assert!(error.contains("is Java 8; orders runs on Java 11"), "{error}");
        let odd = make("odd", "echo hello");
        assert!(
            find(&odd).unwrap_err().to_string().contains("does not report its version of Java")
        );
        let broken = make("broken", "echo 'no libjvm' >&2; exit 4");
        let error = find(&broken).unwrap_err().to_string();
        assert!(error.contains("exit status: 4") && error.contains("no libjvm"), "{error}");
        let error = find("/nowhere/java").unwrap_err().to_string();
        assert!(error.contains("openjdk-17-jdk-headless"), "{error}");
    }
}

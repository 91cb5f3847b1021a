//! Downloads Debian packages with apt-get, from the repositories that this machine already uses,
//! without changing the machine: apt-get gets its own copy of the sources, its own index and its
//! own cache, all in assay's cache folder. Root is not needed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::format::Origin;
use super::lock::Lock;
use crate::WorkloadError;
use crate::driver::program::need;
use crate::driver::step::{Inherit, ProgramStep};

const TIMEOUT: Duration = Duration::from_secs(600);

/// A private copy of the machine's package sources, for source or binary packages.
pub(crate) struct Apt {
    dir: PathBuf,
    origin: Origin,
}

impl Apt {
    /// Sets up the copy below `cache_dir`, from the sources listed in the folder `etc`
    /// (`/etc/apt`).
    ///
    /// # Errors
    /// Fails if apt-get or a list of sources is missing, or a file cannot be written.
    pub fn open(cache_dir: &Path, etc: &Path, origin: Origin) -> Result<Self, WorkloadError> {
        let remedy = "use Debian, or fetch the files by other means (docs/workloads/kits.md)";
        need("apt-get", "`apt-get`, which fetches this kit's files,", remedy)?;
        let kind = match origin {
            Origin::DebianSource => "deb-src",
            Origin::DebianBinary => "deb",
        };
        let dir = cache_dir.join("apt").join(kind);
        for sub in ["sources", "lists/partial", "cache/archives/partial", "log"] {
            create_dir(&dir.join(sub))?;
        }
        let apt = Apt { dir, origin };
        if copy_sources(etc, &apt.dir.join("sources"), kind)? == 0 {
            return Err(WorkloadError::Missing {
                what: format!("a list of package sources in {}", etc.display()),
                remedy: "write one, as sources.list(5) describes".into(),
            });
        }
        let path = apt.dir.join("apt.conf");
        let text = configuration(&apt.dir).ok_or_else(|| {
            let message = format!(
                "{} has a character that apt.conf(5) cannot hold; use another cache folder",
                apt.dir.display()
            );
            WorkloadError::step("fetch", message)
        })?;
        write(&path, &text)?;
        Ok(apt)
    }

    /// Downloads `package` at exactly `version` into the folder `into`. Downloads the index first
    /// if there is none, and again if the package is not in it.
    ///
    /// # Errors
    /// Fails with the last lines of apt-get's output.
    pub fn download(&self, package: &str, version: &str, into: &Path) -> Result<(), WorkloadError> {
        let _lock = Lock::take(&self.dir.join("lock"))?;
        let what = format!("{package}={version}");
        let verb: &[&str] = match self.origin {
            Origin::DebianSource => &["source", "--download-only", "--only-source"],
            Origin::DebianBinary => &["download"],
        };
        let get = || self.client(&format!("fetch of {what}"), &[verb, &[&what]].concat(), into);
        let update = || self.client("update of the package index", &["update"], into);
        let marker = self.dir.join("updated");
        if marker.exists() && get().is_ok() {
            return Ok(());
        }
        // The update may fail because one of several repositories is unreachable, which need not
        // matter, so the download decides.
        let updated = update();
        if updated.is_ok() {
            write(&marker, "")?;
        }
        match (get(), updated) {
            (Err(_), Err(update)) => Err(update),
            (got, _) => got,
        }
    }

    fn client(&self, name: &str, args: &[&str], cwd: &Path) -> Result<(), WorkloadError> {
        let mut argv: Vec<OsString> = vec!["apt-get".into(), "-q".into(), "-c".into()];
        argv.push(self.dir.join("apt.conf").into());
        argv.extend(args.iter().map(OsString::from));
        let env = [("LC_ALL".into(), "C".into())];
        let log = self.dir.join("client.log");
        let step = ProgramStep::new(name, &argv, cwd, &log, TIMEOUT);
        ProgramStep { env: &env, inherit: Inherit::All, ..step }.run()
    }
}

/// Returns the configuration of apt-get, which it reads after the machine's own. It sets all paths
/// to below `dir` and clears the machine's hooks that run after an update. `None` if the path of
/// `dir` cannot be written in it.
fn configuration(dir: &Path) -> Option<String> {
    let dir = dir.to_str().filter(|d| !d.contains(['"', '\\', '\n']))?;
    Some(format!(
        "Dir::Etc::sourcelist \"/dev/null\";\n\
         Dir::Etc::sourceparts \"{dir}/sources\";\n\
         Dir::State::lists \"{dir}/lists\";\n\
         Dir::Cache \"{dir}/cache\";\n\
         Dir::Log \"{dir}/log\";\n\
         Acquire::Languages \"none\";\n\
         #clear APT::Update::Pre-Invoke;\n\
         #clear APT::Update::Post-Invoke;\n\
         #clear APT::Update::Post-Invoke-Success;\n"
    ))
}

/// Copies the machine's lists of sources into `to`, with the type of every entry set to `kind`.
/// Returns the number of files.
fn copy_sources(etc: &Path, to: &Path, kind: &str) -> Result<usize, WorkloadError> {
    let mut files = vec![etc.join("sources.list")];
    if let Ok(entries) = fs::read_dir(etc.join("sources.list.d")) {
        files.extend(entries.flatten().map(|e| e.path()));
    }
    files.sort();
    let mut copied = 0;
    for file in files {
        let Some(name) = file.file_name().and_then(|n| n.to_str()) else { continue };
        let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
        // The packages of an unreadable list will not be found; apt-get reports that.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let text = match extension {
            "list" => list_with_type(&text, kind),
            "sources" => stanzas_with_type(&text, kind),
            _ => continue,
        };
        if !text.trim().is_empty() {
            write(&to.join(name), &text)?;
            copied += 1;
        }
    }
    Ok(copied)
}

/// Returns the one-line entries (sources.list(5)) without duplicates, with the type `kind`.
fn list_with_type(text: &str, kind: &str) -> String {
    let mut seen = BTreeSet::new();
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let (ty, rest) = line.split_once([' ', '\t'])?;
            let entry =
                matches!(ty, "deb" | "deb-src").then(|| format!("{kind} {}\n", rest.trim()))?;
            seen.insert(entry.clone()).then_some(entry)
        })
        .collect()
}

/// Returns the deb822 stanzas with the type `kind` and without comments.
fn stanzas_with_type(text: &str, kind: &str) -> String {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| match line.split_once(':') {
            Some((field, _)) if field.eq_ignore_ascii_case("types") => format!("Types: {kind}\n"),
            _ => format!("{line}\n"),
        })
        .collect()
}

fn create_dir(path: &Path) -> Result<(), WorkloadError> {
    fs::create_dir_all(path).map_err(WorkloadError::io("create", path))
}

fn write(path: &Path, text: &str) -> Result<(), WorkloadError> {
    fs::write(path, text).map_err(WorkloadError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_lists_are_turned() {
        let list = "# deb http://no/ x main\n\ndeb [arch=amd64] http://a/ x main # c\n\
            deb-src  [arch=amd64] http://a/ x main # c\n";
        assert_eq!(list_with_type(list, "deb-src"), "deb-src [arch=amd64] http://a/ x main # c\n");
        let stanzas = "Types: deb deb-src\n# old\nURIs: http://a/\nSuites: x\n\ntypes: deb\n\
            URIs: http://b/\n";
        assert_eq!(
            stanzas_with_type(stanzas, "deb-src"),
            "Types: deb-src\nURIs: http://a/\nSuites: x\n\nTypes: deb-src\nURIs: http://b/\n"
        );
    }

    #[test]
    fn only_lists_are_copied_and_the_originals_stay() {
        let etc = tempfile::tempdir().unwrap();
        let to = tempfile::tempdir().unwrap();
        fs::create_dir(etc.path().join("sources.list.d")).unwrap();
        let part = |name: &str| etc.path().join("sources.list.d").join(name);
        fs::write(part("a.sources"), "Types: deb\nURIs: http://a/\n").unwrap();
        fs::write(part("b.list.disabled"), "deb http://b/ x main\n").unwrap();
        fs::write(etc.path().join("sources.list"), "deb http://c/ x main\n").unwrap();
        assert_eq!(copy_sources(etc.path(), to.path(), "deb-src").unwrap(), 2);
        assert!(to.path().join("a.sources").exists() && to.path().join("sources.list").exists());
        assert!(!to.path().join("b.list.disabled").exists());
        assert!(fs::read_to_string(part("a.sources")).unwrap().starts_with("Types: deb\n"));
        let none = tempfile::tempdir().unwrap();
        assert_eq!(copy_sources(none.path(), to.path(), "deb").unwrap(), 0);
    }

    #[test]
    fn a_folder_that_would_break_the_configuration_is_refused() {
        assert!(configuration(Path::new("/a b/c")).unwrap().contains("\"/a b/c/lists\""));
        assert!(configuration(Path::new("/a\"b")).is_none());
    }
}

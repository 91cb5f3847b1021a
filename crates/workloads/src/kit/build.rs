//! Builds a kit's program in the cache, once for each set of inputs, tools and parameters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::format::{Build, Command, KitText};
use super::lock::Lock;
use super::template::{TemplateError, Values, command_holes, holes, render_command, shown};
use crate::driver::step::ProgramStep;
use crate::{Launch, WorkloadError};
use assay_system::{sha256, sha256_file};

/// File that marks a build as complete; it is written last.
const MARK: &str = ".assay-built.json";

/// Extensions of source files, compared without regard to case.
const SOURCE: [&str; 13] =
    ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "y", "f", "for", "f90"];

/// A finished build of a kit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuiltKit {
    #[serde(skip)]
    pub dir: PathBuf,
    /// SHA-256 of each product, by its path in the folder.
    pub products: BTreeMap<String, String>,
}

/// Returns the placeholders that commands and environment texts use, with their values and without
/// those in `leave_out`: a cached result of the commands depends on exactly these.
pub(crate) fn inputs(
    commands: &[Command],
    env: &BTreeMap<String, KitText>,
    values: &Values,
    leave_out: &[&str],
) -> Result<String, TemplateError> {
    let known: Vec<String> = values.keys().cloned().collect();
    let mut names = Vec::new();
    for command in commands {
        names.extend(command_holes(command, &known)?);
    }
    for text in env.values() {
        names.extend(holes(text.get_ref())?);
    }
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !leave_out.contains(name));
    let mut out = String::new();
    for name in names {
        let value = values.get(name).map(|v| v.to_string_lossy()).unwrap_or_default();
        let _ = writeln!(out, "{name}={value:?}");
    }
    Ok(out)
}

/// Returns the folder, below the kit's cache folder, of the build with the inputs `key`.
pub(crate) fn folder(kit_cache: &Path, key: &str) -> PathBuf {
    kit_cache.join(format!("build-{}", &sha256(key.as_bytes())[..16]))
}

/// Returns the build in `dir` if it was completed and its products have not changed since.
pub(crate) fn existing(dir: &Path) -> Option<BuiltKit> {
    let mark: BuiltKit = serde_json::from_slice(&fs::read(dir.join(MARK)).ok()?).ok()?;
    let same = |(name, digest): (&String, &String)| {
        sha256_file(&dir.join(name)).is_ok_and(|found| found == *digest)
    };
    mark.products.iter().all(same).then(|| BuiltKit { dir: dir.to_owned(), ..mark })
}

/// Returns the names of all source files below the folders, sorted and without duplicates.
/// Unreadable folders count as empty.
pub(crate) fn source_names<'a>(folders: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut left: Vec<PathBuf> = folders.map(Path::to_owned).collect();
    let mut found = BTreeSet::new();
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if kind.is_dir() {
                left.push(entry.path());
            } else if name
                .rsplit_once('.')
                .is_some_and(|(_, e)| SOURCE.iter().any(|s| s.eq_ignore_ascii_case(e)))
            {
                found.insert(name);
            }
        }
    }
    found.into_iter().collect()
}

/// Runs commands one after the other in `cwd`, each with its output in `log` and a time limit of
/// `timeout`.
///
/// # Errors
/// Fails if a placeholder cannot be filled in or a command fails.
pub(crate) fn run_steps(
    what: &str,
    commands: &[Command],
    env: &BTreeMap<String, KitText>,
    values: &Values,
    (cwd, log, timeout): (&Path, &Path, Duration),
) -> Result<(), WorkloadError> {
    for (i, command) in commands.iter().enumerate() {
        let Launch { argv, env, .. } = render_command(command, env, values)?;
        let name = format!("{what}, step {} of {}", i + 1, commands.len());
        ProgramStep { env: &env, ..ProgramStep::new(&name, &argv, cwd, log, timeout) }.run()?;
    }
    Ok(())
}

/// Returns the build in `dir`, after building it if it does not exist. In `values`, `build` must be
/// `dir`.
///
/// # Errors
/// Fails if a step fails (with its last lines) or does not make a product, or if a file cannot be
/// written.
pub(crate) fn ensure(
    kit: &str,
    build: &Build,
    dir: &Path,
    values: &Values,
    timeout: Duration,
) -> Result<BuiltKit, WorkloadError> {
    let parent = dir.parent().unwrap_or(dir);
    fs::create_dir_all(parent).map_err(WorkloadError::io("create", parent))?;
    let _lock = Lock::take(&dir.with_extension("lock"))?;
    if let Some(built) = existing(dir) {
        return Ok(built);
    }
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(WorkloadError::io("remove", dir))?;
    }
    fs::create_dir(dir).map_err(WorkloadError::io("create", dir))?;
    let log = dir.with_extension("log");
    let what = format!("build of kit {kit}");
    run_steps(&what, &build.steps, &build.env, values, (dir, &log, timeout))?;
    let mut products = BTreeMap::new();
    for product in &build.produces {
        let name = product.get_ref();
        let path = dir.join(name);
        let digest = sha256_file(&path).map_err(|e| {
            let last = build.steps.last().map(shown).unwrap_or_default();
            let detail = format!(
                "its steps succeeded, but {} cannot be read: {e}; `{last}` should have created it",
                path.display()
            );
            WorkloadError::step(&what, detail)
        })?;
        products.insert(name.clone(), digest);
    }
    let mark = dir.join(MARK);
    let partial = mark.with_extension("partial");
    let built = BuiltKit { dir: dir.to_owned(), products };
    let text = serde_json::to_vec_pretty(&built)
        .map_err(|e| WorkloadError::io("write", &mark)(e.into()))?;
    fs::write(&partial, text).map_err(WorkloadError::io("write", &partial))?;
    fs::rename(&partial, &mark).map_err(WorkloadError::io("write", &mark))?;
    Ok(built)
}

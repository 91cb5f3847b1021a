//! Lookup of workloads by name: the built-in ones ([`crate::builtin::table`]), and the kits and
//! suites in the kit folders.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use assay_model::WorkloadSpec;

use crate::builtin::table;
use crate::declare::wrong;
use crate::kit::{self, Kit};
use crate::suite::{self, Suite};
use crate::{Workload, WorkloadError};

/// Folders with kits, and the cache of fetched and built files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KitPaths {
    /// Folders of kits in order of precedence: a kit hides those with the same name in later
    /// folders.
    pub roots: Vec<PathBuf>,
    /// Folder of caches that outlive runs, as in [`crate::TrialContext::cache_dir`]; `None`: a kit
    /// cannot determine whether it is built.
    pub cache_dir: Option<PathBuf>,
}

impl KitPaths {
    /// Returns the folders of `$ASSAY_KITS` (separated by colons), `./kits`, `../share/assay/kits`
    /// relative to the folder of the executable `exe`, and `assay/kits` in `$XDG_DATA_HOME`
    /// (default: `~/.local/share`).
    pub fn from_env(exe: &Path, cache_dir: Option<PathBuf>) -> Self {
        KitPaths { roots: roots(exe, |name| std::env::var_os(name)), cache_dir }
    }

    /// Returns the folders of all kits and suites by name, without checking their contents.
    pub fn kits(&self) -> BTreeMap<String, PathBuf> {
        let mut kits = BTreeMap::new();
        for root in &self.roots {
            let Ok(entries) = std::fs::read_dir(root) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().into_string();
                let dir = entry.path();
                let is_one = dir.join(kit::FILE).is_file() || dir.join(suite::FILE).is_file();
                if let (Ok(name), true) = (name, is_one) {
                    kits.entry(name).or_insert_with(|| entry.path());
                }
            }
        }
        kits
    }
}

fn roots(exe: &Path, var: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    let mut roots: Vec<PathBuf> = set("ASSAY_KITS")
        .map(|paths| std::env::split_paths(&paths).filter(|p| !p.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    roots.push("kits".into());
    roots.extend(exe.parent().and_then(Path::parent).map(|p| p.join("share/assay/kits")));
    let data = set("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/share")));
    roots.extend(data.map(|data| data.join("assay/kits")));
    roots
}

/// Returns the descriptions of the built-in workloads and the kits. A broken kit is left out;
/// `assay kit check` explains it.
pub fn specs(kits: &KitPaths) -> Vec<WorkloadSpec> {
    let built_in = table::ROWS.iter().map(|row| (row.new)().spec().clone());
    let names = kits.kits();
    built_in
        .chain(names.keys().filter_map(|name| Some(find(name, kits).ok()?.spec().clone())))
        .collect()
}

/// Finds a workload: a built-in one, the kit in the folder `name` if it has a `/`, or the first kit
/// with that name in the folders of `kits`.
///
/// # Errors
/// Fails if the name is unknown (the message has the nearest name) or the kit's file has a
/// mistake.
pub fn find(name: &str, kits: &KitPaths) -> Result<Box<dyn Workload>, WorkloadError> {
    let load = |dir: &Path| -> Result<Box<dyn Workload>, WorkloadError> {
        let cache = kits.cache_dir.as_deref();
        if dir.join(suite::FILE).is_file() {
            return Ok(Box::new(Suite::load(dir, cache)?));
        }
        Ok(Box::new(Kit::load(dir, cache)?))
    };
    if name.contains('/') {
        return load(Path::new(name));
    }
    if let Some(workload) = table::find(name) {
        return Ok(workload);
    }
    let mut folders = kits.kits();
    if let Some(dir) = folders.remove(name) {
        return load(&dir);
    }
    if Path::new(name).is_dir() {
        return Err(wrong(format!(
            "`{name}` is a folder; if it holds a kit, write `./{name}`; a command goes after `--`"
        )));
    }
    if assay_system::which(name).is_some() {
        let text = format!("`{name}` is a command, not a workload; write `assay run -- {name}`");
        return Err(wrong(text));
    }
    let built_in = table::ROWS.iter().map(|row| (row.new)().spec().name.clone());
    let known: Vec<String> = built_in.chain(folders.into_keys()).collect();
    let nearest = assay_model::nearest(name, known.iter().map(String::as_str))
        .map(|k| format!(" (did you mean `{k}`?)"))
        .unwrap_or_default();
    let known = format!("{}{nearest}", known.join(", "));
    Err(wrong(format!(
        "there is no workload `{name}`; use {known}, or the folder of a kit (a path with a `/`)"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_their_order() {
        let var = |name: &str| match name {
            "ASSAY_KITS" => Some("/a::/b".into()),
            "HOME" => Some("/h".into()),
            _ => None,
        };
        let expected = ["/a", "/b", "kits", "/opt/share/assay/kits", "/h/.local/share/assay/kits"];
        assert_eq!(roots(Path::new("/opt/bin/assay"), var), expected.map(PathBuf::from));
    }

    #[test]
    fn a_name_leads_to_a_workload_or_to_the_nearest_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("tiny")).unwrap();
        let kit = "name = \"tiny\"\nversion = \"1\"\nhelp = \"h\"\nrun.command = [\"true\"]\n\
                   [[metric]]\nname = \"elapsed\"\nunit = \"s\"\nbetter = \"lower\"\nhelp = \"h\"\n\
                   from = \"elapsed\"\n";
        std::fs::write(dir.path().join("tiny/kit.toml"), kit).unwrap();
        let paths = KitPaths { roots: vec![dir.path().into()], cache_dir: None };
        for row in table::ROWS {
            let workload = (row.new)();
            let name = &workload.spec().name;
            assert_eq!(&find(name, &paths).unwrap().spec().name, name);
        }
        assert_eq!(find("tiny", &paths).unwrap().spec().name, "tiny");
        let by_path = dir.path().join("tiny").display().to_string();
        assert_eq!(find(&by_path, &paths).unwrap().spec().name, "tiny");
        let error = find("comand", &paths).err().unwrap().to_string();
        assert!(error.contains("did you mean `command`?") && error.contains("tiny"), "{error}");
        let error = find("xyzzy", &paths).err().unwrap().to_string();
        assert!(!error.contains("did you mean"), "{error}");
        assert!(matches!(find("/nonexistent/kit", &paths), Err(WorkloadError::Kit { .. })));
    }
}

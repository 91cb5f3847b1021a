//! Boot files of virtual machines: a folder per kernel with `vmlinuz`, `initrd`, `modules.img` and
//! `release`, and a root file system that all kernels share. `assay vm build` creates them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{VmConfig, failed};
use crate::ClusterError;

/// Existing boot files of a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Folder of the kernel.
    pub kernel: PathBuf,
    /// Path of the root file system's image.
    pub root: PathBuf,
    /// Release of the kernel.
    pub release: String,
}

/// Returns the folder of built kernels and root file systems: `assay-vm` in the XDG cache folder.
pub fn folder() -> PathBuf {
    assay_system::scratch::cache_root().join("assay-vm")
}

/// Returns the series of all built kernels, without duplicates.
pub fn built(folder: &Path) -> Vec<String> {
    let series = |e: fs::DirEntry| {
        let name = e.file_name().into_string().ok()?;
        let (series, _) = name.strip_prefix("kernel-")?.split_once('-')?;
        Some(series.to_owned())
    };
    let found = fs::read_dir(folder).into_iter().flatten().flatten().filter_map(series);
    found.collect::<BTreeSet<_>>().into_iter().collect()
}

impl Image {
    /// Finds the boot files of a machine.
    ///
    /// # Errors
    /// A file is missing; the message names the command that builds it.
    pub fn find(machine: &VmConfig, built: &Path) -> Result<Self, ClusterError> {
        let kernel = if machine.kernel.contains('/') {
            PathBuf::from(&machine.kernel)
        } else {
            newest(built, &format!("kernel-{}-", machine.kernel), "").ok_or_else(|| {
                failed(format!(
                    "there is no kernel {0} in {1}; build it with `assay vm build {0}` (as root), \
                     or name a folder with vmlinuz, initrd, modules.img and release",
                    machine.kernel,
                    built.display()
                ))
            })?
        };
        for (name, what) in [
            ("vmlinuz", "has no kernel"),
            ("initrd", "has no first file system"),
            ("modules.img", "has no modules"),
            ("release", "does not name its release"),
        ] {
            if !kernel.join(name).is_file() {
                let path = kernel.display();
                return Err(failed(format!("the kernel in {path} {what}: there is no {name}")));
            }
        }
        let release = fs::read_to_string(kernel.join("release")).map_err(|e| {
            failed(format!("cannot read {}: {e}", kernel.join("release").display()))
        })?;
        let root = if machine.root.is_empty() {
            newest(built, "root-", ".img").ok_or_else(|| {
                failed(format!(
                    "there is no root file system in {}; build one with `assay vm build {}` (as \
                     root), or name an image as `root`",
                    built.display(),
                    machine.kernel
                ))
            })?
        } else {
            PathBuf::from(&machine.root)
        };
        if !root.is_file() {
            return Err(failed(format!("there is no root file system {}", root.display())));
        }
        Ok(Image { kernel, root, release: release.trim().to_owned() })
    }

    /// Returns the SHA-256 of every boot file.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn digests(&self) -> Result<BTreeMap<&'static str, String>, ClusterError> {
        let of = |path: PathBuf| {
            digest(&path).map_err(|e| failed(format!("cannot read {}: {e}", path.display())))
        };
        Ok(BTreeMap::from([
            ("kernel", of(self.kernel.join("vmlinuz"))?),
            ("initrd", of(self.kernel.join("initrd"))?),
            ("modules", of(self.kernel.join("modules.img"))?),
            ("root", of(self.root.clone())?),
        ]))
    }
}

/// Returns the newest entry of a folder whose name has this prefix and suffix.
fn newest(folder: &Path, begins: &str, ends: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries
        .filter(|e| {
            let name = e.file_name();
            let name = name.to_string_lossy();
            name.starts_with(begins) && name.ends_with(ends)
        })
        .max_by_key(|e| e.metadata().and_then(|m| m.modified()).unwrap_or(UNIX_EPOCH))
        .map(|e| e.path())
}

/// Returns the SHA-256 of a file. Since a root file system has gigabytes, the hash is cached in a
/// file next to it, with the size and modification time that it belongs to, if that can be written.
fn digest(path: &Path) -> std::io::Result<String> {
    let meta = fs::metadata(path)?;
    let changed = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let of = format!("{} {}", meta.len(), changed.as_nanos());
    let mut name = path.as_os_str().to_owned();
    name.push(".sha256");
    let kept = PathBuf::from(name);
    if let Ok(text) = fs::read_to_string(&kept)
        && let Some((hash, what)) = text.trim().split_once(' ')
        && what == of
        && hash.len() == 64
    {
        return Ok(hash.to_owned());
    }
    let hash = assay_system::sha256_file(path)?;
    let _ = fs::write(&kept, format!("{hash} {of}\n"));
    Ok(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(kernel: &str) -> VmConfig {
        VmConfig::read(&[("kernel".to_owned(), kernel.into())].into()).unwrap()
    }

    #[test]
    fn what_is_missing_is_named_with_the_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let find =
            |kernel: &str| Image::find(&machine(kernel), dir.path()).map_err(|e| e.to_string());
        assert!(find("6.1").unwrap_err().contains("assay vm build 6.1"));
        let kernel = dir.path().join("kernel-6.1-abc");
        fs::create_dir(&kernel).unwrap();
        for name in ["vmlinuz", "initrd", "release"] {
            fs::write(kernel.join(name), "6.1.0-1-amd64\n").unwrap();
        }
        assert!(find("6.1").unwrap_err().contains("has no modules"));
        fs::write(kernel.join("modules.img"), "").unwrap();
        assert!(find("6.1").unwrap_err().contains("no root file system"));
        let root = dir.path().join("root-bookworm-abc.img");
        fs::write(&root, "abc").unwrap();
        let image = find("6.1").unwrap();
        assert_eq!(image.release, "6.1.0-1-amd64");
        assert_eq!(find(&kernel.display().to_string()), Ok(image.clone()));
        let first = image.digests().unwrap();
        assert_eq!(first, image.digests().unwrap(), "from what was kept");
        fs::write(&root, "abcd").unwrap();
        assert_ne!(first["root"], image.digests().unwrap()["root"], "the file has changed");
    }
}

//! Control groups by the kernel's id, which is the inode number of their folder.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders below which block I/O is accounted: version 2, and `blkio` of version 1.
const ROOTS: [&str; 4] =
    ["sys/fs/cgroup", "sys/fs/cgroup/unified", "sys/fs/cgroup/blkio", "sys/fs/cgroup/io"];
/// Maximum number of folders that a scan visits below each root.
const MAX_GROUPS: usize = 20_000;

/// Cache of control groups by id.
#[derive(Debug)]
pub(super) struct Cgroups {
    root: PathBuf,
    paths: HashMap<u64, String>,
}

impl Cgroups {
    pub fn new(root: &Path) -> Self {
        Cgroups { root: root.to_owned(), paths: HashMap::new() }
    }

    /// Returns the path of a control group from the root of its hierarchy.
    pub fn path(&mut self, id: u64) -> String {
        if !self.paths.contains_key(&id) {
            self.scan();
            // A group that is gone is remembered too, so that it is searched only once.
            self.paths.entry(id).or_insert_with(|| format!("(gone, number {id})"));
        }
        self.paths[&id].clone()
    }

    /// Returns the id of a control group, given by its path from the root or the path of its
    /// folder.
    pub fn id(&mut self, path: &str) -> Option<u64> {
        self.scan();
        let known = self.paths.iter().find(|(_, p)| *p == path).map(|(id, _)| *id);
        known.or_else(|| {
            std::fs::metadata(path).ok().filter(std::fs::Metadata::is_dir).map(|m| m.ino())
        })
    }

    fn scan(&mut self) {
        for top in ROOTS {
            let top = self.root.join(top);
            let mut left = vec![top.clone()];
            let mut seen = 0;
            while let Some(folder) = left.pop() {
                seen += 1;
                let Ok(meta) = std::fs::metadata(&folder) else { continue };
                let within = folder.strip_prefix(&top).unwrap_or(&folder);
                self.paths.insert(meta.ino(), format!("/{}", within.display()));
                if seen > MAX_GROUPS {
                    break;
                }
                let Ok(entries) = std::fs::read_dir(&folder) else { continue };
                left.extend(
                    entries
                        .flatten()
                        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
                        .map(|e| e.path()),
                );
            }
        }
    }
}

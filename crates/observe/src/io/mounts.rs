//! Where file systems are mounted, so that a path within one becomes a path of this machine.

use std::path::{Path, PathBuf};

use super::devices::packed;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    /// The number of the file system's device, as the kernel packs it.
    pub dev: u32,
    /// Which part of the file system is mounted; `/`: all of it.
    pub part: PathBuf,
    /// Where.
    pub at: PathBuf,
    /// The kind of file system.
    pub kind: String,
}

/// Every mount that this process sees.
#[derive(Debug, Clone, Default)]
pub(super) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads `/proc/self/mountinfo` under a root.
    pub fn read(root: &Path) -> Self {
        let text = std::fs::read(root.join("proc/self/mountinfo")).unwrap_or_default();
        Mounts(String::from_utf8_lossy(&text).lines().filter_map(line).collect())
    }

    pub fn all(&self) -> &[Mount] {
        &self.0
    }
}

/// What the tracer by eBPF asks, which knows files by their device and place.
#[cfg(feature = "ebpf")]
impl Mounts {
    /// The mount of a device that shows most of it.
    pub fn of(&self, dev: u32) -> Option<&Mount> {
        self.0.iter().filter(|m| m.dev == dev).min_by_key(|m| m.part.as_os_str().len())
    }

    /// The path of a file that is at `within` (from the root of its file system).
    pub fn path(&self, dev: u32, within: &Path) -> Option<PathBuf> {
        let of_dev = || self.0.iter().filter(|m| m.dev == dev);
        let mount = of_dev()
            .filter(|m| within.starts_with(&m.part))
            .max_by_key(|m| m.part.components().count())?;
        let rest = within.strip_prefix(&mount.part).ok()?;
        Some(if rest.as_os_str().is_empty() { mount.at.clone() } else { mount.at.join(rest) })
    }
}

fn line(line: &str) -> Option<Mount> {
    let mut words = line.split(' ');
    let (major, minor) = words.nth(2)?.split_once(':')?;
    let dev = packed(major.parse().ok()?, minor.parse().ok()?);
    let part = unescaped(words.next()?);
    let at = unescaped(words.next()?);
    let kind = words.skip_while(|w| *w != "-").nth(1)?.to_owned();
    Some(Mount { dev, part, at, kind })
}

/// A path with the octal escapes of the kernel (`\040`) undone.
fn unescaped(text: &str) -> PathBuf {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|c| u8::from_str_radix(c, 8).ok());
        if let Some(code) = code {
            out.push(char::from(code));
            rest = &rest[at + 4..];
        } else {
            out.push('\\');
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    PathBuf::from(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_by_mounts() {
        let text = "36 35 8:1 / /mnt/my\\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw\n\
                    37 35 8:1 /sub /srv rw - ext4 /dev/sda1 rw\nshort\n";
        let mounts = Mounts(text.lines().filter_map(line).collect());
        let dev = packed(8, 1);
        let path = |within: &str| mounts.path(dev, Path::new(within)).unwrap();
        assert_eq!(path("/a/b"), Path::new("/mnt/my disk/a/b"));
        assert_eq!(path("/sub/x"), Path::new("/srv/x"));
        assert_eq!(mounts.path(1, Path::new("/x")), None);
        assert_eq!(mounts.of(dev).unwrap().kind, "ext4");
    }
}

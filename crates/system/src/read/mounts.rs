//! The mounts of the system, from `/proc/self/mountinfo`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assay_model::Fact;

use crate::Root;
use crate::read::root::Unreadable;

/// One mount: a line of mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device's numbers, such as `7:0`.
    pub numbers: String,
    /// The part of the file system that is mounted; `/` for all of it.
    pub part: PathBuf,
    pub point: PathBuf,
    /// Type of the file system.
    pub kind: String,
    /// Source of the mount: a device or a name.
    pub source: String,
    /// Options of the mount, followed by the other options of the file system.
    pub options: String,
}

/// Returns all mounts, the earliest first.
///
/// # Errors
/// If the kernel does not provide them.
pub fn read(root: &Root) -> Result<Vec<Mount>, Unreadable> {
    let text = root.text("/proc/self/mountinfo")?;
    Ok(text.lines().filter_map(line).collect())
}

/// Returns all mounts, the earliest first; empty if the kernel does not provide them.
pub fn all(root: &Root) -> Vec<Mount> {
    read(root).unwrap_or_default()
}

/// Returns the kernel's name of the block device that holds a folder's file system; `None` if it
/// lies on no device (memory, network) or on several that cannot be determined.
pub fn device_below(path: &Path) -> Option<String> {
    below(&Root::system(), &path.canonicalize().ok()?)
}

/// File systems that lie on no device of this machine.
const NO_DEVICE: [&str; 9] =
    ["tmpfs", "ramfs", "devtmpfs", "nfs", "nfs4", "cifs", "9p", "virtiofs", "proc"];

/// Returns the mounts and devices that trials use, as facts with their purposes: `used.mount.POINT`
/// and `used.device.NAME` (as in `block.NAME`). `places` are existing folders and files, each with
/// its purpose. If the devices below a file system cannot be determined, `used.device` is unknown.
pub fn used(root: &Root, places: &[(&str, PathBuf)]) -> BTreeMap<String, Fact> {
    let mut found: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut facts = BTreeMap::new();
    let mounts = all(root);
    for (purpose, place) in places {
        let Ok(real) = root.path(&place.display().to_string()).canonicalize() else { continue };
        let inside =
            real.strip_prefix(root.path("/")).map_or(real.clone(), |p| Path::new("/").join(p));
        let Some(mount) = holding(&mounts, &inside) else { continue };
        found.entry(format!("used.mount.{}", mount.point.display())).or_default().insert(purpose);
        match below(root, &inside) {
            Some(name) => {
                let mut names = BTreeSet::new();
                devices(root, &name, &mut names);
                for name in names {
                    found.entry(format!("used.device.{name}")).or_default().insert(purpose);
                }
            }
            None if NO_DEVICE.contains(&mount.kind.as_str()) => {}
            None => {
                let why = format!(
                    "the devices below {} ({}) cannot be determined",
                    mount.point.display(),
                    mount.kind
                );
                facts.insert("used.device".to_owned(), Fact::unknown(why));
            }
        }
    }
    facts.extend(found.into_iter().map(|(path, purposes)| {
        (path, Fact::known(purposes.into_iter().collect::<Vec<_>>().join(", ")))
    }));
    facts
}

/// Collects a block device's disk and the devices of which that is composed.
fn devices(root: &Root, name: &str, names: &mut BTreeSet<String>) {
    let disks = root.names("/sys/block");
    let disk = if disks.iter().any(|d| d == name) {
        name.to_owned()
    } else {
        let part = disks.into_iter().find(|d| root.exists(&format!("/sys/block/{d}/{name}")));
        part.unwrap_or_else(|| name.to_owned())
    };
    if !names.insert(disk.clone()) {
        return;
    }
    for slave in root.names(&format!("/sys/block/{disk}/slaves")) {
        devices(root, &slave, names);
    }
    if let Ok(file) = root.text(&format!("/sys/block/{disk}/loop/backing_file"))
        && let Some(name) = below(root, Path::new(&file))
    {
        devices(root, &name, names);
    }
}

/// Returns the mount that contains a path; of several at one mount point, the last one is visible.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|m| path.starts_with(&m.point))
        .max_by_key(|m| m.point.components().count())
}

fn below(root: &Root, path: &Path) -> Option<String> {
    let mounts = all(root);
    let named = holding(&mounts, path)?;
    let real = root.path(&named.source).canonicalize().ok();
    let name = real.and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
    let is_device = |name: &String| root.exists(&format!("/sys/class/block/{name}"));
    // `/dev/root` is no device's name, so the device is found by its numbers.
    name.filter(is_device).or_else(|| {
        let numbers = |name: &String| root.text(&format!("/sys/class/block/{name}/dev")).ok();
        let mut names = root.names("/sys/class/block").into_iter();
        names.find(|name| numbers(name).as_deref() == Some(&named.numbers))
    })
}

/// Parses a line such as `36 35 98:0 /root /point rw,noatime shared:1 - ext4 /dev/sda1
/// rw,errors=continue` (proc(5)).
fn line(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ');
    let numbers = before.nth(2)?.to_owned();
    let [part, point] = [before.next()?, before.next()?].map(|p| PathBuf::from(unescaped(p)));
    let own = before.next()?;
    let mut after = after.split(' ');
    let (kind, source) = (after.next()?.to_owned(), unescaped(after.next()?));
    let whole = after.next().unwrap_or_default();
    let mut options: Vec<&str> = own.split(',').collect();
    options.extend(whole.split(',').filter(|o| !own.split(',').any(|h| h == *o)));
    let options = options.join(",");
    Some(Mount { numbers, part, point, kind, source, options })
}

impl Mount {
    /// Returns the device's major and minor number.
    pub fn device(&self) -> Option<(u32, u32)> {
        let (major, minor) = self.numbers.split_once(':')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Decodes the kernel's octal escapes of blanks, tabs, newlines and backslashes (`\040`).
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 4).and_then(|d| u8::from_str_radix(d, 8).ok());
        match code {
            Some(byte) if byte.is_ascii() => {
                out.push(byte as char);
                rest = &rest[at + 4..];
            }
            _ => {
                out.push('\\');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn the_device_of_a_folder() {
        let machine = FakeMachine::new();
        machine.put("/dev/vda1", "");
        machine.put("/sys/class/block/vda1/dev", "254:1");
        machine.put(
            "/proc/self/mountinfo",
            "1 0 254:1 / / rw - ext4 /dev/root rw\n2 1 0:5 / /dev rw - devtmpfs udev rw\n\
             3 1 0:9 / /run rw - tmpfs tmpfs rw\n",
        );
        let root = machine.root();
        assert_eq!(below(&root, Path::new("/srv/x")).as_deref(), Some("vda1"));
        assert_eq!(below(&root, Path::new("/run/x")), None);
    }

    #[test]
    fn what_trials_use_is_followed_to_the_disks() {
        let machine = FakeMachine::new();
        for (file, text) in [
            ("/dev/vda1", ""),
            ("/dev/dm-0", ""),
            ("/sys/class/block/vda1/dev", "254:1"),
            ("/sys/class/block/dm-0/dev", "253:0"),
            ("/sys/block/vda/vda1/dev", "254:1"),
            ("/sys/block/vdb/size", "1"),
            ("/sys/block/dm-0/slaves/vdb", ""),
            ("/sys/block/loop2/size", "1"),
            ("/srv/data/x", ""),
            ("/run/y", ""),
            ("/odd/z", ""),
            (
                "/proc/self/mountinfo",
                "1 0 254:1 / / rw - ext4 /dev/vda1 rw\n2 1 253:0 / /srv rw - xfs /dev/dm-0 rw\n\
                 3 1 0:9 / /run rw - tmpfs tmpfs rw\n4 1 0:10 / /odd rw - overlay overlay rw\n",
            ),
        ] {
            machine.put(file, text);
        }
        let at = |purpose, path: &str| (purpose, PathBuf::from(path));
        let root = machine.root();
        let found =
            used(&root, &[at("system", "/"), at("data", "/srv/data/x"), at("data", "/run/y")]);
        let known: Vec<(&str, &str)> =
            found.iter().map(|(p, f)| (p.as_str(), f.value().unwrap_or("?"))).collect();
        let expected = [
            ("used.device.dm-0", "data"),
            ("used.device.vda", "system"),
            ("used.device.vdb", "data"),
            ("used.mount./", "system"),
            ("used.mount./run", "data"),
            ("used.mount./srv", "data"),
        ];
        assert_eq!(known, expected);
        let odd = used(&root, &[at("data", "/odd/z")]);
        assert!(odd["used.device"].value().is_none());
    }

    #[test]
    fn a_line_with_blanks_in_its_names() {
        let m = line(r"36 35 98:0 / /mnt/a\040b rw,noatime shared:1 - ext4 /dev/sda1 rw,discard")
            .unwrap();
        assert_eq!((m.device(), m.part), (Some((98, 0)), PathBuf::from("/")));
        assert_eq!((m.numbers.as_str(), m.point), ("98:0", PathBuf::from("/mnt/a b")));
        assert_eq!((m.kind.as_str(), m.source.as_str()), ("ext4", "/dev/sda1"));
        assert_eq!(m.options, "rw,noatime,discard");
        assert_eq!(line("nonsense"), None);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,60}( - )?\\PC{0,40}", name in "[\\\\0-9é]{0,12}") {
            let _ = line(&text);
            let _ = unescaped(&name);
        }
    }
}

//! What is mounted where, from `/proc/self/mountinfo`.

use std::path::{Path, PathBuf};

use crate::Root;

/// One mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The device's numbers, `7:0`.
    pub numbers: String,
    /// Where.
    pub point: PathBuf,
    /// The type of file system.
    pub kind: String,
    /// What is mounted: a device, or a name.
    pub source: String,
}

/// All mounts, the earliest first; none where the kernel does not tell.
pub(crate) fn all(root: &Root) -> Vec<Mount> {
    let text = root.text("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(read).collect()
}

/// The kernel's name of the block device that the file system of a folder is on; `None` where it is on none
/// (memory, the network) or on more than can be told from here.
pub fn device_below(path: &Path) -> Option<String> {
    below(&Root::system(), &path.canonicalize().ok()?)
}

fn below(root: &Root, path: &Path) -> Option<String> {
    let mounts = all(root);
    // Of mounts at one place the last one is seen.
    let mount = mounts
        .iter()
        .filter(|m| path.starts_with(&m.point))
        .max_by_key(|m| m.point.components().count())?;
    let named = mounts.iter().rev().find(|m| m.point == mount.point)?;
    let real = root.path(&named.source).canonicalize().ok();
    let name = real.and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()));
    let is_device = |name: &String| root.exists(&format!("/sys/class/block/{name}"));
    // `/dev/root` is nobody's name; the numbers are.
    name.filter(is_device).or_else(|| {
        let numbers = |name: &String| root.text(&format!("/sys/class/block/{name}/dev")).ok();
        let mut names = root.names("/sys/class/block").into_iter();
        names.find(|name| numbers(name).as_deref() == Some(&named.numbers))
    })
}

/// `36 35 98:0 /root /point options tags - ext4 /dev/sda options`.
fn read(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let numbers = fields.nth(2)?.to_owned();
    let point = fields.nth(1)?;
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    let source = plain(after.next()?);
    Some(Mount { numbers, point: PathBuf::from(plain(point)), kind, source })
}

/// White space and backslashes are written as three octal digits.
fn plain(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, what)| text.replace(code, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::Machine;

    #[test]
    fn the_device_of_a_folder() {
        let machine = Machine::new();
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
    fn a_line_with_a_space_in_its_path() {
        let mount = read("36 35 7:0 / /a\\040b rw,relatime shared:1 - ext4 /dev/loop0 rw").unwrap();
        assert_eq!(mount.point, PathBuf::from("/a b"));
        assert_eq!(mount.numbers, "7:0");
        assert_eq!((mount.kind.as_str(), mount.source.as_str()), ("ext4", "/dev/loop0"));
        assert_eq!(read("nonsense"), None);
    }
}

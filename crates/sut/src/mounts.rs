//! What is mounted where, from `/proc/self/mountinfo`.

use std::path::PathBuf;

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

    #[test]
    fn a_line_with_a_space_in_its_path() {
        let mount = read("36 35 7:0 / /a\\040b rw,relatime shared:1 - ext4 /dev/loop0 rw").unwrap();
        assert_eq!(mount.point, PathBuf::from("/a b"));
        assert_eq!(mount.numbers, "7:0");
        assert_eq!((mount.kind.as_str(), mount.source.as_str()), ("ext4", "/dev/loop0"));
        assert_eq!(read("nonsense"), None);
    }
}

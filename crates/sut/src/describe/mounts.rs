//! Mounted file systems and their options, from `/proc/self/mountinfo`.

use super::facts::Facts;

/// File systems that hold the kernel's own objects rather than a workload's data.
const PSEUDO: [&str; 20] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];

pub(super) fn describe(facts: &mut Facts<'_>) {
    match facts.root.text("/proc/self/mountinfo") {
        Ok(text) => {
            for mount in text.lines().filter_map(parse) {
                if !PSEUDO.contains(&mount.kind) {
                    facts.set(
                        format!("mount.{}", mount.target),
                        format!("{} {} {}", mount.kind, mount.source, mount.options()),
                    );
                }
            }
        }
        Err(e) => facts.unknown("mount", e.to_string()),
    }
}

/// One line of mountinfo.
pub(crate) struct Mount<'a> {
    /// Where it is mounted.
    pub target: String,
    /// The file system's type.
    pub kind: &'a str,
    /// What is mounted.
    pub source: String,
    here: &'a str,
    whole: &'a str,
}

impl Mount<'_> {
    /// The options of the mount, then those of the file system that are not among them.
    pub fn options(&self) -> String {
        let mut all: Vec<&str> = self.here.split(',').collect();
        all.extend(self.whole.split(',').filter(|o| !self.here.split(',').any(|h| h == *o)));
        all.join(",")
    }
}

/// Reads `36 35 98:0 /root /target rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=continue`.
pub(crate) fn parse(line: &str) -> Option<Mount<'_>> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (target, here) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (kind, source) = (right.next()?, right.next()?);
    let whole = right.next().unwrap_or_default();
    Some(Mount { target: unescape(target), kind, source: unescape(source), here, whole })
}

/// Undoes the kernel's octal escapes of blanks, tabs, newlines, backslashes (`\040`).
fn unescape(text: &str) -> String {
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

    #[test]
    fn a_line_with_blanks_in_its_names() {
        let m = parse(r"36 35 98:0 / /mnt/a\040b rw,noatime shared:1 - ext4 /dev/sda1 rw,discard")
            .unwrap();
        assert_eq!(m.target, "/mnt/a b");
        assert_eq!(m.kind, "ext4");
        assert_eq!(m.options(), "rw,noatime,discard");
        assert!(parse("nonsense").is_none());
    }

    proptest::proptest! {
        #[test]
        fn never_panics(line in "\\PC{0,60}( - )?\\PC{0,40}", name in "[\\\\0-9é]{0,12}") {
            let _ = parse(&line).map(|m| m.options());
            let _ = unescape(&name);
        }
    }
}

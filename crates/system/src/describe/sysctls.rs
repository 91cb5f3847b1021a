//! Describes every readable tunable below `/proc/sys`, in one pass.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::facts::Facts;
use crate::read::root::one_line;
use crate::read::sysctl_name::name_of;

/// Files that are left out because they count or identify something instead of tuning it, or
/// because they hold a secret. Paths below `/proc/sys`, where `*` matches any characters within
/// one name.
const LEFT_OUT: [&str; 21] = [
    "fs/*-nr",
    "fs/*-state",
    "fs/binfmt_misc/*",
    "fs/quota/*",
    "kernel/cap_last_cap",
    "kernel/hostname",
    "kernel/ns_last_pid",
    "kernel/pty/nr",
    "kernel/random/boot_id",
    "kernel/random/entropy_avail",
    "kernel/random/uuid",
    "kernel/seccomp/actions_avail",
    "kernel/spl/*",
    "kernel/tainted",
    "net/core/netdev_rss_key",
    "net/ipv4/tcp_fastopen_key",
    "net/ipv6/conf/*/stable_secret",
    "net/netfilter/nf_conntrack_count",
    "vm/stat_refresh",
    "sunrpc/transports",
    "*/*.stats",
];

/// Deeper trees do not exist; the limit prevents endless loops through links.
const MAX_DEPTH: usize = 12;

pub(super) fn describe(facts: &mut Facts<'_>) {
    let top = facts.root.path("/proc/sys");
    if !top.is_dir() {
        return facts.unknown("sysctl", "`/proc/sys` is not there on this kernel or machine");
    }
    let mut path = String::new();
    walk(facts, &top, &mut path, 0);
}

fn walk(facts: &mut Facts<'_>, dir: &Path, below: &mut String, depth: usize) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let length = below.len();
        if length > 0 {
            below.push('/');
        }
        below.push_str(&entry.file_name().to_string_lossy());
        if kind.is_dir() && depth < MAX_DEPTH {
            walk(facts, &entry.path(), below, depth + 1);
        } else if kind.is_file() && !LEFT_OUT.iter().any(|pattern| matches(pattern, below)) {
            read(facts, &entry, below);
        }
        below.truncate(length);
    }
}

fn read(facts: &mut Facts<'_>, entry: &fs::DirEntry, below: &str) {
    // Files that only accept a command (`vm.compact_memory`) have no state to describe.
    if entry.metadata().is_ok_and(|m| m.permissions().mode() & 0o444 == 0) {
        return;
    }
    let value = facts.root.text(&format!("/proc/sys/{below}")).map(|t| one_line(&t));
    facts.put(format!("sysctl.{}", name_of(below)), value);
}

/// True if `path` matches `pattern`, name by name.
fn matches(pattern: &str, path: &str) -> bool {
    let mut wanted = pattern.split('/');
    let mut names = path.split('/');
    loop {
        match (wanted.next(), names.next()) {
            (None, None) => return true,
            (Some(w), Some(n)) if name_matches(w, n) => {}
            _ => return false,
        }
    }
}

fn name_matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((head, tail)) => {
            name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stay_within_a_name() {
        assert!(matches("fs/*-nr", "fs/file-nr"));
        assert!(!matches("fs/*-nr", "fs/nfs/file-nr"));
        assert!(matches("net/ipv6/conf/*/stable_secret", "net/ipv6/conf/eth0/stable_secret"));
        assert!(!matches("kernel/random/uuid", "kernel/random/uuid2"));
        assert!(!name_matches("ab*ba", "aba"));
    }
}

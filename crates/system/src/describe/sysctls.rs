//! Describes every readable tunable below `/proc/sys`, in one pass.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use assay_model::Fact;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::pread;
use rustix::path::Arg;

use super::facts::Facts;
use crate::Root;
use crate::read::root::{Unreadable, one_line};
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

/// Folders of the same tunables for each network interface, of which only those for all and for new
/// ones are described. Interfaces come and go with containers, and some machines have hundreds.
const OF_INTERFACES: [&str; 2] = ["net/*/conf/*", "net/*/neigh/*"];

/// Deeper trees do not exist; the limit prevents endless loops through links.
const MAX_DEPTH: usize = 12;

pub(super) fn describe(root: &Root) -> BTreeMap<String, Fact> {
    let mut facts = Facts::new(root);
    match open(CWD, root.path("/proc/sys").as_os_str(), OFlags::DIRECTORY) {
        Ok(top) => walk(&mut facts, top, &mut String::new(), 0),
        Err(_) => facts.unknown("sysctl", "`/proc/sys` is not there on this kernel or machine"),
    }
    facts.into_map()
}

/// Describes the files in a folder and below it. They are opened by their name in the folder, since
/// the kernel needs twice as long for the whole path, and there are thousands.
fn walk(facts: &mut Facts<'_>, dir: OwnedFd, below: &mut String, depth: usize) {
    let Ok(mut entries) = Dir::new(dir) else { return };
    while let Some(Ok(entry)) = entries.read() {
        let Ok(dir) = entries.fd() else { return };
        let (name, length) = (entry.file_name(), below.len());
        if length > 0 {
            below.push('/');
        }
        below.push_str(&name.to_string_lossy());
        match entry.file_type() {
            FileType::Directory if depth < MAX_DEPTH && is_described(name, below) => {
                _ = open(dir, name, OFlags::DIRECTORY)
                    .map(|dir| walk(facts, dir, below, depth + 1));
            }
            FileType::RegularFile if !LEFT_OUT.iter().any(|pattern| matches(pattern, below)) => {
                read(facts, dir, name, below);
            }
            _ => {}
        }
        below.truncate(length);
    }
}

fn is_described(name: &CStr, below: &str) -> bool {
    let of_interface = OF_INTERFACES.iter().any(|pattern| matches(pattern, below));
    name != c"." && name != c".." && (!of_interface || name == c"all" || name == c"default")
}

fn read(facts: &mut Facts<'_>, dir: BorrowedFd<'_>, name: &CStr, below: &str) {
    let mode = || statat(dir, name, AtFlags::empty()).map_or(0o444, |stat| stat.st_mode);
    let value = match open(dir, name, OFlags::empty()).and_then(|file| read_at_once(&file)) {
        Ok(bytes) => Ok(one_line(&String::from_utf8_lossy(&bytes))),
        // Files that only accept a command (`vm.compact_memory`) have no state to describe.
        Err(e) if e.kind() == ErrorKind::PermissionDenied && mode() & 0o444 == 0 => return,
        Err(source) => Err(Unreadable { path: format!("/proc/sys/{below}"), source }),
    };
    facts.put(format!("sysctl.{}", name_of(below)), value);
}

/// Reads a tunable by a single call, since most end after their first read.
fn read_at_once(file: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 500];
    loop {
        let length = pread(file, &mut bytes, 0)?;
        if length < bytes.len() {
            bytes.truncate(length);
            return Ok(bytes);
        }
        bytes.resize(8 * length, 0);
    }
}

fn open(dir: impl AsFd, name: impl Arg, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(openat(dir, name, OFlags::RDONLY | OFlags::CLOEXEC | flags, Mode::empty())?)
}

/// True if `path` matches `pattern`, name by name.
fn matches(pattern: &str, path: &str) -> bool {
    if !pattern.starts_with('*') && pattern.as_bytes().first() != path.as_bytes().first() {
        return false; // most do, and there are thousands of paths
    }
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

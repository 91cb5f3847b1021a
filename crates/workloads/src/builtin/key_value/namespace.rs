//! A network namespace for the server, connected to the machine's network by a veth pair.
//!
//! The namespace has no name and lives as long as a process is in it. The veth pair ends in it and
//! is removed with it. So nothing needs to be restored: when the server ends, for whatever reason,
//! the kernel removes both.
#![allow(unsafe_code)] // rustix marks unshare(2) as unsafe because of a flag that is not used here

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

use assay_system::Root;
use rustix::process::{getpid, getppid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::declare::wrong;
use crate::driver::program::need;
use crate::failure::Result;
use crate::{Failure, WorkloadError};

/// Addresses of the veth pair: a /30 network from 198.18.0.0/15, which RFC 2544 reserves for
/// benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cable {
    /// Address of the machine's end.
    pub host: Ipv4Addr,
    /// Address of the server's end.
    pub server: Ipv4Addr,
    /// Process that owns the pair; part of the interface name.
    process: u32,
}

impl Cable {
    fn new(process: u32) -> Self {
        let net = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + (process % (1 << 15)) * 4;
        Cable { host: (net + 1).into(), server: (net + 2).into(), process }
    }

    fn interface(self) -> String {
        format!("assay{}", self.process)
    }
}

/// Checks that this user may create a network namespace, by trying it on a temporary thread.
/// Changes nothing.
///
/// # Errors
/// Fails if the user may not, or if ip(8) is missing.
pub fn check() -> Result<(), WorkloadError> {
    let what = "`ip`, which sets up `network = \"namespace\"`,";
    need("ip", what, "install the Debian package iproute2")?;
    match std::thread::spawn(unshare).join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(e)) => Err(wrong(format!(
            "`network = \"namespace\"` needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN): {e}; run as \
             root outside of containers, or use `network = \"loopback\"`"
        ))),
        Err(_) => Err(wrong("cannot try a network namespace")),
    }
}

fn unshare() -> std::io::Result<()> {
    // SAFETY: of the flags, only CLONE_FILES breaks Rust's assumptions on file descriptors, and it
    // is not set.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(Into::into)
}

/// Calls `start` on this thread inside a new network namespace with the machine's tunables, then
/// moves the thread back. Processes that `start` spawns stay inside. Returns the result of `start`,
/// the addresses, and notes for the record.
///
/// # Errors
/// Returns [`Failure::Other`] or the failure of `start`. The thread is moved back in every case.
pub fn inside<T>(start: impl FnOnce(&Cable) -> Result<T>) -> Result<(T, Cable, Vec<String>)> {
    let cable = Cable::new(getpid().as_raw_nonzero().get() as u32);
    let home = File::open("/proc/thread-self/ns/net").map_err(network("find the machine's own"))?;
    let tunables = tunables();
    unshare().map_err(network("make it (root is needed)"))?;
    let back = NamespaceGuard(home);
    // Keeps the namespace alive until the veth pair is set up, even if a process that was started
    // in it ends at once.
    let _held = File::open("/proc/thread-self/ns/net").map_err(network("hold it"))?;
    let notes = prepare(&cable, &tunables)?;
    let started = start(&cable)?;
    back.go()?;
    let name = cable.interface();
    ip(&["addr", "add", &format!("{}/30", cable.host), "dev", &name])?;
    ip(&["link", "set", &name, "up"])?;
    Ok((started, cable, notes))
}

/// Moves the thread back to the machine's network, at the latest when dropped.
struct NamespaceGuard(File);

impl NamespaceGuard {
    fn go(&self) -> Result<()> {
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|e| network("come back from it")(e.into()))
    }
}

impl Drop for NamespaceGuard {
    fn drop(&mut self) {
        // On failure the trial ends with an error, and the thread no longer uses a network.
        let _ = self.go();
    }
}

/// Creates the veth pair and sets the tunables, from inside the namespace.
fn prepare(cable: &Cable, machine: &BTreeMap<String, String>) -> Result<Vec<String>> {
    // The other end goes to the namespace of the parent process, which is still the machine's.
    let parent = getppid().map_or(1, |p| p.as_raw_nonzero().get()).to_string();
    let name = cable.interface();
    ip(&[
        "link", "add", "name", "cable0", "type", "veth", "peer", "name", &name, "netns", &parent,
    ])?;
    ip(&["addr", "add", &format!("{}/30", cable.server), "dev", "cable0"])?;
    ip(&["link", "set", "cable0", "up"])?;
    ip(&["link", "set", "lo", "up"])?;
    let mut notes = vec![format!(
        "the server had a network of its own, {} to {} over veth, with the machine's tunables",
        cable.host, cable.server
    )];
    let other = apply(machine);
    if !other.is_empty() {
        notes.push(format!(
            "these tunables of the server's network could not be made the machine's: {}",
            other.join(", ")
        ));
    }
    Ok(notes)
}

/// Folders of tunables that each network namespace has separately.
const FOLDERS: [&str; 2] = ["/proc/sys/net/core", "/proc/sys/net/ipv4"];

/// Returns the tunables of this thread's network namespace.
fn tunables() -> BTreeMap<String, String> {
    let files = FOLDERS.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten();
    files
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let set = entry.metadata().is_ok_and(|m| m.is_file() && m.mode() & 0o200 != 0);
            // Keys are secrets that the kernel draws for each namespace.
            set && !name.ends_with("_key")
        })
        .filter_map(|entry| {
            let path = entry.path().display().to_string();
            let value = Root::system().text(&path).ok()?;
            Some((path, value))
        })
        .collect()
}

/// Sets the tunables in this thread's network namespace. Returns those that exist there but could
/// not be set.
fn apply(wanted: &BTreeMap<String, String>) -> Vec<String> {
    let mut other = Vec::new();
    for (path, now) in tunables() {
        let Some(value) = wanted.get(&path).filter(|value| **value != now) else { continue };
        if fs::write(&path, value).is_err()
            || Root::system().text(&path).ok().as_ref() != Some(value)
        {
            other.push(path.trim_start_matches("/proc/sys/").replace('/', "."));
        }
    }
    other
}

fn ip(arguments: &[&str]) -> Result<()> {
    let line = || format!("ip {}", arguments.join(" "));
    let out = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let out =
        out.map_err(|e| failed(&line(), format!("{e}; install the Debian package iproute2")))?;
    if out.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    Err(failed(&line(), message))
}

fn network(what: &str) -> impl FnOnce(std::io::Error) -> Failure {
    let what = what.to_owned();
    move |e| failed(&what, e)
}

fn failed(what: &str, detail: impl Display) -> Failure {
    Failure::other(format!("the network namespace: {what}: {detail}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_process_has_its_own_four_addresses() {
        let cable = Cable::new(1);
        assert_eq!(cable.host, Ipv4Addr::new(198, 18, 0, 5));
        assert_eq!(cable.server, Ipv4Addr::new(198, 18, 0, 6));
        let last = Cable::new((1 << 22) - 1);
        assert_eq!(last.server, Ipv4Addr::new(198, 19, 255, 254));
        assert!(last.interface().len() <= 15);
    }

    #[test]
    fn a_thread_goes_in_and_comes_back_and_nothing_stays() {
        if let Err(e) = check() {
            println!("skipped: because {e}");
            return;
        }
        let here = || fs::read_link("/proc/thread-self/ns/net").unwrap();
        let before = here();
        let (seen, cable, notes) = inside(|cable| {
            assert!(Path::new("/sys/class/net").exists());
            let timestamps = fs::read_to_string("/proc/sys/net/ipv4/tcp_timestamps").unwrap();
            assert_ne!(here(), before);
            Ok((timestamps, cable.server))
        })
        .unwrap();
        assert_eq!(here(), before);
        assert_eq!(seen.1, cable.server);
        assert_eq!(seen.0, fs::read_to_string("/proc/sys/net/ipv4/tcp_timestamps").unwrap());
        assert!(notes[0].contains("198.1"), "{notes:?}");
        // No process is inside any more; the kernel removes the namespace in the background.
        let interface = format!("/sys/class/net/{}", cable.interface());
        let began = std::time::Instant::now();
        while Path::new(&interface).exists() && began.elapsed().as_secs() < 30 {
            std::thread::yield_now();
        }
        assert!(!Path::new(&interface).exists(), "{interface} is still there");
    }
}

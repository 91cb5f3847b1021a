//! Accounting data of the kernel over netlink (taskstats). A query for a thread or a process
//! returns run time, waits and context switches in one response, without reading `/proc`. A
//! subscription reports the peak memory of each process as it exits.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};

/// Message types and attributes of generic netlink (linux/genetlink.h, linux/taskstats.h).
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TASKSTATS_CMD_GET: u8 = 1;
const REGISTER_CPUMASK: u16 = 3;
const OF_THREAD: u16 = 1;
const OF_PROCESS: u16 = 2;
const TYPE_STATS: u16 = 3;
const AGGREGATE_OF_THREAD: u16 = 4;
const AGGREGATE_OF_PROCESS: u16 = 5;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const HEADERS: usize = 20;
/// A version that moved fields; earlier and later versions have them at the same offsets.
const MOVED: u16 = 15;
/// The first version with all fields that are read here.
const OLDEST: u16 = 9;
/// Size of the receive buffer in bytes, enough for about 3,000 reports.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Accounting data of a task since its start: nanoseconds and counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskAccounting {
    /// Time on a CPU.
    pub run_ns: u64,
    /// Time ready to run but waiting for a CPU.
    pub cpu_wait_ns: u64,
    /// Time waiting for block I/O.
    pub disk_ns: u64,
    /// Time for swap-in, memory reclaim, thrashing and compaction, as far as the kernel reports it.
    pub memory_ns: u64,
    /// Context switches because the task blocked.
    pub voluntary: u64,
    /// Context switches because the task was preempted.
    pub involuntary: u64,
}

/// Report on a task that exited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExitedTask {
    pid: u32,
    parent: u32,
    peak_bytes: u64,
}

/// A netlink connection to the kernel's taskstats.
#[derive(Debug)]
pub struct Taskstats {
    socket: OwnedFd,
    family: u16,
    sequence: u32,
    buffer: Vec<u8>,
}

/// Reason why taskstats cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskstatsError {
    #[error("the kernel has no taskstats (CONFIG_TASKSTATS)")]
    Missing,
    #[error("the kernel has no taskstats (CONFIG_TASKSTATS): {0}")]
    NoAnswer(io::Error),
    #[error("taskstats needs the capability CAP_NET_ADMIN")]
    NotPermitted,
    /// A query of the kernel failed.
    #[error("{query}: {source}")]
    Failed { query: &'static str, source: io::Error },
}

impl TaskstatsError {
    fn failed<E: Into<io::Error>>(query: &'static str) -> impl FnOnce(E) -> Self {
        move |source| TaskstatsError::Failed { query, source: source.into() }
    }
}

impl Taskstats {
    /// Connects and makes a test query for this process.
    ///
    /// # Errors
    /// The kernel lacks taskstats, or this process may not use it (CAP_NET_ADMIN).
    pub fn open() -> Result<Self, TaskstatsError> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::GENERIC),
        )
        .map_err(TaskstatsError::failed("netlink"))?;
        let mut all =
            Taskstats { socket, family: GENL_ID_CTRL, sequence: 0, buffer: vec![0; 8192] };
        let answer = all
            .ask(CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0")
            .map_err(TaskstatsError::NoAnswer)?;
        let id = attribute(answer, CTRL_ATTR_FAMILY_ID).and_then(|b| b.get(..2));
        let id = id.and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        all.family = id.ok_or(TaskstatsError::Missing)?;
        match all.query(OF_PROCESS, std::process::id()) {
            Ok(_) => Ok(all),
            Err(e) if e.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
                Err(TaskstatsError::NotPermitted)
            }
            Err(e) => Err(TaskstatsError::failed("taskstats")(e)),
        }
    }

    /// Queries a single thread.
    ///
    /// # Errors
    /// If the thread has exited, or if the response is invalid.
    pub fn thread(&mut self, tid: u32) -> io::Result<TaskAccounting> {
        self.query(OF_THREAD, tid)
    }

    /// Queries the sum over all living threads of a process.
    ///
    /// # Errors
    /// If the process has exited, or if the response is invalid.
    pub fn process(&mut self, pid: u32) -> io::Result<TaskAccounting> {
        self.query(OF_PROCESS, pid)
    }

    fn query(&mut self, what: u16, id: u32) -> io::Result<TaskAccounting> {
        let aggregate = if what == OF_THREAD { AGGREGATE_OF_THREAD } else { AGGREGATE_OF_PROCESS };
        let answer = self.ask(TASKSTATS_CMD_GET, what, &id.to_ne_bytes())?;
        let stats = attribute(answer, aggregate).and_then(|inner| attribute(inner, TYPE_STATS));
        let unknown = || io::Error::other("cannot parse the kernel's answer");
        parse(stats.ok_or_else(unknown)?).ok_or_else(unknown)
    }

    /// Connects and subscribes to a report on every task that exits from now on.
    ///
    /// # Errors
    /// As for [`Taskstats::open`]; also if this process is not in the initial PID namespace.
    pub fn listen() -> Result<Self, TaskstatsError> {
        let mut all = Taskstats::open()?;
        let listen = |all: &mut Taskstats| {
            let cpus = std::fs::read_to_string("/sys/devices/system/cpu/possible")?;
            let cpus = [cpus.trim().as_bytes(), b"\0"].concat();
            sockopt::set_socket_recv_buffer_size_force(&all.socket, RECEIVE_BUFFER)?;
            all.request(NLM_F_REQUEST | NLM_F_ACK, TASKSTATS_CMD_GET, REGISTER_CPUMASK, &cpus)?;
            rustix::io::ioctl_fionbio(&all.socket, true)?;
            io::Result::Ok(())
        };
        listen(&mut all).map_err(TaskstatsError::failed("taskstats of ending tasks"))?;
        Ok(all)
    }

    /// Returns the largest peak memory in bytes among `root` and its descendants, of the tasks that
    /// exited since the last call; `None` if `root` is not among them or reports were lost.
    pub fn peak_memory(&mut self, root: u32) -> Option<u64> {
        peak_of_tree(root, &self.exits()?)
    }

    /// Like [`Taskstats::peak_memory`], of the children of `parent` and their descendants.
    pub fn peak_memory_below(&mut self, parent: u32) -> Option<u64> {
        let exits = self.exits()?;
        let children = exits.iter().filter(|exit| exit.parent == parent);
        children.filter_map(|child| peak_of_tree(child.pid, &exits)).max()
    }

    /// Returns the tasks that exited since the last call; `None` if reports were lost.
    fn exits(&mut self) -> Option<Vec<ExitedTask>> {
        let (mut exits, mut lost) = (Vec::new(), false);
        loop {
            match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((n, _)) => exits.extend(self.buffer.get(HEADERS..n).and_then(exited)),
                Err(Errno::INTR) => {}
                // More tasks exited than the buffer holds.
                Err(Errno::NOBUFS) => lost = true,
                Err(_) => break,
            }
        }
        (!lost).then_some(exits)
    }

    /// Sends one attribute and returns the response's attributes.
    fn ask(&mut self, command: u8, kind: u16, value: &[u8]) -> io::Result<&[u8]> {
        self.request(NLM_F_REQUEST, command, kind, value)
    }

    fn request(&mut self, flags: u16, command: u8, kind: u16, value: &[u8]) -> io::Result<&[u8]> {
        self.sequence = self.sequence.wrapping_add(1);
        let padded = value.len().next_multiple_of(4);
        let mut message = Vec::with_capacity(HEADERS + 4 + padded);
        message.extend(((HEADERS + 4 + padded) as u32).to_ne_bytes());
        message.extend(self.family.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend(self.sequence.to_ne_bytes());
        message.extend(0u32.to_ne_bytes());
        message.extend([command, 1, 0, 0]);
        message.extend(((4 + value.len()) as u16).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(value);
        message.resize(HEADERS + 4 + padded, 0);
        send(&self.socket, &message, SendFlags::empty())?;
        loop {
            let (n, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            let head = |at: usize| self.buffer.get(at..at + 4).and_then(|b| b.try_into().ok());
            // The response to an earlier query that was abandoned.
            if n < HEADERS || head(8).map(u32::from_ne_bytes) != Some(self.sequence) {
                continue;
            }
            let kind = u16::from_ne_bytes([self.buffer[4], self.buffer[5]]);
            if kind == NLMSG_ERROR {
                return match head(16).map_or(0, i32::from_ne_bytes) {
                    0 => Ok(&[]),
                    code => Err(io::Error::from_raw_os_error(-code)),
                };
            }
            return Ok(&self.buffer[HEADERS..n]);
        }
    }
}

/// Returns the value of an attribute.
fn attribute(mut all: &[u8], wanted: u16) -> Option<&[u8]> {
    while all.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([all[0], all[1]]));
        let kind = u16::from_ne_bytes([all[2], all[3]]);
        let value = all.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        all = all.get(length.next_multiple_of(4)..)?;
    }
    None
}

/// Returns the largest peak of a process and its descendants, as identified by the parents in the
/// reports.
fn peak_of_tree(root: u32, exits: &[ExitedTask]) -> Option<u64> {
    let (mut tree, mut peak) = (BTreeSet::from([root]), None);
    // A parent exits after the children that it waited for, so one backward pass finds them all.
    for e in exits.iter().rev() {
        if tree.contains(&e.pid) || tree.contains(&e.parent) {
            tree.insert(e.pid);
            peak = peak.max(Some(e.peak_bytes));
        }
    }
    exits.iter().any(|e| e.pid == root).then_some(peak).flatten()
}

/// Parses the report on a task that exited.
fn exited(report: &[u8]) -> Option<ExitedTask> {
    let stats = attribute(attribute(report, AGGREGATE_OF_THREAD)?, TYPE_STATS)?;
    version(stats)?;
    let half =
        |place: usize| Some(u32::from_ne_bytes(stats.get(place..place + 4)?.try_into().ok()?));
    Some(ExitedTask { pid: half(128)?, parent: half(132)?, peak_bytes: at(stats, 200)? * 1024 })
}

/// Returns the version of a `struct taskstats` if its fields are at the offsets used here.
fn version(stats: &[u8]) -> Option<u16> {
    let version = u16::from_ne_bytes(stats.get(..2)?.try_into().ok()?);
    (version >= OLDEST && version != MOVED).then_some(version)
}

fn at(stats: &[u8], place: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(stats.get(place..place + 8)?.try_into().ok()?))
}

/// Parses `struct taskstats`; `None` for a version with other offsets.
fn parse(stats: &[u8]) -> Option<TaskAccounting> {
    let version = version(stats)?;
    let at = |place: usize| at(stats, place);
    // Compaction is reported from version 11 on.
    let compaction = if version >= 11 { at(360)? } else { 0 };
    Some(TaskAccounting {
        run_ns: at(72)?,
        cpu_wait_ns: at(24)?,
        disk_ns: at(40)?,
        memory_ns: at(56)? + at(320)? + at(336)? + compaction,
        voluntary: at(272)?,
        involuntary: at(280)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_taken_apart_and_others_refused() {
        let mut stats = vec![0u8; 560];
        stats[0] = 16;
        stats[24..32].copy_from_slice(&7u64.to_ne_bytes());
        stats[56..64].copy_from_slice(&1u64.to_ne_bytes());
        stats[360..368].copy_from_slice(&2u64.to_ne_bytes());
        let seen = parse(&stats).unwrap();
        assert_eq!((seen.cpu_wait_ns, seen.memory_ns), (7, 3));
        stats[0] = 15;
        assert_eq!(parse(&stats), None);
        assert_eq!(parse(&[16, 0, 0]), None);
        for broken in [&[][..], &[1], &[0, 0, 1, 0], &[255, 0, 1, 0, 9]] {
            assert_eq!(attribute(broken, 2), None);
        }
        assert_eq!(attribute(&[5, 0, 9, 0, 1, 0, 0, 0, 6, 0, 2, 0, 3, 4], 2), Some(&[3, 4][..]));
    }

    #[test]
    fn a_peak_is_that_of_the_root_and_its_descendants() {
        let exit = |pid, parent, peak_bytes| ExitedTask { pid, parent, peak_bytes };
        let exits = [exit(12, 11, 900), exit(50, 1, 5000), exit(11, 10, 300), exit(10, 1, 400)];
        assert_eq!(peak_of_tree(10, &exits), Some(900));
        assert_eq!(peak_of_tree(11, &exits), Some(900));
        assert_eq!(peak_of_tree(50, &exits), Some(5000));
        assert_eq!(peak_of_tree(13, &exits), None);
        assert_eq!(exited(&[0; 40]), None);
    }

    #[test]
    fn this_process() {
        match Taskstats::open() {
            Ok(mut stats) => {
                let own = stats.process(std::process::id()).unwrap();
                assert!(own.run_ns > 0, "{own:?}");
                assert!(stats.thread(u32::MAX / 2).is_err());
                // A query that failed must not leave a response for the next one.
                assert!(stats.process(std::process::id()).unwrap().run_ns >= own.run_ns);
            }
            Err(why) => println!("skipped: because {why}"),
        }
    }
}

//! What the kernel accounts of one thread, or of a process, asked by netlink (taskstats): run time, waits and
//! switches in one answer, without a file of `/proc`.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// Message types and attributes of generic netlink (linux/genetlink.h, linux/taskstats.h).
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TASKSTATS_CMD_GET: u8 = 1;
const OF_THREAD: u16 = 1;
const OF_PROCESS: u16 = 2;
const TYPE_STATS: u16 = 3;
const AGGREGATE_OF_THREAD: u16 = 4;
const AGGREGATE_OF_PROCESS: u16 = 5;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const HEADERS: usize = 20;
/// This version moved fields; those before and after it have them at the same places.
const MOVED: u16 = 15;
/// The first version with all fields that are read here.
const OLDEST: u16 = 9;

/// What is accounted, nanoseconds and counts since the task began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Accounted {
    pub run_ns: u64,
    pub cpu_wait_ns: u64,
    /// Block I/O.
    pub disk_ns: u64,
    /// Swapping in, freeing pages, thrashing, compaction as far as the kernel tells.
    pub memory_ns: u64,
    pub voluntary: u64,
    pub involuntary: u64,
}

/// A connection to the kernel.
#[derive(Debug)]
pub(super) struct Taskstats {
    socket: OwnedFd,
    family: u16,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Taskstats {
    /// Connects and tries it on this process.
    ///
    /// # Errors
    /// The kernel does not have it, or this process may not ask (CAP_NET_ADMIN), as a sentence.
    pub fn open() -> Result<Self, String> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::GENERIC),
        )
        .map_err(|e| format!("netlink: {e}"))?;
        let mut all =
            Taskstats { socket, family: GENL_ID_CTRL, sequence: 0, buffer: vec![0; 8192] };
        let missing = |e: io::Error| format!("the kernel has no taskstats (CONFIG_TASKSTATS): {e}");
        let answer =
            all.ask(CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"TASKSTATS\0").map_err(missing)?;
        let id = attribute(answer, CTRL_ATTR_FAMILY_ID).and_then(|b| b.get(..2));
        let id = id.and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        all.family =
            id.ok_or_else(|| "the kernel has no taskstats (CONFIG_TASKSTATS)".to_owned())?;
        match all.of(OF_PROCESS, std::process::id()) {
            Ok(_) => Ok(all),
            Err(e) if e.raw_os_error() == Some(rustix::io::Errno::PERM.raw_os_error()) => {
                Err("taskstats needs the capability CAP_NET_ADMIN".to_owned())
            }
            Err(e) => Err(format!("taskstats: {e}")),
        }
    }

    /// Of a thread.
    ///
    /// # Errors
    /// It is gone, or the answer is none.
    pub fn thread(&mut self, tid: u32) -> io::Result<Accounted> {
        self.of(OF_THREAD, tid)
    }

    /// Of all threads of a process that are there.
    ///
    /// # Errors
    /// It is gone, or the answer is none.
    pub fn process(&mut self, pid: u32) -> io::Result<Accounted> {
        self.of(OF_PROCESS, pid)
    }

    fn of(&mut self, what: u16, id: u32) -> io::Result<Accounted> {
        let aggregate = if what == OF_THREAD { AGGREGATE_OF_THREAD } else { AGGREGATE_OF_PROCESS };
        let answer = self.ask(TASKSTATS_CMD_GET, what, &id.to_ne_bytes())?;
        let stats = attribute(answer, aggregate).and_then(|inner| attribute(inner, TYPE_STATS));
        let unknown = || io::Error::other("an answer that is not understood");
        parse(stats.ok_or_else(unknown)?).ok_or_else(unknown)
    }

    /// Sends one attribute and returns those of the answer.
    fn ask(&mut self, command: u8, kind: u16, value: &[u8]) -> io::Result<&[u8]> {
        self.sequence = self.sequence.wrapping_add(1);
        let padded = value.len().next_multiple_of(4);
        let mut message = Vec::with_capacity(HEADERS + 4 + padded);
        message.extend(((HEADERS + 4 + padded) as u32).to_ne_bytes());
        message.extend(self.family.to_ne_bytes());
        message.extend(NLM_F_REQUEST.to_ne_bytes());
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
            // An answer to a question before it, whose own was given up.
            if n < HEADERS || head(8).map(u32::from_ne_bytes) != Some(self.sequence) {
                continue;
            }
            let kind = u16::from_ne_bytes([self.buffer[4], self.buffer[5]]);
            if kind == NLMSG_ERROR {
                let code = head(16).map_or(0, i32::from_ne_bytes);
                return Err(io::Error::from_raw_os_error(-code));
            }
            return Ok(&self.buffer[HEADERS..n]);
        }
    }
}

/// The value of an attribute among some.
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

/// Reads `struct taskstats`; `None`: a version with other places.
fn parse(stats: &[u8]) -> Option<Accounted> {
    let version = u16::from_ne_bytes(stats.get(..2)?.try_into().ok()?);
    if version < OLDEST || version == MOVED {
        return None;
    }
    let at = |place: usize| {
        let bytes = stats.get(place..place + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    // Compaction is reported from version 11 on.
    let compaction = if version >= 11 { at(360)? } else { 0 };
    Some(Accounted {
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
    fn this_process() {
        match Taskstats::open() {
            Ok(mut stats) => {
                let own = stats.process(std::process::id()).unwrap();
                assert!(own.run_ns > 0, "{own:?}");
                assert!(stats.thread(u32::MAX / 2).is_err());
                // An error does not leave an answer for the next question.
                assert!(stats.process(std::process::id()).unwrap().run_ns >= own.run_ns);
            }
            Err(why) => println!("skipped: because {why}"),
        }
    }
}

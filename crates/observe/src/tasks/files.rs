//! Files of `/proc` that describe one task, each read at most once per tick into a reused buffer.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::sampling::scan::{WordIter, keyed, number, numbers};

/// Selected fields of `/proc/PID/stat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    pub program: String,
    pub state: char,
    pub parent: u32,
    /// Id of the process group.
    pub group: u32,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub threads: u32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    pub resident_pages: u64,
}

/// Parses `stat` of a process or thread; returns `None` if the text is malformed.
pub(super) fn parse_stat(text: &[u8]) -> Option<Stat> {
    // The name may hold any character, including brackets and blanks; the fields after it do not.
    let open = text.iter().position(|b| *b == b'(')?;
    let close = text.iter().rposition(|b| *b == b')')?;
    let program = String::from_utf8_lossy(text.get(open + 1..close)?).into_owned();
    let mut words = WordIter::new(text.get(close + 1..)?);
    let state = char::from(*words.next()?.first()?);
    // Numbers from the fourth field on.
    let fields: Vec<u64> = words.map(|w| number(w).unwrap_or(0)).take(21).collect();
    let field = |n: usize| fields.get(n - 4).copied();
    Some(Stat {
        program,
        state,
        parent: field(4)? as u32,
        group: field(5)? as u32,
        minor_faults: field(10)?,
        major_faults: field(12)?,
        user_ticks: field(14)?,
        system_ticks: field(15)?,
        threads: field(20)? as u32,
        start_ticks: field(22)?,
        resident_pages: field(24)?,
    })
}

/// Reader of files below one `proc`.
#[derive(Debug)]
pub(super) struct ProcFiles {
    proc: PathBuf,
    buffer: Vec<u8>,
}

impl ProcFiles {
    pub fn new(root: &Path) -> Self {
        ProcFiles { proc: root.join("proc"), buffer: vec![0; 8192] }
    }

    /// Reads the beginning of a file, which holds all that is needed of it.
    fn read(&mut self, name: &str) -> Option<&[u8]> {
        let mut file = File::open(self.proc.join(name)).ok()?;
        let n = file.read(&mut self.buffer).ok()?;
        Some(&self.buffer[..n])
    }

    /// Returns the folder of a process, or of one of its threads, relative to `proc`.
    fn folder(pid: u32, tid: Option<u32>) -> String {
        tid.map_or_else(|| pid.to_string(), |tid| format!("{pid}/task/{tid}"))
    }

    pub fn stat(&mut self, pid: u32, tid: Option<u32>) -> Option<Stat> {
        parse_stat(self.read(&format!("{}/stat", Self::folder(pid, tid)))?)
    }

    /// Returns the bytes read from and written to storage; `None` if the process is another user's
    /// or I/O is not accounted.
    pub fn io(&mut self, pid: u32, tid: Option<u32>) -> Option<[u64; 2]> {
        let text = self.read(&format!("{}/io", Self::folder(pid, tid)))?;
        let [read, written] = keyed(text, &[&b"read_bytes:"[..], b"write_bytes:"]);
        Some([read?, written?])
    }

    /// Returns the nanoseconds that one thread spent on a CPU and waiting for one; `None` if they
    /// are not accounted.
    pub fn schedstat(&mut self, pid: u32, tid: Option<u32>) -> Option<[u64; 2]> {
        let text = self.read(&format!("{}/schedstat", Self::folder(pid, tid)))?;
        let [run, wait] = WordIter::new(text).numbers();
        Some([run?, wait?])
    }

    /// Returns the voluntary and involuntary context switches of one thread.
    pub fn switches(&mut self, pid: u32, tid: Option<u32>) -> Option<[u64; 2]> {
        let text = self.read(&format!("{}/status", Self::folder(pid, tid)))?;
        let keys = [&b"voluntary_ctxt_switches:"[..], b"nonvoluntary_ctxt_switches:"];
        let [voluntary, involuntary] = keyed(text, &keys);
        Some([voluntary?, involuntary?])
    }

    /// Returns the ids of all processes.
    pub fn processes(&self) -> Vec<u32> {
        numbers(&self.proc)
    }

    /// Returns the thread ids of a process.
    pub fn threads(&self, pid: u32) -> Vec<u32> {
        numbers(self.proc.join(format!("{pid}/task")))
    }

    /// Returns true if the kernel accounts the waits of tasks (delay accounting).
    pub fn accounts_delays(&mut self) -> bool {
        if let Some(on) = self.read("sys/kernel/task_delayacct").map(<[u8]>::trim_ascii) {
            return on == b"1";
        }
        // Before Linux 5.14, delay accounting was on unless disabled on the kernel command line.
        let line = self.read("cmdline").unwrap_or_default();
        !line.split(u8::is_ascii_whitespace).any(|w| w == b"nodelayacct")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_brackets_and_blanks() {
        let text = b"1234 (a) b (c) R 7 1 1 0 -1 4194304 99 0 3 0 50 20 0 0 20 0 4 0 262902 \
            3133440 418 9\n";
        let stat = parse_stat(text).unwrap();
        assert_eq!((stat.program.as_str(), stat.state, stat.parent), ("a) b (c", 'R', 7));
        assert_eq!(stat.group, 1);
        assert_eq!((stat.minor_faults, stat.major_faults), (99, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks, stat.threads), (50, 20, 4));
        assert_eq!((stat.start_ticks, stat.resident_pages), (262_902, 418));
        for broken in [&b""[..], b"1 (x", b"1 x) R", b"1 (x) ", b"1 (x) R 1 2"] {
            assert_eq!(parse_stat(broken), None);
        }
    }
}

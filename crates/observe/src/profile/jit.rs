//! Code that a program makes while it runs, by the file in which it says what is where:
//! `/tmp/perf-PID.map` (Java, Node, Python).

use std::collections::HashMap;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::time::SystemTime;

/// A larger file is not read.
const MOST: u64 = 256 << 20;

/// Start, end, name; a map has them by start.
type Symbol = (u64, u64, String);

/// The files of processes, read when they are asked for.
#[derive(Debug)]
pub(super) struct JitMaps {
    since: SystemTime,
    /// `None`: there is no file of this run.
    maps: HashMap<u32, Option<Vec<Symbol>>>,
}

impl JitMaps {
    /// Files that were written before `since` are another process's of the same number.
    pub fn new(since: SystemTime) -> Self {
        JitMaps { since, maps: HashMap::new() }
    }

    /// The name of what is at an address.
    pub fn name(&mut self, pid: u32, address: u64) -> Option<&str> {
        let since = self.since;
        let map = self.maps.entry(pid).or_insert_with(|| read(pid, since)).as_ref()?;
        // Code that replaced other code stands after it in the file and, sorted by start, too.
        let at = map.partition_point(|m| m.0 <= address);
        let found = map[..at].iter().rev().take(8).find(|m| address < m.1)?;
        Some(&found.2)
    }
}

fn read(pid: u32, since: SystemTime) -> Option<Vec<(u64, u64, String)>> {
    let paths = [format!("/proc/{pid}/root/tmp/perf-{pid}.map"), format!("/tmp/perf-{pid}.map")];
    let file = paths.iter().find_map(|path| {
        // Anybody may put a link or a pipe there.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let meta = file.metadata().ok()?;
        (meta.is_file() && meta.size() <= MOST && meta.modified().ok()? >= since).then_some(file)
    })?;
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).ok()?;
    Some(parse(&String::from_utf8_lossy(&text)))
}

/// `3ef414c0 398 name`: start and size, hexadecimal.
fn parse(text: &str) -> Vec<(u64, u64, String)> {
    let line = |line: &str| {
        let (start, rest) = line.split_once(' ')?;
        let (size, name) = rest.split_once(' ')?;
        let number = |t: &str| u64::from_str_radix(t.trim_start_matches("0x"), 16).ok();
        let (start, size) = (number(start)?, number(size)?);
        Some((start, start.checked_add(size)?, name.trim().to_owned()))
    };
    let mut all: Vec<_> = text.lines().filter_map(line).collect();
    all.sort_by_key(|m| m.0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_made_code() {
        let all = parse("1000 10 LazyCompile:~f x.js:1\nbroken\nzz 10 a\n0x2000 20 py::g:x.py\n");
        let mut maps = JitMaps::new(SystemTime::now());
        maps.maps.insert(7, Some(all));
        assert_eq!(maps.name(7, 0x100f), Some("LazyCompile:~f x.js:1"));
        assert_eq!(maps.name(7, 0x1010), None);
        assert_eq!(maps.name(7, 0x2000), Some("py::g:x.py"));
        assert_eq!(maps.name(8, 0x2000), None);
    }
}

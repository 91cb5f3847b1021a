//! Symbols of code that a program generates at run time, from the map file that it writes:
//! `/tmp/perf-PID.map` (Java, Node, Python).

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::time::SystemTime;

/// Maximum size of a map file, bytes.
const MOST: u64 = 256 << 20;

/// Start, end and name of generated code; a map is sorted by start.
type Symbol = (u64, u64, String);

/// Symbols from the map file of one process.
#[derive(Debug, Default)]
struct JitMap {
    symbols: Vec<Symbol>,
    /// Size and modification time of the file that was read; `None` if this run has written none so
    /// far.
    of: Option<(u64, SystemTime)>,
    /// True if the file may have grown since it was read.
    old: bool,
}

/// Map files of processes, read on demand, and again when they have changed.
#[derive(Debug)]
pub(super) struct JitMaps {
    since: SystemTime,
    maps: HashMap<u32, JitMap>,
    read: usize,
}

impl JitMaps {
    /// Creates an empty cache. Files written before `since` belong to an earlier process with the
    /// same id.
    pub fn new(since: SystemTime) -> Self {
        JitMaps { since, maps: HashMap::new(), read: 0 }
    }

    /// Notes that processes may have written more: their files are checked again when they are next
    /// needed.
    pub fn may_have_grown(&mut self) {
        self.maps.values_mut().for_each(|m| m.old = true);
    }

    /// Returns the number of files read so far.
    pub fn read(&self) -> usize {
        self.read
    }

    /// Returns the name of the code at an address.
    pub fn name(&mut self, pid: u32, address: u64) -> Option<&str> {
        let map = self.maps.entry(pid).or_insert_with(|| JitMap { old: true, ..JitMap::default() });
        if std::mem::take(&mut map.old)
            && let Some((file, of)) = open(pid, self.since).filter(|f| Some(f.1) != map.of)
            && let Some(symbols) = read(file)
        {
            (map.symbols, map.of) = (symbols, Some(of));
            self.read += 1;
        }
        // Code that replaced other code follows it in the file and, as the sort by start is stable,
        // in the table.
        let map = &map.symbols;
        let at = map.partition_point(|m| m.0 <= address);
        let found = map[..at].iter().rev().take(8).find(|m| address < m.1)?;
        Some(&found.2)
    }
}

/// Opens the map file that a process has written in this run; returns its size and time too.
fn open(pid: u32, since: SystemTime) -> Option<(File, (u64, SystemTime))> {
    let paths = [format!("/proc/{pid}/root/tmp/perf-{pid}.map"), format!("/tmp/perf-{pid}.map")];
    paths.iter().find_map(|path| {
        // Anybody may put a link or a pipe there.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
        let meta = file.metadata().ok()?;
        let time = meta.modified().ok().filter(|t| *t >= since)?;
        (meta.is_file() && meta.size() <= MOST).then_some((file, (meta.size(), time)))
    })
}

fn read(file: File) -> Option<Vec<Symbol>> {
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).ok()?;
    Some(parse(&String::from_utf8_lossy(&text)))
}

/// Parses lines such as `3ef414c0 398 name`: start and size in hexadecimal.
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
        maps.maps.insert(7, JitMap { symbols: all, ..JitMap::default() });
        assert_eq!(maps.name(7, 0x100f), Some("LazyCompile:~f x.js:1"));
        assert_eq!(maps.name(7, 0x1010), None);
        assert_eq!(maps.name(7, 0x2000), Some("py::g:x.py"));
        assert_eq!(maps.name(8, 0x2000), None);
    }

    #[test]
    fn a_file_is_read_again_only_when_it_has_changed() {
        // A process id that this kernel does not use.
        let pid = 4_194_305 + std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        let mut maps = JitMaps::new(SystemTime::UNIX_EPOCH);
        assert_eq!(maps.name(pid, 0x1000), None);
        std::fs::write(&path, "1000 10 first\n").unwrap();
        assert_eq!(maps.name(pid, 0x1000), None, "it was looked for, for this profile");
        maps.may_have_grown();
        assert_eq!(maps.name(pid, 0x1000), Some("first"));
        maps.may_have_grown();
        assert_eq!(maps.name(pid, 0x1000), Some("first"));
        assert_eq!(maps.read(), 1);
        std::fs::write(&path, "1000 10 first\n2000 10 second\n").unwrap();
        maps.may_have_grown();
        assert_eq!(maps.name(pid, 0x2000), Some("second"));
        std::fs::remove_file(&path).unwrap();
        maps.may_have_grown();
        assert_eq!(maps.name(pid, 0x2000), Some("second"), "it stays known");
        assert_eq!(maps.read(), 2);
    }
}

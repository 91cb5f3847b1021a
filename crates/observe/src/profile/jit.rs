//! Code that a program makes while it runs, by the file in which it says what is where:
//! `/tmp/perf-PID.map` (Java, Node, Python).

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::time::SystemTime;

/// A larger file is not read.
const MOST: u64 = 256 << 20;

/// Start, end, name; a map has them by start.
type Symbol = (u64, u64, String);

/// A process's file.
#[derive(Debug, Default)]
struct JitMap {
    symbols: Vec<Symbol>,
    /// Size and time of the file that was read; `None`: there was none of this run.
    of: Option<(u64, SystemTime)>,
    /// Whether the file may have more by now.
    old: bool,
}

/// The files of processes, read when they are asked for, and again when they have changed.
#[derive(Debug)]
pub(super) struct JitMaps {
    since: SystemTime,
    maps: HashMap<u32, JitMap>,
    read: usize,
}

impl JitMaps {
    /// Files that were written before `since` are another process's of the same number.
    pub fn new(since: SystemTime) -> Self {
        JitMaps { since, maps: HashMap::new(), read: 0 }
    }

    /// The processes may have written more: their files are looked at again when they are asked for.
    pub fn may_have_grown(&mut self) {
        self.maps.values_mut().for_each(|m| m.old = true);
    }

    /// How many files were read so far.
    pub fn read(&self) -> usize {
        self.read
    }

    /// The name of what is at an address.
    pub fn name(&mut self, pid: u32, address: u64) -> Option<&str> {
        let map = self.maps.entry(pid).or_insert_with(|| JitMap { old: true, ..JitMap::default() });
        if std::mem::take(&mut map.old)
            && let Some((file, of)) = open(pid, self.since).filter(|f| Some(f.1) != map.of)
            && let Some(symbols) = read(file)
        {
            (map.symbols, map.of) = (symbols, Some(of));
            self.read += 1;
        }
        // Code that replaced other code stands after it in the file and, sorted by start, too.
        let map = &map.symbols;
        let at = map.partition_point(|m| m.0 <= address);
        let found = map[..at].iter().rev().take(8).find(|m| address < m.1)?;
        Some(&found.2)
    }
}

/// A process's file of this run, with its size and time.
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
        maps.maps.insert(7, JitMap { symbols: all, ..JitMap::default() });
        assert_eq!(maps.name(7, 0x100f), Some("LazyCompile:~f x.js:1"));
        assert_eq!(maps.name(7, 0x1010), None);
        assert_eq!(maps.name(7, 0x2000), Some("py::g:x.py"));
        assert_eq!(maps.name(8, 0x2000), None);
    }

    #[test]
    fn a_file_is_read_again_only_when_it_has_changed() {
        // A number that no process of this kernel has.
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

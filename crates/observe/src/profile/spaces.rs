//! Memory maps of processes over time: which file's code was mapped where, for each program that a
//! process has executed. The maps of ended programs are kept, since their stacks are symbolized
//! afterwards.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;

use super::maps::{Map, ProcessChange, of_process};

/// Maximum number of files held open, so that a file that is deleted meanwhile can still be read.
const MAX_OPEN: usize = 400;

/// A file with executable code.
#[derive(Debug)]
pub(super) struct Code {
    pub path: String,
    pub build_id: Option<Vec<u8>>,
    /// The file, opened when it was first seen.
    pub file: Option<File>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    start: u64,
    end: u64,
    offset: u64,
    code: usize,
}

/// Location of an address in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CodeLocation {
    /// Index of the file in the list of codes.
    pub code: usize,
    /// Offset in the file, bytes.
    pub offset: u64,
}

/// Memory maps of the followed processes.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    pieces: HashMap<(u32, u32), Vec<Piece>>,
    generation: HashMap<u32, u32>,
    followed: HashSet<u32>,
    all: bool,
    codes: Vec<Code>,
    known: HashMap<(String, Option<Vec<u8>>), usize>,
    open: usize,
}

impl Spaces {
    pub fn new(all: bool) -> Self {
        Spaces { all, ..Spaces::default() }
    }

    /// Follows an existing process, starting with its current maps.
    pub fn follow(&mut self, pid: u32) {
        if self.followed.insert(pid) {
            for map in of_process(pid) {
                self.map(pid, &map);
            }
        }
    }

    /// Applies a change of a process.
    pub fn take(&mut self, change: ProcessChange) {
        match change {
            ProcessChange::Fork { pid, parent } if self.all || self.followed.contains(&parent) => {
                let from = (parent, self.generation_of(parent));
                let copy = self.pieces.get(&from).cloned().unwrap_or_default();
                // A reused process id starts with a new history.
                self.generation.insert(pid, 0);
                self.pieces.insert((pid, 0), copy);
                self.followed.insert(pid);
            }
            ProcessChange::Exec { pid } if self.all || self.followed.contains(&pid) => {
                self.followed.insert(pid);
                let generation = self.generation.entry(pid).or_insert(0);
                *generation += 1;
                self.pieces.insert((pid, *generation), Vec::new());
            }
            ProcessChange::Map { pid, map } if self.all || self.followed.contains(&pid) => {
                self.map(pid, &map);
            }
            ProcessChange::Exit { .. }
            | ProcessChange::Fork { .. }
            | ProcessChange::Exec { .. }
            | ProcessChange::Map { .. } => {}
        }
    }

    /// Returns the number of programs that a process has executed since it is followed.
    pub fn generation_of(&self, pid: u32) -> u32 {
        self.generation.get(&pid).copied().unwrap_or(0)
    }

    fn map(&mut self, pid: u32, map: &Map) {
        let code = self.code(pid, map);
        let piece = Piece { start: map.start, end: map.end, offset: map.offset, code };
        let pieces = self.pieces.entry((pid, self.generation.get(&pid).copied().unwrap_or(0)));
        // The latest map comes first, since it covers older ones.
        pieces.or_default().insert(0, piece);
    }

    fn code(&mut self, pid: u32, map: &Map) -> usize {
        let key = (map.path.clone(), map.build_id.clone());
        if let Some(n) = self.known.get(&key) {
            return *n;
        }
        let room = self.open < MAX_OPEN && map.path.starts_with('/') && !map.path.starts_with("//");
        let file = room.then(|| open(pid, map)).flatten();
        self.open += usize::from(file.is_some());
        self.codes.push(Code { path: map.path.clone(), build_id: map.build_id.clone(), file });
        self.known.insert(key, self.codes.len() - 1);
        self.codes.len() - 1
    }

    /// Returns the file and offset of an address in a process; `None` if it is in no known file.
    pub fn place(&self, pid: u32, generation: u32, address: u64) -> Option<CodeLocation> {
        let pieces = self.pieces.get(&(pid, generation))?;
        let piece = pieces.iter().find(|p| (p.start..p.end).contains(&address))?;
        Some(CodeLocation { code: piece.code, offset: address - piece.start + piece.offset })
    }

    /// Returns the index of the first caller's address that is not in any code of the program;
    /// `None` if all are, or if the code is unknown.
    pub fn first_data(&self, pid: u32, generation: u32, addresses: &[u64]) -> Option<usize> {
        let code = |at: &u64| self.place(pid, generation, at.saturating_sub(1)).is_some();
        let callers = addresses.get(1..)?;
        code(addresses.first()?).then(|| callers.iter().position(|a| !code(a)).map(|n| n + 1))?
    }

    pub fn codes(&self) -> &[Code] {
        &self.codes
    }
}

/// Opens the very file that is mapped: through its map if the process still exists, else by its
/// path.
fn open(pid: u32, map: &Map) -> Option<File> {
    let plain = |path: String| {
        let file = File::open(path).ok()?;
        file.metadata().ok().filter(|m| m.is_file() && m.size() > 0).map(|_| file)
    };
    plain(format!("/proc/{pid}/map_files/{:x}-{:x}", map.start, map.end))
        .or_else(|| plain(format!("/proc/{pid}/root{}", map.path)))
        .or_else(|| plain(map.path.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(start: u64, path: &str) -> Map {
        Map { start, end: start + 0x1000, offset: 0x2000, path: path.into(), build_id: None }
    }

    #[test]
    fn a_program_that_executes_another_keeps_what_it_was() {
        let mut s = Spaces::new(false);
        s.followed.insert(1);
        s.take(ProcessChange::Map { pid: 1, map: map(0x10000, "[a]") });
        s.take(ProcessChange::Fork { pid: 2, parent: 1 });
        s.take(ProcessChange::Exec { pid: 2 });
        s.take(ProcessChange::Map { pid: 2, map: map(0x10000, "[b]") });
        s.take(ProcessChange::Fork { pid: 9, parent: 8 });
        s.take(ProcessChange::Map { pid: 9, map: map(0x10000, "[c]") });
        let path = |pid, generation| {
            s.place(pid, generation, 0x10010).map(|p| (s.codes()[p.code].path.clone(), p.offset))
        };
        assert_eq!(path(1, 0), Some(("[a]".into(), 0x2010)));
        assert_eq!(path(2, 0), Some(("[a]".into(), 0x2010)));
        assert_eq!(path(2, 1), Some(("[b]".into(), 0x2010)));
        assert_eq!(path(9, 0), None, "of others");
        assert_eq!(s.place(1, 0, 0x11000), None);
    }
}

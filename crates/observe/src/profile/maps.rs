//! Changes of executable maps, programs and processes that the kernel reports while they happen, in
//! the order of time.

use crate::NotAvailable;
use crate::ebpf::without_privilege;
use crate::io::perf_ring::{CpuRing, cpus, number};

/// Change in the state of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProcessChange {
    /// The process mapped a file.
    Map { pid: u32, map: Map },
    /// The process executes another program.
    Exec { pid: u32 },
    /// The process was created.
    Fork { pid: u32, parent: u32 },
    /// The process ended, with all its threads.
    Exit { pid: u32 },
}

/// An executable part of a file in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Map {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub path: String,
    pub build_id: Option<Vec<u8>>,
}

pub(super) const COMM: u32 = 3;
const EXIT: u32 = 4;
pub(super) const FORK: u32 = 7;
const MMAP2: u32 = 10;
const COMM_EXEC: u16 = 1 << 13;
const WITH_BUILD_ID: u16 = 1 << 14;
/// Maximum delay between a record's time and its arrival in the ring.
const SLACK_NS: u64 = 2_000_000;

/// Reader of the map-change rings of all CPUs.
pub(super) struct Changes {
    rings: Vec<CpuRing>,
    /// Changes too recent to be in order for certain.
    waiting: Vec<(u64, ProcessChange)>,
    /// Number of records that the kernel lost.
    pub lost: u64,
}

impl Changes {
    pub fn open() -> Result<Self, NotAvailable> {
        let open = |cpu: i32| {
            CpuRing::open_maps(cpu).map_err(|e| {
                let paranoid = paranoid();
                NotAvailable::because(format!(
                    "perf_event_open: {e} (kernel.perf_event_paranoid is {paranoid}); {}",
                    without_privilege()
                ))
            })
        };
        let rings = cpus().into_iter().map(open).collect::<Result<_, _>>()?;
        Ok(Changes { rings, waiting: Vec::new(), lost: 0 })
    }

    /// Returns the changes since the last call, in order. Set `all` when no more will come.
    pub fn take(&mut self, all: bool) -> Vec<ProcessChange> {
        let now = assay_system::clock::monotonic_ns();
        for ring in &mut self.rings {
            let waiting = &mut self.waiting;
            self.lost += ring.records(|kind, flags, record| {
                if let Some(change) = change(kind, flags, record) {
                    waiting.push(change);
                }
            });
        }
        self.waiting.sort_by_key(|w| w.0);
        let until = if all { u64::MAX } else { now.saturating_sub(SLACK_NS) };
        let ready = self.waiting.partition_point(|w| w.0 < until);
        self.waiting.drain(..ready).map(|w| w.1).collect()
    }
}

/// Returns the value of `kernel.perf_event_paranoid`.
pub(super) fn paranoid() -> String {
    let text = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    text.map_or_else(|_| "unknown".into(), |p| p.trim().to_owned())
}

/// Converts a record to a change with its time; `None` for records that are not needed.
pub(super) fn change(kind: u32, flags: u16, record: &[u8]) -> Option<(u64, ProcessChange)> {
    let u32_at = |at: usize| number(record, at, 4) as u32;
    let (pid, second) = (u32_at(8), u32_at(12));
    // The time is the last word of the trailer that ends every record.
    let time = number(record, record.len().checked_sub(8)?, 8);
    let change = match kind {
        MMAP2 if record.len() > 88 => {
            let name = record.get(72..record.len() - 16)?;
            let name = &name[..name.iter().position(|b| *b == 0).unwrap_or(name.len())];
            let length = record[40] as usize;
            let build_id = (flags & WITH_BUILD_ID != 0 && (1..=20).contains(&length))
                .then(|| record[44..44 + length].to_vec());
            let start = number(record, 16, 8);
            ProcessChange::Map {
                pid,
                map: Map {
                    start,
                    end: start.saturating_add(number(record, 24, 8)),
                    offset: number(record, 32, 8),
                    path: String::from_utf8_lossy(name).into_owned(),
                    build_id,
                },
            }
        }
        COMM if flags & COMM_EXEC != 0 => ProcessChange::Exec { pid },
        // Threads share the memory of their process.
        FORK if record.len() >= 32 && pid != second => ProcessChange::Fork { pid, parent: second },
        EXIT if record.len() >= 32 && pid == u32_at(16) => ProcessChange::Exit { pid },
        _ => return None,
    };
    Some((time, change))
}

/// Returns the executable maps of a process from `/proc/PID/maps`.
pub(super) fn of_process(pid: u32) -> Vec<Map> {
    let text = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

fn parse(text: &str) -> Vec<Map> {
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let offset = u64::from_str_radix(words.next()?, 16).ok()?;
        words.nth(1)?;
        let path = words.next().map_or("", |w| &line[line.find(w).unwrap_or(line.len())..]);
        // A path begins at its first word, and may contain spaces.
        let path = line.find('/').or_else(|| line.find('[')).map_or(path, |at| &line[at..]);
        rights.as_bytes().get(2).filter(|x| **x == b'x')?;
        Some(Map {
            start: u64::from_str_radix(start, 16).ok()?,
            end: u64::from_str_radix(end, 16).ok()?,
            offset,
            path: path.trim_end().trim_end_matches(" (deleted)").to_owned(),
            build_id: None,
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executable_maps_of_a_process() {
        let text = "\
55d0c0de0000-55d0c0de1000 r--p 00000000 08:01 1234 /tmp/a prog
55d0c0de1000-55d0c0de2000 r-xp 00001000 08:01 1234                       /tmp/a prog (deleted)
7ffd0c1f0000-7ffd0c1f2000 r-xp 00000000 00:00 0                          [vdso]
7f0000000000-7f0000010000 rwxp 00000000 00:00 0
broken
";
        let maps = parse(text);
        assert_eq!(maps.len(), 3, "{maps:?}");
        assert_eq!((maps[0].path.as_str(), maps[0].offset), ("/tmp/a prog", 0x1000));
        assert_eq!(maps[1].path, "[vdso]");
        assert_eq!(maps[2].path, "");
        assert!(!of_process(std::process::id()).is_empty());
    }

    #[test]
    fn short_records_tell_of_nothing() {
        for kind in [COMM, EXIT, FORK, MMAP2] {
            for length in 0..100 {
                let record = vec![0xff; length];
                let _ = change(kind, 0xffff, &record);
            }
        }
    }
}

//! Selects the I/Os that a question is about.

use crate::block_io::matching::event::{Io, Op};
use crate::block_io::names::NameTable;

/// Longest program name that the kernel keeps, in bytes (TASK_COMM_LEN without its NUL).
const COMM: usize = 15;

/// Conditions on I/Os. An I/O must match every field; an empty field matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Accepted programs. A longer name matches its first 15 bytes, which is what the kernel keeps.
    pub programs: Vec<String>,
    /// Accepted devices, named as in the trace.
    pub devices: Vec<String>,
    pub pids: Vec<u32>,
    pub files: Vec<String>,
    pub cgroups: Vec<String>,
    pub op: Option<Op>,
    /// Earliest start, in nanoseconds from the first I/O of the trace (inclusive).
    pub from_ns: Option<u64>,
    /// Latest start, in nanoseconds from the first I/O of the trace (exclusive).
    pub to_ns: Option<u64>,
    /// Range of first blocks, both ends included.
    pub blocks: Option<(u64, u64)>,
}

impl Filter {
    /// Describes the filter, one phrase per condition; empty if it selects everything.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut names = |what: &str, list: &[String]| {
            if !list.is_empty() {
                words.push(format!("{what} {}", list.join(" or ")));
            }
        };
        names("program", &self.programs);
        names("device", &self.devices);
        names("file", &self.files);
        names("cgroup", &self.cgroups);
        names("pid", &self.pids.iter().map(ToString::to_string).collect::<Vec<_>>());
        if let Some(op) = self.op {
            words.push(format!("only {}", assay_model::nouns::plural(op.name())));
        }
        let seconds = |ns: u64| assay_model::units::format_value(ns as f64 / 1e9, "s");
        if let Some(from) = self.from_ns {
            words.push(format!("from {}", seconds(from)));
        }
        if let Some(to) = self.to_ns {
            words.push(format!("to {}", seconds(to)));
        }
        if let Some((low, high)) = self.blocks {
            words.push(format!("blocks {low} to {high}"));
        }
        words
    }
}

/// The accepted names of one kind. Each name is compared once.
#[derive(Debug, Clone)]
struct NameSet {
    wanted: Vec<String>,
    truncated: bool,
    /// Result by name id; `None` if not compared yet.
    known: Vec<Option<bool>>,
}

impl NameSet {
    fn new(wanted: &[String], truncated: bool) -> Self {
        NameSet { wanted: wanted.to_vec(), truncated, known: Vec::new() }
    }

    fn takes(&mut self, id: u32, names: &NameTable) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        match self.known.get(id as usize) {
            Some(Some(taken)) => *taken,
            _ => self.ask(id, names),
        }
    }

    #[cold]
    fn ask(&mut self, id: u32, names: &NameTable) -> bool {
        let name = names.text(id);
        let takes = id != NameTable::NONE
            && self.wanted.iter().any(|w| {
                *w == name || self.truncated && name.len() == COMM && w.starts_with(&name)
            });
        if self.known.len() <= id as usize {
            self.known.resize(id as usize + 1, None);
        }
        self.known[id as usize] = Some(takes);
        takes
    }
}

/// A filter applied to one trace.
#[derive(Debug, Clone)]
pub(crate) struct Selector {
    filter: Filter,
    all: bool,
    programs: NameSet,
    devices: NameSet,
    files: NameSet,
    cgroups: NameSet,
}

impl Selector {
    pub(crate) fn new(filter: &Filter) -> Self {
        Selector {
            all: *filter == Filter::default(),
            programs: NameSet::new(&filter.programs, true),
            devices: NameSet::new(&filter.devices, false),
            files: NameSet::new(&filter.files, false),
            cgroups: NameSet::new(&filter.cgroups, false),
            filter: filter.clone(),
        }
    }

    /// True if the filter selects `io`, in a trace whose first I/O started at `origin_ns`.
    #[inline]
    pub(crate) fn takes(&mut self, io: &Io, origin_ns: u64, names: &NameTable) -> bool {
        self.all || self.fits(io, origin_ns, names)
    }

    fn fits(&mut self, io: &Io, origin_ns: u64, names: &NameTable) -> bool {
        let f = &self.filter;
        let t = io.start_ns.saturating_sub(origin_ns);
        f.op.is_none_or(|op| op == io.op)
            && f.from_ns.is_none_or(|from| t >= from)
            && f.to_ns.is_none_or(|to| t < to)
            && f.blocks.is_none_or(|(low, high)| low <= io.sector && io.sector <= high)
            && (f.pids.is_empty() || io.pid.is_some_and(|pid| f.pids.contains(&pid)))
            && self.devices.takes(io.device, names)
            && self.programs.takes(io.program, names)
            && self.files.takes(io.file, names)
            && self.cgroups.takes(io.cgroup, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::io;

    #[test]
    fn every_part_must_fit() {
        let names = NameTable::default();
        let mut one = io(5_000, 10, Op::Write);
        one.program = names.id(b"kworker/u8:1-ev");
        one.device = names.id(b"8,0");
        one.pid = Some(7);
        one.sector = 100;
        let takes = |f: Filter| Selector::new(&f).takes(&one, 1_000, &names);
        assert!(takes(Filter::default()));
        let program = |p: &str| Filter { programs: vec![p.to_owned()], ..Filter::default() };
        assert!(takes(program("kworker/u8:1-events_unbound")), "the kernel cut the name");
        assert!(takes(program("kworker/u8:1-ev")) && !takes(program("kworker")));
        assert!(takes(Filter { devices: vec!["sda".into(), "8,0".into()], ..Filter::default() }));
        assert!(!takes(Filter { devices: vec!["8,1".into()], ..Filter::default() }));
        assert!(!takes(Filter { pids: vec![8], ..Filter::default() }));
        assert!(takes(Filter { op: Some(Op::Write), pids: vec![7], ..Filter::default() }));
        assert!(!takes(Filter { op: Some(Op::Read), ..Filter::default() }));
        let time = |a, b| Filter { from_ns: Some(a), to_ns: Some(b), ..Filter::default() };
        assert!(takes(time(4_000, 4_001)) && !takes(time(4_001, 9_000)) && !takes(time(0, 4_000)));
        assert!(takes(Filter { blocks: Some((100, 100)), ..Filter::default() }));
        assert!(!takes(Filter { blocks: Some((101, 200)), ..Filter::default() }));
        assert!(!takes(Filter { files: vec!["not recorded".into()], ..Filter::default() }));
    }
}

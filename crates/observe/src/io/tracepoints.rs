//! Second-best method: the kernel's block tracepoints through perf. Every event is copied to user
//! space and matched here, by the matcher for recorded traces, so it costs more than counting in
//! the kernel. Files, control groups and waiting tasks are not reported.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_traces::block_io::{
    Completeness, Cost, Event, Flags, Io, IoAction, MAX_IN_FLIGHT, Matcher, NameTable, Op,
    Question, RecordedFields, Sink, parse_rwbs, writes_back,
};

use super::devices::BlockDevices;
use super::perf_ring::{CpuRing, Sample, cpus, describe, number};
use super::way::{Method, RunningMethod};
use crate::NotAvailable;

/// Folders that may describe tracepoints.
const FOLDERS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];
/// Tracepoints that are read, and their meaning.
const EVENTS: [(&str, IoAction); 3] = [
    ("block_io_start", IoAction::Start),
    ("block_rq_issue", IoAction::Issue),
    ("block_rq_complete", IoAction::Complete),
];

/// Location of a tracepoint's fields: offset and size.
#[derive(Debug, Clone, Copy)]
struct Layout {
    id: u64,
    action: IoAction,
    device: (usize, usize),
    sector: (usize, usize),
    sectors: (usize, usize),
    rwbs: (usize, usize),
}

/// Reader of the enabled tracepoints.
pub(super) struct Tracepoints<'n> {
    rings: Vec<CpuRing>,
    layouts: Vec<Layout>,
    devices: BlockDevices,
    names: &'n NameTable,
    wanted: Vec<u32>,
    matcher: Option<Matcher>,
    completeness: Completeness,
    known: HashMap<u32, u32>,
    programs: HashMap<u32, (u32, bool)>,
    held: Vec<Event>,
    lost: u64,
    stopped: bool,
}

/// Passes I/Os to several sinks.
struct Fan<'a, 'b>(&'a mut [&'b mut dyn Sink]);

impl Sink for Fan<'_, '_> {
    fn start(&mut self, io: &Io) {
        self.0.iter_mut().for_each(|s| s.start(io));
    }

    fn end(&mut self, io: &Io) {
        self.0.iter_mut().for_each(|s| s.end(io));
    }
}

impl<'n> Tracepoints<'n> {
    pub fn start(
        root: &Path,
        question: &Question,
        devices: BlockDevices,
        names: &'n NameTable,
    ) -> Result<Self, NotAvailable> {
        let folder = folder(root)?;
        let mut layouts = Vec::new();
        for (name, action) in EVENTS {
            match layout(&folder.join(name), action) {
                Ok(layout) => layouts.push(layout),
                // Kernels before 6.5 have no block_io_start: queueing is then not seen.
                Err(_) if action == IoAction::Start => {}
                Err(error) => return Err(NotAvailable::file(&folder.join(name), &error)),
            }
        }
        let ids: Vec<u64> = layouts.iter().map(|l| l.id).collect();
        let mut rings = Vec::new();
        for cpu in cpus() {
            rings.push(CpuRing::open(cpu, &ids).map_err(|e| {
                NotAvailable::because(format!(
                    "tracepoints by perf need CAP_PERFMON, or kernel.perf_event_paranoid at -1: {e}"
                ))
            })?);
        }
        let wanted = question.filter.devices.iter().filter_map(|d| devices.find(d));
        let wanted = wanted.map(super::devices::BlockDevice::number).collect();
        Ok(Tracepoints {
            rings,
            layouts,
            devices,
            names,
            wanted,
            matcher: Some(Matcher::new(MAX_IN_FLIGHT)),
            completeness: Completeness::default(),
            known: HashMap::new(),
            programs: HashMap::new(),
            held: Vec::new(),
            lost: 0,
            stopped: false,
        })
    }

    fn read(&mut self) {
        let mut rings = std::mem::take(&mut self.rings);
        for ring in &mut rings {
            let mut taken = std::mem::take(&mut self.held);
            let lost = ring.drain(|sample| taken.extend(self.event(&sample)));
            self.held = taken;
            self.lost += lost;
        }
        self.rings = rings;
        self.held.sort_by_key(|e| e.time_ns);
    }

    fn give(&mut self, until: u64, sinks: &mut [&mut dyn Sink]) {
        let ready = self.held.partition_point(|e| e.time_ns <= until);
        if let Some(matcher) = &mut self.matcher {
            let mut fan = Fan(sinks);
            self.held.drain(..ready).for_each(|event| matcher.event(&event, &mut fan));
        }
    }

    fn event(&mut self, sample: &Sample<'_>) -> Option<Event> {
        let id = number(sample.raw, 0, 2);
        let layout = *self.layouts.iter().find(|l| l.id == id)?;
        let field = |(at, size): (usize, usize)| number(sample.raw, at, size);
        let device = field(layout.device) as u32;
        if !(self.wanted.is_empty() || self.wanted.contains(&device)) {
            return None;
        }
        let word = sample.raw.get(layout.rwbs.0..layout.rwbs.0 + layout.rwbs.1)?;
        let end = word.iter().position(|b| *b == 0).unwrap_or(word.len());
        let (op, flags) = parse_rwbs(&word[..end])?;
        // Completions arrive in the context of whichever task was running.
        let (program, kernel) = match layout.action {
            IoAction::Start | IoAction::Issue => self.program(sample.pid),
            _ => (NameTable::NONE, false),
        };
        let asked = layout.action != IoAction::Complete;
        Some(Event {
            action: layout.action,
            time_ns: sample.time_ns,
            device: self.device(device),
            sector: field(layout.sector),
            bytes: field(layout.sectors) * 512,
            op: if op == Op::Write && field(layout.sectors) == 0 { Op::Flush } else { op },
            flags: flags.with_if(kernel, Flags::KERNEL),
            pid: asked.then_some(sample.pid),
            program,
            cgroup: NameTable::NONE,
            other_sector: 0,
        })
    }

    fn device(&mut self, number: u32) -> u32 {
        let (devices, names) = (&self.devices, self.names);
        *self.known.entry(number).or_insert_with(|| devices.name_id(number, names))
    }

    /// Returns the name of a process, and true for kernel threads that write back.
    fn program(&mut self, pid: u32) -> (u32, bool) {
        let names = self.names;
        *self.programs.entry(pid).or_insert_with(|| {
            let comm = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
            let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
            (names.id(comm), writes_back(comm))
        })
    }
}

impl<'n> RunningMethod<'n> for Tracepoints<'n> {
    fn method(&self) -> Method {
        Method::Tracepoints
    }

    fn devices(&self) -> &BlockDevices {
        &self.devices
    }

    fn poll(&mut self, sinks: &mut [&mut dyn Sink]) {
        // Events up to now are in the rings when they are read. Later events wait for the next
        // poll, since other CPUs may have earlier ones.
        let until = if self.stopped { u64::MAX } else { assay_system::clock::monotonic_ns() };
        self.read();
        self.give(until, sinks);
        if self.stopped {
            if let Some(matcher) = self.matcher.take() {
                self.completeness = matcher.finish(&mut Fan(sinks));
            }
            self.completeness.dropped = Some(self.lost);
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.rings.iter().for_each(CpuRing::disable);
    }

    fn recorded(&self) -> RecordedFields {
        RecordedFields {
            latency: true,
            queue: self.layouts.iter().any(|l| l.action == IoAction::Start),
            program: true,
            pid: true,
            file: false,
            cgroup: false,
            sync: true,
            readahead: true,
            aio: false,
        }
    }

    fn completeness(&self) -> Completeness {
        self.completeness.clone()
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "By the kernel's tracepoints through perf: every event is copied out of the kernel. \
             Files, control groups and waiters are unknown; requests are matched by device, block, \
             size and direction. Devices without requests (zram, device mapper, MD) are not seen."
                .to_owned(),
        ]
    }

    fn cost(&self) -> Cost {
        Cost {
            method: "the kernel's tracepoints by perf, every event".to_owned(),
            events: self.completeness.events,
            ns_per_io: None,
            cpu_share: None,
            reader_share: None,
        }
    }
}

fn folder(root: &Path) -> Result<PathBuf, NotAvailable> {
    let found = FOLDERS.iter().map(|f| root.join(f).join("events/block")).find(|f| f.is_dir());
    found.ok_or_else(|| {
        NotAvailable::because(
            "the kernel's tracepoints are missing at /sys/kernel/tracing: mount it (mount -t \
             tracefs tracefs /sys/kernel/tracing) and run as root",
        )
    })
}

fn layout(folder: &Path, action: IoAction) -> std::io::Result<Layout> {
    let wrong = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let id = describe(&folder.join("id"))?.trim().parse().map_err(|_| wrong())?;
    let format = describe(&folder.join("format"))?;
    let field = |name: &str| place(&format, name).ok_or_else(wrong);
    Ok(Layout {
        id,
        action,
        device: field("dev")?,
        sector: field("sector")?,
        sectors: field("nr_sector")?,
        rwbs: field("rwbs")?,
    })
}

/// Returns the location of a field, from the kernel's description of the tracepoint.
fn place(format: &str, name: &str) -> Option<(usize, usize)> {
    let line = format.lines().find(|line| {
        let Some((declared, _)) =
            line.trim().strip_prefix("field:").and_then(|l| l.split_once(';'))
        else {
            return false;
        };
        let word = declared.rsplit(' ').next().unwrap_or_default();
        word.split('[').next() == Some(name)
    })?;
    let value = |key: &str| -> Option<usize> {
        line.split_once(key)?.1.split(';').next()?.trim().parse().ok()
    };
    Some((value("offset:")?, value("size:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_the_kernels_description() {
        let format = "name: block_rq_complete\nID: 2107\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
            \tfield:__data_loc char[] cmd;\toffset:44;\tsize:4;\tsigned:0;\n";
        assert_eq!(place(format, "dev"), Some((8, 4)));
        assert_eq!(place(format, "sector"), Some((16, 8)));
        assert_eq!(place(format, "rwbs"), Some((34, 10)));
        assert_eq!(place(format, "nothing"), None);
    }
}

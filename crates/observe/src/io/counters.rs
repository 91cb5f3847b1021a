//! Last resort: the kernel's own counters (`/proc/diskstats`), which report the number of I/Os and
//! bytes per device and direction, but no single I/Os.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_traces::block_io::{
    Completeness, Cost, CountedIos, IoAnalysis, NameTable, Op, Question, RecordedFields,
};

use super::devices::{BlockDevices, packed};
use super::way::{Method, RunningMethod};
use crate::NotAvailable;

/// Operations that diskstats counts, and the position of the first of their four columns.
const OPS: [(Op, usize); 3] = [(Op::Read, 3), (Op::Write, 7), (Op::Discard, 14)];

/// Reader of the kernel's counters.
pub(super) struct KernelCounters<'n> {
    path: PathBuf,
    devices: BlockDevices,
    names: &'n NameTable,
    wanted: Vec<u32>,
    op: Option<Op>,
    before: HashMap<u32, [[u64; 2]; 3]>,
    ios: u64,
}

impl<'n> KernelCounters<'n> {
    pub fn start(
        root: &Path,
        question: &Question,
        devices: BlockDevices,
        names: &'n NameTable,
    ) -> Result<Self, NotAvailable> {
        let path = root.join("proc/diskstats");
        let wanted = question.filter.devices.iter().filter_map(|d| devices.find(d));
        let wanted = wanted.map(super::devices::BlockDevice::number).collect();
        let mut counters = KernelCounters {
            path,
            devices,
            names,
            wanted,
            op: question.filter.op,
            before: HashMap::new(),
            ios: 0,
        };
        counters.before = counters.read().map_err(|e| NotAvailable::file(&counters.path, &e))?;
        Ok(counters)
    }

    /// Reads I/Os and bytes by whole device and operation.
    fn read(&self) -> std::io::Result<HashMap<u32, [[u64; 2]; 3]>> {
        let text = std::fs::read_to_string(&self.path)?;
        Ok(text.lines().filter_map(|line| self.line(line)).collect())
    }

    fn line(&self, line: &str) -> Option<(u32, [[u64; 2]; 3])> {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let number = packed(fields.first()?.parse().ok()?, fields.get(1)?.parse().ok()?);
        let whole = self.devices.number(number).is_some_and(|d| d.disk.is_none());
        if !whole || !(self.wanted.is_empty() || self.wanted.contains(&number)) {
            return None;
        }
        let value = |at: usize| fields.get(at).and_then(|f| f.parse().ok()).unwrap_or(0);
        // Sectors in diskstats are 512 bytes.
        Some((number, OPS.map(|(_, at)| [value(at), value(at + 2) * 512])))
    }
}

impl<'n> RunningMethod<'n> for KernelCounters<'n> {
    fn method(&self) -> Method {
        Method::Counters
    }

    fn counts(&self) -> bool {
        true
    }

    fn devices(&self) -> &BlockDevices {
        &self.devices
    }

    fn tick(&mut self, t_ns: u64, analyses: &mut [&mut IoAnalysis<'n>]) {
        let Ok(now) = self.read() else { return };
        for (number, counts) in &now {
            let before = self.before.get(number).copied().unwrap_or_default();
            let Some(name) = self.devices.number(*number).map(|d| d.name.as_bytes()) else {
                continue;
            };
            for (at, (op, _)) in OPS.iter().enumerate() {
                if self.op.is_some_and(|wanted| wanted != *op) {
                    continue;
                }
                let since = |which: usize| counts[at][which].saturating_sub(before[at][which]);
                let counted = CountedIos {
                    device: self.names.id(name),
                    op: *op,
                    ios: since(0),
                    bytes: since(1),
                    ..CountedIos::default()
                };
                self.ios += counted.ios;
                for a in analyses.iter_mut() {
                    a.add_counted(t_ns, &counted);
                }
            }
        }
        self.before = now;
    }

    fn recorded(&self) -> RecordedFields {
        RecordedFields::default()
    }

    fn completeness(&self) -> Completeness {
        Completeness {
            events: self.ios,
            ios: self.ios,
            matched: self.ios,
            ..Completeness::default()
        }
    }

    fn notes(&self) -> Vec<String> {
        vec![
            "From the kernel's counters (/proc/diskstats): I/Os and bytes of each device and \
             direction. Sizes, latencies, addresses, programs, files and waiters are unknown."
                .to_owned(),
        ]
    }

    fn cost(&self) -> Cost {
        Cost {
            method: "the kernel's counters".to_owned(),
            events: 0,
            ns_per_io: Some(0.0),
            cpu_share: Some(0.0),
            reader_share: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_traces::block_io::{Dimension, IoSource};

    use super::*;
    use crate::monitors::fake::Fake;

    const STATS: &str = "   8       0 sda 10 0 80 5 20 0 160 9 0 12 14 1 0 8 2 0 0\n   8       1 \
        sda1 9 0 80 5 20 0 160 9 0 12 14\n";

    #[test]
    fn counts_whole_devices_since_the_start() {
        let fake = Fake::new(&[
            ("sys/class/block/sda/dev", "8:0\n"),
            ("sys/class/block/sda/mq/0/x", ""),
            ("proc/diskstats", STATS),
        ]);
        let devices = BlockDevices::read(fake.root()).unwrap();
        let names = NameTable::default();
        let question =
            Question { by: vec![Dimension::Device, Dimension::Direction], ..Question::default() };
        let mut counters = KernelCounters::start(fake.root(), &question, devices, &names).unwrap();
        let mut analysis = IoAnalysis::new(&question, &names);
        fake.write("proc/diskstats", &STATS.replace(" 10 0 80 5 20 ", " 13 0 96 5 27 "));
        counters.tick(5, &mut [&mut analysis]);
        let source = IoSource {
            name: String::new(),
            format: String::new(),
            files: 0,
            latency_is: String::new(),
            recorded: counters.recorded(),
            notes: counters.notes(),
        };
        let report = analysis.report(source, counters.completeness(), None);
        let groups: Vec<_> =
            report.groups.iter().map(|g| (g.key.join(" "), g.ios, g.bytes)).collect();
        assert_eq!(groups, [("sda write".into(), 7, 0), ("sda read".into(), 3, 16 * 512)]);
        assert_eq!(report.classes.aio, None);
        assert_eq!(report.ops[0].latency.p50_ns, None);
    }
}

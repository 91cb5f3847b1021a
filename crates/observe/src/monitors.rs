//! The monitors, one file each, and functions to list and find them.

mod cpu;
mod disk;
mod gpu;
mod memory;
mod meter;
mod network;
mod power;
mod pressure;
mod reclaim;
pub(crate) mod sampler;
mod switches;
pub mod tasks;
mod thermal;
mod tlb;

use crate::{Chart, Field, MonitorSpec};

/// Returns the monitors selected by the name `all`, in the order in which a sampler runs them.
pub fn all() -> [&'static MonitorSpec; 12] {
    [
        &cpu::SPEC,
        &switches::SPEC,
        &disk::SPEC,
        &memory::SPEC,
        &reclaim::SPEC,
        &pressure::SPEC,
        &network::SPEC,
        &power::SPEC,
        &meter::SPEC,
        &thermal::SPEC,
        &gpu::SPEC,
        &tlb::SPEC,
    ]
}

/// Returns every monitor: those of [`all`], and `tasks`, which costs more the more threads a
/// program has and is sampled only if an experiment names it.
pub fn every() -> impl Iterator<Item = &'static MonitorSpec> {
    all().into_iter().chain([&tasks::SPEC])
}

/// Chart of one monitor with the fields that it draws.
#[derive(Debug)]
pub struct Drawing {
    /// Name of the monitor.
    pub monitor: &'static str,
    pub chart: &'static Chart,
    /// Fields in the monitor's order, each with the label of its line or layer.
    pub fields: Vec<(&'static Field, &'static str)>,
}

/// Returns every chart of every monitor, in the order of the monitors and fields.
pub fn charts() -> Vec<Drawing> {
    let mut all: Vec<Drawing> = Vec::new();
    for monitor in every() {
        for field in monitor.fields {
            let Some((chart, word)) = field.chart else { continue };
            let same = |d: &&mut Drawing| d.monitor == monitor.name && d.chart == chart;
            match all.iter_mut().find(same) {
                Some(drawing) => drawing.fields.push((field, word)),
                None => {
                    all.push(Drawing { monitor: monitor.name, chart, fields: vec![(field, word)] });
                }
            }
        }
    }
    all
}

/// Returns the field `name` of the monitor named `monitor`.
pub fn field(monitor: &str, name: &str) -> Option<&'static Field> {
    find(monitor)?.fields.iter().find(|field| field.name == name)
}

/// Returns the monitor named `name`.
pub fn find(name: &str) -> Option<&'static MonitorSpec> {
    every().find(|spec| spec.name == name)
}

#[cfg(test)]
pub mod fake {
    //! Test support: a fake tree of `proc` and `sys`, and a monitor that samples it.

    use std::path::Path;

    use tempfile::TempDir;

    use crate::{Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

    pub struct Fake {
        dir: TempDir,
    }

    impl Fake {
        pub fn new(files: &[(&str, &str)]) -> Self {
            let fake = Self { dir: tempfile::tempdir().unwrap() };
            for (path, text) in files {
                fake.write(path, text);
            }
            fake
        }

        pub fn root(&self) -> &Path {
            self.dir.path()
        }

        pub fn write(&self, path: &str, text: &str) {
            let path = self.dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        pub fn open(&self, spec: &MonitorSpec) -> Result<Watch, NotAvailable> {
            let monitor = (spec.open)(&Tree::new(self.root()))?;
            Ok(Watch { monitor, out: Recorder::default(), seconds: 0 })
        }
    }

    pub struct Watch {
        pub monitor: Box<dyn Monitor>,
        pub out: Recorder,
        seconds: u64,
    }

    impl Watch {
        /// Samples `seconds` after the last time; returns the rows of this tick as (subject, field,
        /// value).
        pub fn after(&mut self, seconds: u64) -> Vec<(String, String, f64)> {
            self.seconds += seconds;
            let t_ns = self.seconds * 1_000_000_000;
            self.monitor.sample(t_ns, &mut self.out);
            let set = self.out.samples();
            let key = |i: u32| &set.series[i as usize];
            set.rows
                .iter()
                .filter(|r| r.t_ns == t_ns)
                .map(|r| (key(r.series).subject.clone(), key(r.series).field.clone(), r.value))
                .collect()
        }
    }

    pub fn value(rows: &[(String, String, f64)], subject: &str, field: &str) -> f64 {
        let row = rows.iter().find(|(s, f, _)| s == subject && f == field);
        row.unwrap_or_else(|| panic!("no {subject} {field} in {rows:?}")).2
    }
}

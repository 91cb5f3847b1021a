//! Monitor of electrical power: RAPL energy counters (`/sys/class/powercap`) and the power and
//! energy sensors of `/sys/class/hwmon`. Without any of them the monitor is unavailable; it never
//! estimates power by a model of its own.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, number};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::{
    Chart, Field, FieldRole, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree,
};

static DRAWN: Chart = Chart::lines("Power");

static SUMMARY: ColumnGroup = ColumnGroup::new("", 6, ColumnSubject::Machine);
static WATTS: SampleColumn = SampleColumn::new(&SUMMARY, 1, "W", 4, 1);

/// Description of the monitor `power`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "power",
    help: "Mean power over the interval from RAPL energy counters in /sys/class/powercap (readable \
           by root only on most kernels), and the power and energy sensors of /sys/class/hwmon. \
           RAPL is a model of the processor's own, not a meter; its parts (`package-0/dram`) are \
           not always contained in the whole.",
    subjects: "RAPL domains (`package-0`, `package-0/core`) and sensors (`hwmon1/nct6798/power1`)",
    fields: &[Field::new(
        "power",
        "W",
        "Mean power over the interval; for a power sensor, its reading at the end",
    )
    .role(FieldRole::Power)
    .lower()
    .drawn(&DRAWN, "")
    .column(&WATTS)
    .overlay("Power")],
    open: |tree| Power::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

#[derive(Debug, Clone, Copy)]
enum PowerFile {
    /// Microjoules that count up to `range` and wrap around; the range is not always known.
    Energy { range: Option<u64> },
    /// Current power in microwatts.
    Power,
}

struct Sensor {
    subject: String,
    kind: PowerFile,
    source: SampledFile,
    before: Option<(u64, u64)>,
    series: Option<FirstSeries>,
    failed: bool,
}

struct Power {
    sensors: Vec<Sensor>,
    trouble: Vec<String>,
}

impl Power {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let mut power = Self { sensors: Vec::new(), trouble: Vec::new() };
        power.find_rapl(tree);
        power.find_hwmon(tree);
        if power.sensors.is_empty() {
            if power.trouble.is_empty() {
                power.trouble.push(
                    "there is no RAPL domain in /sys/class/powercap and no power or energy sensor \
                     in /sys/class/hwmon (virtual machines seldom have any; on a real x86 machine \
                     load the module intel_rapl_msr)"
                        .to_owned(),
                );
            }
            return Err(NotAvailable::because(power.trouble.join("; ")));
        }
        Ok(power)
    }

    fn find_rapl(&mut self, tree: &Tree) {
        for zone in tree.names("sys/class/powercap") {
            let folder = format!("sys/class/powercap/{zone}");
            // `intel-rapl` itself is the control type and has no counter.
            if !tree.path(&format!("{folder}/energy_uj")).exists() {
                continue;
            }
            let name = tree.text(&format!("{folder}/name")).unwrap_or_else(|| zone.clone());
            let parent = zone
                .rsplit_once(':')
                .and_then(|(parent, _)| tree.text(&format!("sys/class/powercap/{parent}/name")));
            let mut subject = parent.map_or_else(|| name.clone(), |p| format!("{p}/{name}"));
            if self.sensors.iter().any(|s| s.subject == subject) {
                // The same domain through another interface (`intel-rapl-mmio`).
                subject = format!("{zone}/{name}");
            }
            let range = tree
                .text(&format!("{folder}/max_energy_range_uj"))
                .and_then(|text| number(text.as_bytes()));
            self.add(tree, &format!("{folder}/energy_uj"), subject, PowerFile::Energy { range });
        }
    }

    fn find_hwmon(&mut self, tree: &Tree) {
        for chip in tree.names("sys/class/hwmon") {
            let folder = format!("sys/class/hwmon/{chip}");
            let files = tree.names(&folder);
            let driver = tree.text(&format!("{folder}/name")).unwrap_or_default();
            for file in &files {
                let sensor = file.split('_').next().unwrap_or_default();
                let kind = if numbered(sensor, "energy") && file.ends_with("_input") {
                    PowerFile::Energy { range: None }
                } else if numbered(sensor, "power")
                    && (file.ends_with("_input")
                        || file.ends_with("_average")
                            && !files.contains(&format!("{sensor}_input")))
                {
                    PowerFile::Power
                } else {
                    continue;
                };
                let label =
                    tree.text(&format!("{folder}/{sensor}_label")).unwrap_or_else(|| sensor.into());
                let subject = format!("{chip}/{driver}/{label}");
                self.add(tree, &format!("{folder}/{file}"), subject, kind);
            }
        }
    }

    /// Adds a sensor that can be read; reports one that cannot.
    fn add(&mut self, tree: &Tree, file: &str, subject: String, kind: PowerFile) {
        let opened = tree.open(file, ReadMode::Whole).and_then(|mut source| {
            let error = source.read().err();
            error.map_or(Ok(()), |e| Err(NotAvailable::file(source.path(), &e))).map(|()| source)
        });
        match opened {
            Ok(source) => self.sensors.push(Sensor {
                subject,
                kind,
                source,
                before: None,
                series: None,
                failed: false,
            }),
            Err(error) => self.trouble.push(format!("{subject}: {error}")),
        }
    }
}

/// Returns true if a name is `word` and a number, such as `power1`.
fn numbered(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|digits| number(digits.as_bytes()).is_some())
}

/// Returns the watts between two readings of a counter of microjoules, `seconds` apart. A counter
/// that went backwards has wrapped once if its range is known and the first reading was within it;
/// otherwise the result is NaN.
fn watts(before: u64, now: u64, range: Option<u64>, seconds: f64) -> f64 {
    let microjoules = match (now.checked_sub(before), range) {
        (Some(more), _) => more,
        (None, Some(range)) if before <= range => range - before + now,
        (None, _) => return f64::NAN,
    };
    microjoules as f64 / 1e6 / seconds
}

impl Sensor {
    fn value(&mut self, t_ns: u64) -> std::io::Result<Option<f64>> {
        let now = WordIter::new(self.source.read()?).next().and_then(number);
        let Some(now) = now else {
            self.before = None;
            return Ok(Some(f64::NAN));
        };
        let before = self.before.replace((t_ns, now));
        Ok(before.map(|(then_ns, before)| match self.kind {
            PowerFile::Power => now as f64 / 1e6,
            PowerFile::Energy { range } => {
                watts(before, now, range, t_ns.saturating_sub(then_ns) as f64 / 1e9)
            }
        }))
    }
}

impl Monitor for Power {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        for sensor in &mut self.sensors {
            match sensor.value(t_ns) {
                Ok(None) => {}
                Ok(Some(value)) => {
                    let subject = &sensor.subject;
                    let series = *sensor
                        .series
                        .get_or_insert_with(|| out.intern(SPEC.name, subject, SPEC.fields));
                    out.push(t_ns, series, &[value]);
                }
                Err(error) => {
                    sensor.before = None;
                    if !sensor.failed {
                        sensor.failed = true;
                        self.trouble.push(format!(
                            "{}: {}",
                            sensor.subject,
                            NotAvailable::file(sensor.source.path(), &error)
                        ));
                    }
                }
            }
        }
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    const PACKAGE: &str = "sys/class/powercap/intel-rapl:0";

    fn machine() -> Fake {
        Fake::new(&[
            ("sys/class/powercap/intel-rapl/enabled", "1\n"),
            ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
            ("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n"),
            ("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n"),
            ("sys/class/powercap/intel-rapl:0:1/name", "dram\n"),
            ("sys/class/powercap/intel-rapl:0:1/energy_uj", "5\n"),
            ("sys/class/powercap/intel-rapl-mmio:0/name", "package-0\n"),
            ("sys/class/powercap/intel-rapl-mmio:0/energy_uj", "7\n"),
            ("sys/class/hwmon/hwmon3/name", "board\n"),
            ("sys/class/hwmon/hwmon3/power1_input", "42500000\n"),
            ("sys/class/hwmon/hwmon3/power1_average", "1\n"),
            ("sys/class/hwmon/hwmon3/power1_label", "PPT\n"),
            ("sys/class/hwmon/hwmon3/power1_cap", "9\n"),
            ("sys/class/hwmon/hwmon3/power2_average", "2000000\n"),
            ("sys/class/hwmon/hwmon3/energy1_input", "1000000\n"),
        ])
    }

    #[test]
    fn domains_and_sensors() {
        let fake = machine();
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write(&format!("{PACKAGE}/energy_uj"), "101000000\n");
        fake.write("sys/class/hwmon/hwmon3/energy1_input", "31000000\n");
        let rows = watch.after(2);
        assert_eq!(value(&rows, "package-0", "power"), 50.0);
        assert_eq!(value(&rows, "package-0/dram", "power"), 0.0);
        assert_eq!(value(&rows, "intel-rapl-mmio:0/package-0", "power"), 0.0);
        assert_eq!(value(&rows, "hwmon3/board/PPT", "power"), 42.5);
        assert_eq!(value(&rows, "hwmon3/board/power2", "power"), 2.0);
        assert_eq!(value(&rows, "hwmon3/board/energy1", "power"), 15.0);
        assert_eq!(rows.len(), 6);
        assert!(watch.monitor.not_seen().is_empty());
    }

    #[test]
    fn a_counter_passes_its_end() {
        assert_eq!(watts(262_143_328_850, 1_000_000, Some(262_143_328_850), 1.0), 1.0);
        assert!(watts(9, 3, None, 1.0).is_nan(), "no range, no answer");
        assert!(watts(9, 3, Some(5), 1.0).is_nan(), "beyond its own range");
        let fake = machine();
        let mut watch = fake.open(&SPEC).unwrap();
        fake.write(&format!("{PACKAGE}/energy_uj"), "262143328850\n");
        watch.after(1);
        fake.write(&format!("{PACKAGE}/energy_uj"), "30000000\n");
        assert_eq!(value(&watch.after(1), "package-0", "power"), 30.0);
        fake.write(&format!("{PACKAGE}/energy_uj"), "ENODATA\n");
        assert!(value(&watch.after(1), "package-0", "power").is_nan());
    }

    #[test]
    fn what_is_missing_is_reported() {
        let error = Fake::new(&[]).open(&SPEC).err().unwrap();
        assert!(error.reason.contains("no RAPL domain"), "{error}");
        // A folder instead of the counter's file cannot be read by anyone, including root.
        let fake = Fake::new(&[
            (&format!("{PACKAGE}/name"), "package-0\n"),
            (&format!("{PACKAGE}/energy_uj/x"), ""),
        ]);
        let error = fake.open(&SPEC).err().unwrap();
        assert!(error.reason.starts_with("package-0: "), "{error}");
    }
}

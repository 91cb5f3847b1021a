//! Monitor of temperatures and CPU frequencies, from `/sys/class/thermal` and cpufreq. The `cpu
//! MHz` of `/proc/cpuinfo` is not used: in a virtual machine it is a constant.

use crate::sampling::scan::{WordIter, number};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static TEMPERATURE: Chart = Chart::lines("Temperature");
static FREQUENCY: Chart = Chart::lines("CPU frequency");

/// Description of the monitor `thermal`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "thermal",
    help: "Temperatures of the thermal zones of /sys/class/thermal, and the clock of every CPU \
           from cpufreq, at the end of the interval.",
    subjects: "thermal zones (`thermal_zone0/x86_pkg_temp`) for `temperature`; CPUs (`cpu0`, ...) \
               for `frequency`",
    fields: &[
        Field::new("temperature", "°C", "Temperature of the zone's sensor").drawn(&TEMPERATURE, ""),
        Field::new("frequency", "Hz", "The frequency that the cpufreq driver reports for the CPU")
            .drawn(&FREQUENCY, ""),
    ],
    open: |tree| Thermal::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const ZONES: &str = "sys/class/thermal";
const CPUS: &str = "sys/devices/system/cpu";

struct Sensor {
    subject: String,
    source: SampledFile,
    /// Index of the field that the sensor provides.
    field: usize,
    /// Factor from the file's unit to the field's.
    scale: f64,
    series: Option<FirstSeries>,
}

struct Thermal {
    sensors: Vec<Sensor>,
    trouble: Trouble,
}

impl Thermal {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let mut thermal = Self { sensors: Vec::new(), trouble: Trouble::default() };
        for zone in tree.names(ZONES).into_iter().filter(|n| n.starts_with("thermal_zone")) {
            let kind = tree.text(&format!("{ZONES}/{zone}/type")).unwrap_or_default();
            thermal.add(tree, &format!("{ZONES}/{zone}/temp"), format!("{zone}/{kind}"), 0, 1e-3);
        }
        if thermal.sensors.is_empty() {
            thermal.trouble.note("zones", || {
                "no temperature: there is no thermal zone in /sys/class/thermal that can be read \
                 (virtual machines seldom have one)"
                    .to_owned()
            });
        }
        let zones = thermal.sensors.len();
        for cpu in tree.names(CPUS) {
            let file = format!("{CPUS}/{cpu}/cpufreq/scaling_cur_freq");
            if tree.path(&file).exists() {
                thermal.add(tree, &file, cpu, 1, 1e3);
            }
        }
        if thermal.sensors.len() == zones {
            thermal.trouble.note("cpufreq", || {
                "no frequency: no CPU has cpufreq/scaling_cur_freq in /sys/devices/system/cpu"
                    .to_owned()
            });
        }
        if thermal.sensors.is_empty() {
            return Err(NotAvailable::because(thermal.trouble.sentences().join("; ")));
        }
        Ok(thermal)
    }

    fn add(&mut self, tree: &Tree, file: &str, subject: String, field: usize, scale: f64) {
        let opened = self.trouble.opened("open", tree.open(file, ReadMode::Whole));
        let sensor = |source| Sensor { subject, source, field, scale, series: None };
        self.sensors.extend(opened.map(sensor));
    }
}

impl Monitor for Thermal {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        for sensor in &mut self.sensors {
            let text = sensor.source.text("read", &mut self.trouble);
            let value = text.map_or(f64::NAN, signed) * sensor.scale;
            if let Some(series) = sensor.series {
                out.push(t_ns, series, &[value]);
            } else {
                let field = &SPEC.fields[sensor.field..=sensor.field];
                sensor.series = Some(out.intern(SPEC.name, &sensor.subject, field));
            }
        }
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

/// Parses a whole number, which may be negative (temperatures below 0); NaN if it is malformed.
fn signed(text: &[u8]) -> f64 {
    let word = WordIter::new(text).next().unwrap_or_default();
    match word.strip_prefix(b"-") {
        Some(digits) => number(digits).map_or(f64::NAN, |n| -(n as f64)),
        None => number(word).map_or(f64::NAN, |n| n as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    #[test]
    fn zones_and_clocks() {
        let fake = Fake::new(&[
            ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone0/temp", "45500\n"),
            ("sys/class/thermal/thermal_zone1/type", "outside\n"),
            ("sys/class/thermal/thermal_zone1/temp", "-7000\n"),
            ("sys/class/thermal/cooling_device0/type", "fan\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
            ("sys/devices/system/cpu/cpu1/online", "1\n"),
        ]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        let rows = watch.after(1);
        assert_eq!(value(&rows, "thermal_zone0/x86_pkg_temp", "temperature"), 45.5);
        assert_eq!(value(&rows, "thermal_zone1/outside", "temperature"), -7.0);
        assert_eq!(value(&rows, "cpu0", "frequency"), 2.4e9);
        assert_eq!(rows.len(), 3);
        assert!(watch.monitor.not_seen().is_empty());
    }

    #[test]
    fn what_is_missing_is_reported() {
        let error = Fake::new(&[]).open(&SPEC).err().unwrap();
        assert!(error.reason.contains("no temperature") && error.reason.contains("no frequency"));
    }
}

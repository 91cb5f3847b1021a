//! Monitor of CPU time by use, from `/proc/stat`.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, lines};
use crate::sampling::source::SharedSource;
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, FieldRole, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static TIME: Chart = Chart::stacked("CPU time", "all");

static SUMMARY: ColumnGroup = ColumnGroup::new("cpu %", 0, ColumnSubject::Subject("all"));
static USER: SampleColumn = SampleColumn::new(&SUMMARY, 1, "us", 3, 0);
static SYSTEM: SampleColumn = SampleColumn::new(&SUMMARY, 2, "sy", 3, 0);
static WAIT: SampleColumn = SampleColumn::new(&SUMMARY, 3, "wa", 3, 0);
static STEAL: SampleColumn = SampleColumn::new(&SUMMARY, 4, "st", 2, 0);
static IDLE: SampleColumn = SampleColumn::new(&SUMMARY, 5, "id", 3, 0);

/// Description of the monitor `cpu`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "cpu",
    help: "CPU time by state, from the tick counts of /proc/stat. The shares of a subject add up \
           to 100 %. A tick is usually 10 ms: an interval of 100 ms resolves ten steps of one CPU.",
    subjects: "`all`, and every online CPU (`cpu0`, ...)",
    fields: &[
        share(
            "user",
            "Time in user mode at normal or raised priority, guests of a hypervisor included",
        )
        .cost("cpu_per_op")
        .drawn(&TIME, "user")
        .column(&USER),
        share("nice", "Time in user mode at lowered priority (nice above 0)")
            .cost("cpu_per_op")
            .drawn(&TIME, "user")
            .column(&USER),
        share("system", "Time in the kernel, without interrupts")
            .cost("cpu_per_op")
            .drawn(&TIME, "system")
            .column(&SYSTEM),
        share("irq", "Time in hardware interrupts")
            .cost("cpu_per_op")
            .drawn(&TIME, "irq + softirq")
            .column(&SYSTEM),
        share("softirq", "Time in soft interrupts")
            .cost("cpu_per_op")
            .drawn(&TIME, "irq + softirq")
            .column(&SYSTEM),
        share(
            "iowait",
            "Idle time while a task that last ran there waited for a disk; an estimate, according \
            to the kernel",
        )
        .drawn(&TIME, "iowait")
        .column(&WAIT),
        share("steal", "Time that the hypervisor gave to others while a task was runnable")
            .drawn(&TIME, "steal")
            .column(&STEAL)
            .lower(),
        share("idle", "Time with nothing to run")
            .drawn(&TIME, "idle")
            .column(&IDLE)
            .role(FieldRole::Idle)
            .overlay("CPU time in use, all CPUs"),
    ],
    open: |tree| Cpu::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const fn share(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "%", help).role(FieldRole::CpuTime)
}

/// Index of each field in a `cpu` line: the kernel's order is user, nice, system, idle, iowait,
/// irq, softirq, steal. The two guest times that follow are included in user and nice.
const COLUMN: [usize; 8] = [0, 1, 2, 5, 6, 4, 7, 3];

struct Cpu {
    stat: SharedSource,
    cpus: Subjects<8>,
    trouble: Trouble,
}

impl Cpu {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let stat = tree.share("proc/stat")?;
        Ok(Self { stat, cpus: Subjects::default(), trouble: Trouble::default() })
    }
}

impl Monitor for Cpu {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let mut stat = self.stat.lock();
        let text = match stat.read(t_ns) {
            Ok(text) => text,
            Err(error) => {
                return self.trouble.note("stat", || format!("/proc/stat: {error}"));
            }
        };
        self.cpus.begin(t_ns);
        let mut seen = false;
        for line in lines(text).take_while(|line| line.starts_with(b"cpu")) {
            seen = true;
            let mut words = WordIter::new(line);
            let name = words.next().unwrap_or_default();
            let name = if name == b"cpu" { b"all" } else { name };
            let Some(mut change) = self.cpus.turn(name, words.numbers(), |_| true) else {
                continue;
            };
            // A value that went backwards (iowait may, by a tick) is NaN and not a part of the
            // whole.
            let whole: f64 = change.delta.iter().filter(|d| !d.is_nan()).sum();
            let per_tick = if whole > 0.0 { 100.0 / whole } else { f64::NAN };
            let values = COLUMN.map(|column| change.delta[column] * per_tick);
            let series = change.series(out, SPEC.name, SPEC.fields);
            out.push(t_ns, series, &values);
        }
        if !seen {
            self.trouble.note("lines", || "/proc/stat has no lines for CPUs".to_owned());
        }
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    #[test]
    fn shares_of_the_interval() {
        let fake = Fake::new(&[(
            "proc/stat",
            "cpu  100 0 50 800 10 0 5 1 0 0\ncpu0 100 0 50 800 10 0 5 1 0 0\nintr 1 2\n",
        )]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty(), "the first sample is the base");
        fake.write(
            "proc/stat",
            "cpu  150 10 60 820 13 2 8 3 0 0\ncpu0 150 10 60 820 13 2 8 3 0 0\nintr 1 2\n",
        );
        let rows = watch.after(1);
        assert_eq!(rows.len(), 16);
        for (field, percent) in [
            ("user", 50.0),
            ("nice", 10.0),
            ("system", 10.0),
            ("irq", 2.0),
            ("softirq", 3.0),
            ("iowait", 3.0),
            ("steal", 2.0),
            ("idle", 20.0),
        ] {
            assert!((value(&rows, "cpu0", field) - percent).abs() < 1e-9, "{field}");
        }
        assert_eq!(value(&rows, "all", "user"), value(&rows, "cpu0", "user"));
    }

    #[test]
    fn backwards_is_nan_and_the_rest_still_adds_up() {
        let fake = Fake::new(&[("proc/stat", "cpu0 100 0 50 800 10 0 5 1\n")]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        fake.write("proc/stat", "cpu0 160 0 50 840 9 0 5 1\n");
        let rows = watch.after(1);
        assert!(value(&rows, "cpu0", "iowait").is_nan());
        assert_eq!(value(&rows, "cpu0", "user"), 60.0);
        assert_eq!(value(&rows, "cpu0", "idle"), 40.0);
        let rows = watch.after(1);
        assert!(rows.iter().all(|(.., v)| v.is_nan()), "no tick went by: {rows:?}");
    }

    #[test]
    fn a_cpu_goes_off_and_on() {
        let both = "cpu 2 0 0 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0\n";
        let fake = Fake::new(&[("proc/stat", both)]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        fake.write("proc/stat", "cpu 3 0 0 1\ncpu0 2 0 0 1\n");
        let rows = watch.after(1);
        assert!(rows.iter().all(|(subject, ..)| subject != "cpu1"));
        assert_eq!(value(&rows, "cpu0", "user"), 50.0);
        assert!(value(&rows, "cpu0", "steal").is_nan(), "an old kernel has no such column");
        fake.write("proc/stat", "cpu 9 0 0 1\ncpu0 3 0 0 1\ncpu1 6 0 0 0\n");
        assert!(watch.after(1).iter().all(|(subject, ..)| subject != "cpu1"), "a new base");
        fake.write("proc/stat", "cpu 9 0 0 1\ncpu0 3 0 0 1\ncpu1 7 0 0 0\n");
        assert_eq!(value(&watch.after(1), "cpu1", "user"), 100.0);
    }

    #[test]
    fn a_missing_file_is_reported() {
        assert!(Fake::new(&[]).open(&SPEC).is_err());
        let mut watch = Fake::new(&[("proc/stat", "\u{0}garbage")]).open(&SPEC).unwrap();
        watch.after(1);
        assert_eq!(watch.monitor.not_seen(), ["/proc/stat has no lines for CPUs"]);
    }
}

//! Monitor of context switches, interrupts, forks and runnable threads, from `/proc/stat` and
//! `/proc/loadavg`.

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, decimal, lines, number};
use crate::sampling::source::{ReadMode, SampledFile, SharedSource};
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static RATES: Chart = Chart::lines("Context switches and interrupts");
static THREADS: Chart = Chart::lines("Threads that run or wait");

static TASKS: ColumnGroup = ColumnGroup::new("tasks", 1, ColumnSubject::Subject(""));
static RUNNABLE: SampleColumn = SampleColumn::new(&TASKS, 1, "r", 2, 0);
static BLOCKED: SampleColumn = SampleColumn::new(&TASKS, 2, "b", 2, 4);
static SWITCHES: SampleColumn = SampleColumn::new(&TASKS, 3, "cs/s", 4, 1);

/// Description of the monitor `switches`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "switches",
    help: "Context switches, interrupts, new processes and threads, and runnable threads, from \
           /proc/stat and /proc/loadavg.",
    subjects: "the whole system (an empty subject)",
    fields: &[
        Field::new("context_switches", "1/s", "Switches from one thread to another")
            .cost("switches_per_op")
            .drawn(&RATES, "context switches")
            .column(&SWITCHES),
        Field::new("interrupts", "1/s", "Interrupts served").drawn(&RATES, "interrupts"),
        Field::new("forks", "1/s", "Processes and threads created"),
        Field::new(
            "runnable",
            "1",
            "Threads that ran or waited for a CPU at the end of the interval, this one included",
        )
        .drawn(&THREADS, "runnable")
        .column(&RUNNABLE),
        Field::new("blocked", "1", "Threads that waited for a disk at the end of the interval")
            .drawn(&THREADS, "blocked")
            .column(&BLOCKED),
        Field::new("load1", "1", "The kernel's load average over one minute"),
    ],
    open: |tree| Switches::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

struct Switches {
    stat: SharedSource,
    loadavg: Option<SampledFile>,
    rates: Subjects<3>,
    trouble: Trouble,
}

impl Switches {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let stat = tree.share("proc/stat")?;
        let mut trouble = Trouble::default();
        let loadavg = trouble.opened("loadavg", tree.open("proc/loadavg", ReadMode::Whole));
        Ok(Self { stat, loadavg, rates: Subjects::default(), trouble })
    }

    fn load1(&mut self) -> f64 {
        let text = self.loadavg.as_mut().and_then(|l| l.text("loadavg", &mut self.trouble));
        text.and_then(|text| WordIter::new(text).next()).map_or(f64::NAN, decimal)
    }
}

/// Values of `/proc/stat` other than CPU time.
#[derive(Debug, Default, PartialEq)]
struct StatCounts {
    switches: Option<u64>,
    interrupts: Option<u64>,
    forks: Option<u64>,
    runnable: Option<u64>,
    blocked: Option<u64>,
}

impl StatCounts {
    /// Parses the lines after those of the CPUs from the end. Of the interrupts' line only the
    /// leading sum is read: the line has a number for every interrupt, a hundred kilobytes on a
    /// large machine.
    fn read(stat: &[u8]) -> Self {
        let mut counts = Self::default();
        for line in lines(stat).rev() {
            let mut words = WordIter::new(line);
            let Some(key) = words.next() else { continue };
            let mut value = || words.next().and_then(number);
            match key {
                b"ctxt" => {
                    counts.switches = value();
                    break;
                }
                b"processes" => counts.forks = value(),
                b"procs_running" => counts.runnable = value(),
                b"procs_blocked" => counts.blocked = value(),
                _ => {}
            }
        }
        counts.interrupts = lines(stat)
            .find(|line| !line.starts_with(b"cpu"))
            .and_then(|line| line.strip_prefix(b"intr "))
            .and_then(|rest| WordIter::new(rest).next())
            .and_then(number);
        counts
    }
}

impl Monitor for Switches {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let counts = match self.stat.lock().read(t_ns) {
            Ok(text) => StatCounts::read(text),
            Err(error) => {
                return self.trouble.note("stat", || format!("/proc/stat: {error}"));
            }
        };
        let load1 = self.load1();
        self.rates.begin(t_ns);
        let counters = [counts.switches, counts.interrupts, counts.forks];
        let Some(mut change) = self.rates.turn(b"", counters, |_| true) else { return };
        let level = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
        let values = [
            change.rate(0),
            change.rate(1),
            change.rate(2),
            level(counts.runnable),
            level(counts.blocked),
            load1,
        ];
        let series = change.series(out, SPEC.name, SPEC.fields);
        out.push(t_ns, series, &values);
    }

    fn not_seen(&self) -> Vec<String> {
        self.trouble.sentences()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, value};
    use super::*;

    const STAT: &str = "cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 270295 0 0 7\nctxt 455010\nbtime 17\n\
        processes 14223\nprocs_running 2\nprocs_blocked 1\nsoftirq 1 2 3\n";

    #[test]
    fn rates_and_levels() {
        let fake = Fake::new(&[("proc/stat", STAT), ("proc/loadavg", "0.50 0.15 0.15 2/92 1\n")]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write("proc/stat", &STAT.replace("270295", "270395").replace("455010", "455020"));
        let rows = watch.after(2);
        assert_eq!(value(&rows, "", "interrupts"), 50.0);
        assert_eq!(value(&rows, "", "context_switches"), 5.0);
        assert_eq!(value(&rows, "", "forks"), 0.0);
        assert_eq!(value(&rows, "", "runnable"), 2.0);
        assert_eq!(value(&rows, "", "blocked"), 1.0);
        assert_eq!(value(&rows, "", "load1"), 0.5);
    }

    #[test]
    fn what_is_not_there_is_missing() {
        assert_eq!(StatCounts::read(b"intr x\nctxt\nprocs_running -1"), StatCounts::default());
        let fake = Fake::new(&[("proc/stat", "")]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        assert!(watch.after(1).iter().all(|(.., v)| v.is_nan()));
        assert!(watch.monitor.not_seen()[0].contains("loadavg does not exist"));
    }
}

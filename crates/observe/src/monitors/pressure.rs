//! Monitor of the share of time in which tasks waited for CPU, disk or memory: the kernel's
//! pressure stall information (Documentation/accounting/psi.rst).

use crate::sampling::column::{ColumnGroup, ColumnSubject, SampleColumn};
use crate::sampling::scan::{WordIter, decimal, lines, number};
use crate::sampling::source::{ReadMode, SampledFile};
use crate::sampling::subjects::Subjects;
use crate::sampling::trouble::Trouble;
use crate::{Chart, Field, FieldRole, Monitor, MonitorSpec, NotAvailable, Recorder, Tree};

static WAITED: Chart = Chart::lines("Pressure: share of time in which something waited");

static SUMMARY: ColumnGroup = ColumnGroup::new("psi", 5, ColumnSubject::Largest);
static SOME: SampleColumn = SampleColumn::new(&SUMMARY, 1, "%", 4, 0);

/// Description of the monitor `pressure`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "pressure",
    help: "Share of the interval in which tasks waited for a resource, from the totals of \
           /proc/pressure. For the CPU there is no `full`: the kernel does not define it for the \
           whole system.",
    subjects: "`cpu`, `io`, `memory`",
    fields: &[
        percent("some", "Share of the interval in which at least one task waited for the resource")
            .drawn(&WAITED, "some")
            .column(&SOME),
        percent("some_avg10", "The kernel's own running mean of `some` over 10 s"),
        percent("full", "Share of the interval in which all tasks that had work waited for it")
            .drawn(&WAITED, "full"),
        percent("full_avg10", "The kernel's own running mean of `full` over 10 s"),
    ],
    open: |tree| Pressure::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

const fn percent(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "%", help).role(FieldRole::TimeShare).lower()
}

/// Resources: name, file, and number of fields.
const RESOURCES: [(&str, &str, usize); 3] = [
    ("cpu", "proc/pressure/cpu", 2),
    ("io", "proc/pressure/io", 4),
    ("memory", "proc/pressure/memory", 4),
];

struct Pressure {
    files: Vec<(&'static str, SampledFile, usize)>,
    totals: Subjects<2>,
    trouble: Trouble,
}

impl Pressure {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let mut files = Vec::new();
        let mut trouble = Trouble::default();
        for (name, file, fields) in RESOURCES {
            let source = trouble.opened(name, tree.open(file, ReadMode::Whole));
            files.extend(source.map(|source| (name, source, fields)));
        }
        if files.is_empty() {
            return Err(NotAvailable::because(format!(
                "{}; this needs Linux 4.20 or later with CONFIG_PSI, and where it is off by \
                 default psi=1 on the kernel's command line",
                trouble.sentences().join(", ")
            )));
        }
        Ok(Self { files, totals: Subjects::default(), trouble })
    }
}

/// Parses `some` and `full`: the total in microseconds, and the mean over 10 s.
fn read(text: &[u8]) -> [(Option<u64>, f64); 2] {
    let mut found = [(None, f64::NAN); 2];
    for line in lines(text) {
        let mut words = WordIter::new(line);
        let slot = match words.next() {
            Some(b"some") => &mut found[0],
            Some(b"full") => &mut found[1],
            _ => continue,
        };
        for word in words {
            if let Some(value) = word.strip_prefix(b"avg10=") {
                slot.1 = decimal(value);
            } else if let Some(value) = word.strip_prefix(b"total=") {
                slot.0 = number(value);
            }
        }
    }
    found
}

impl Monitor for Pressure {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        self.totals.begin(t_ns);
        for (name, source, fields) in &mut self.files {
            let Some(text) = source.text(name, &mut self.trouble) else { continue };
            let [some, full] = read(text);
            let turned = self.totals.turn(name.as_bytes(), [some.0, full.0], |_| true);
            let Some(mut change) = turned else { continue };
            // Microseconds per second, as percent.
            let values = [change.rate(0) / 1e4, some.1, change.rate(1) / 1e4, full.1];
            let series = change.series(out, SPEC.name, &SPEC.fields[..*fields]);
            out.push(t_ns, series, &values[..*fields]);
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
    fn shares_from_totals() {
        let fake = Fake::new(&[
            ("proc/pressure/cpu", "some avg10=0.20 avg60=0.65 avg300=0.61 total=1000000\n"),
            (
                "proc/pressure/io",
                "some avg10=1.03 avg60=0 avg300=0 total=5\n\
                full avg10=0.50 avg60=0 avg300=0 total=5\n",
            ),
        ]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty());
        fake.write("proc/pressure/cpu", "some avg10=9.00 avg60=0 avg300=0 total=2500000\n");
        let rows = watch.after(2);
        assert_eq!(value(&rows, "cpu", "some"), 75.0);
        assert_eq!(value(&rows, "cpu", "some_avg10"), 9.0);
        assert!(!rows.iter().any(|(s, f, _)| s == "cpu" && f == "full"));
        assert_eq!(value(&rows, "io", "full"), 0.0);
        assert_eq!(value(&rows, "io", "full_avg10"), 0.5);
        assert!(watch.monitor.not_seen()[0].contains("pressure/memory does not exist"));
        fake.write("proc/pressure/cpu", "some avg10= total=x\nother\n");
        let rows = watch.after(1);
        assert!(value(&rows, "cpu", "some").is_nan());
        assert!(value(&rows, "cpu", "some_avg10").is_nan());
    }

    #[test]
    fn says_how_to_switch_it_on() {
        let error = Fake::new(&[]).open(&SPEC).err().unwrap();
        assert!(error.reason.contains("psi=1"), "{error}");
    }
}

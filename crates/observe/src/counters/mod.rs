//! Hardware counters of a program and its descendants: cycles, instructions, misses, and the use of
//! the processor's issue slots (top-down analysis, level 1) if the events of the processor are
//! known. Events and formulas are data.

mod events;
mod formula;
mod group;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use assay_model::MetricValue;
use assay_traces::translation::counters::{CounterReading, CpuIdentity};
use assay_traces::{TraceData, traced_metric};
use serde::Serialize;

use crate::{NotAvailable, Tracer};
use events::{Set, shares_cores};
use formula::evaluate;
use group::{CounterGroup, Kernel};

/// Count of one event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventCount {
    /// Name of the event.
    pub name: String,
    /// Number of events counted, unscaled.
    pub value: u64,
    /// Time during which the event was enabled, nanoseconds, over all CPUs.
    pub enabled_ns: u64,
    /// Time during which the event was actually counted, nanoseconds.
    pub running_ns: u64,
}

/// A metric computed from counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComputedMetric {
    /// Name of the metric.
    pub name: String,
    pub unit: String,
    /// Description of the metric in one sentence.
    pub help: String,
    /// Formula by which it was computed.
    pub formula: String,
    /// Value of the metric; `None` if a count is unknown.
    pub value: Option<f64>,
}

/// Result of counting: counts, and metrics computed from them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CounterResult {
    /// Model of the processor, if `/proc/cpuinfo` names it.
    pub processor: Option<String>,
    /// Documents that define events and formulas.
    pub sources: Vec<String>,
    /// Counts of all events.
    pub events: Vec<EventCount>,
    pub metrics: Vec<ComputedMetric>,
    /// Remarks that a reader of the counts needs.
    pub notes: Vec<String>,
}

/// Running counters. The thread that started them must also start the program.
#[derive(Debug)]
pub struct RunningCounters {
    sets: Vec<(Set, Vec<CounterGroup>)>,
    processor: Option<String>,
    begin: Option<Readings>,
    end: Option<Readings>,
    notes: Vec<String>,
}

type Readings = BTreeMap<String, CounterReading>;

/// Name of the tracer of hardware counters.
const NAME: &str = "counters";

impl TraceData for CounterResult {
    fn metrics(&self) -> Vec<MetricValue> {
        self.metrics.iter().map(|m| traced_metric(NAME, &m.name, m.value, &m.unit)).collect()
    }

    fn samples(&self) -> u64 {
        self.events.iter().filter(|e| e.running_ns > 0).count() as u64
    }

    fn not_seen(&self) -> Vec<String> {
        self.notes.clone()
    }
}

impl Tracer for RunningCounters {
    const NAME: &'static str = NAME;
    const FILE: &'static str = "counters.json";
    type Request = ();
    type Trace = CounterResult;

    fn request(listed: &str) -> Option<()> {
        (listed == NAME).then_some(())
    }

    fn obstacle() -> Option<NotAvailable> {
        counter_ability(Path::new("/")).err()
    }

    /// Starts to count for the programs that the calling thread starts from now on.
    fn start(root: &Path, (): &()) -> Result<Self, NotAvailable> {
        let cpu = CpuIdentity::read(root);
        let mut sets = vec![Set::generic()];
        let mut notes = Vec::new();
        match cpu.as_ref().and_then(Set::for_cpu) {
            Some(set) if set.one_thread_a_core && shares_cores(root) != Some(false) => {
                notes.push(format!(
                    "top-down shares of {} need one thread per core: now two share one",
                    set.name
                ));
            }
            Some(set) => sets.push(set),
            None => notes.push(format!(
                "no top-down events are known for this processor ({}): generic ones are counted",
                cpu.as_ref().map_or_else(
                    || "/proc/cpuinfo does not name it".into(),
                    CpuIdentity::to_string
                )
            )),
        }
        let mut counters = Self::open(root, sets, notes)?;
        counters.processor = cpu.map(|c| c.to_string());
        Ok(counters)
    }

    fn begin(&mut self) {
        (self.begin, self.end) = (Some(self.read()), None);
    }

    fn end(&mut self) {
        self.end = Some(self.read());
    }

    fn stop(mut self) -> Result<CounterResult, NotAvailable> {
        let end = self.end.take().unwrap_or_else(|| self.read());
        let begin = self.begin.take().unwrap_or_default();
        let since = |(name, now): (&String, &CounterReading)| {
            (name.clone(), now.since(begin.get(name).copied().unwrap_or_default()))
        };
        let counts: Readings = end.iter().map(since).collect();
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(shared(&counts));
        let count = |name: &str| counts.get(name).copied().and_then(CounterReading::scaled);
        let sets = self.sets.iter().filter(|s| !s.1.is_empty()).map(|s| &s.0);
        let computed = |m: &events::Metric| ComputedMetric {
            name: m.name.clone(),
            unit: m.unit.clone(),
            help: m.help.clone(),
            formula: m.formula.clone(),
            // All formulas of the data files are valid, which a test checks.
            value: evaluate(&m.formula, &count).ok().flatten(),
        };
        Ok(CounterResult {
            processor: self.processor,
            sources: sets.clone().map(|s| format!("{}: {}", s.name, s.source)).collect(),
            metrics: sets.flat_map(|s| &s.metrics).map(computed).collect(),
            events: counts
                .into_iter()
                .map(|(name, r)| EventCount {
                    name,
                    value: r.value,
                    enabled_ns: r.enabled_ns,
                    running_ns: r.running_ns,
                })
                .collect(),
            notes,
        })
    }
}

impl RunningCounters {
    fn open(root: &Path, sets: Vec<Set>, mut notes: Vec<String>) -> Result<Self, NotAvailable> {
        let mut kernel = Kernel::Counted;
        let mut opened: Vec<(Set, Vec<CounterGroup>)> = Vec::new();
        let mut first: Option<io::Error> = None;
        for set in sets {
            let mut groups = Vec::new();
            for names in &set.groups {
                match open_group(root, &set, names, &mut kernel) {
                    Ok(group) => groups.push(group),
                    Err(e) => {
                        notes.push(format!(
                            "{} are not counted: perf_event_open: {e}",
                            names.join(", ")
                        ));
                        first.get_or_insert(e);
                    }
                }
            }
            opened.push((set, groups));
        }
        if let (Some(e), true) = (first, opened.iter().all(|(_, groups)| groups.is_empty())) {
            return Err(refused(&e));
        }
        if kernel == Kernel::Excluded {
            notes.push(
                "kernel.perf_event_paranoid is above 1: events in the kernel are not counted"
                    .to_owned(),
            );
        }
        Ok(RunningCounters { sets: opened, processor: None, begin: None, end: None, notes })
    }

    fn read(&self) -> Readings {
        let groups = self.sets.iter().flat_map(|s| &s.1);
        let of = |group: &CounterGroup| -> Vec<(String, CounterReading)> {
            // Counters that cannot be read are reported as unknown.
            group.names.iter().cloned().zip(group.read().unwrap_or_default()).collect()
        };
        groups.flat_map(of).collect()
    }
}

/// Returns notes on events that shared a counter or never had one.
fn shared(counts: &Readings) -> Vec<String> {
    let mut notes = Vec::new();
    let share = |r: &CounterReading| r.running_ns as f64 / r.enabled_ns as f64;
    let ran = counts.values().filter(|r| r.running_ns > 0);
    let least = ran.map(share).fold(1.0, f64::min);
    if least < 1.0 {
        notes.push(format!(
            "events had to share the processor's counters: each was counted for at least {:.0} % \
             of the program's time on CPU, and is scaled up",
            least * 100.0
        ));
    }
    let never: Vec<&str> =
        counts.iter().filter(|c| c.1.running_ns == 0).map(|c| c.0.as_str()).collect();
    if !never.is_empty() {
        notes.push(format!(
            "never counted, since no program ran or no counter was free: {}",
            never.join(", ")
        ));
    }
    notes
}

fn open_group(
    root: &Path,
    set: &Set,
    names: &[String],
    kernel: &mut Kernel,
) -> io::Result<CounterGroup> {
    let kind = match (&set.pmu, set.kind) {
        (Some(pmu), _) => {
            let path = root.join("sys/bus/event_source/devices").join(pmu).join("type");
            let text = std::fs::read_to_string(path)?;
            text.trim().parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?
        }
        (None, kind) => kind.unwrap_or_default(),
    };
    let event = |name: &String| set.events.get(name).map(|e| (kind, e.config(), name.clone()));
    let events: Vec<_> = names.iter().filter_map(event).collect();
    match CounterGroup::open(&events, *kernel) {
        Err(e) if e.raw_os_error() == Some(libc::EACCES) && *kernel == Kernel::Counted => {
            let group = CounterGroup::open(&events, Kernel::Excluded)?;
            *kernel = Kernel::Excluded;
            Ok(group)
        }
        opened => opened,
    }
}

fn refused(e: &io::Error) -> NotAvailable {
    let remedy = match e.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "run as root, with CAP_PERFMON, or with kernel.perf_event_paranoid at most 2"
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine shows no counters (PMU) of these events; virtual machines seldom have any"
        }
        _ => "the kernel counts nothing for this program",
    };
    NotAvailable::because(format!("perf_event_open: {e}: {remedy}"))
}

/// Describes the events that can be counted here, as a sentence for `assay doctor`.
///
/// # Errors
/// No event can be counted.
pub fn counter_ability(root: &Path) -> Result<String, NotAvailable> {
    let counters = RunningCounters::start(root, &())?;
    let named = counters.sets.iter().filter(|s| !s.1.is_empty()).map(|s| s.0.name.clone());
    let first = format!("events of {}", named.collect::<Vec<_>>().join(" and of "));
    Ok(std::iter::once(first).chain(counters.notes).collect::<Vec<_>>().join(". "))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns events that every kernel counts without a PMU, in the same form as those of
    /// processors.
    fn software() -> Set {
        toml::from_str(
            r#"
            name = "software"
            source = "perf_event_open(2), PERF_TYPE_SOFTWARE"
            type = 1
            groups = [["task-clock", "page-faults", "context-switches"],
                ["minor-faults", "major-faults"]]
            [events]
            "task-clock" = { code = 1 }
            "page-faults" = { code = 2 }
            "context-switches" = { code = 3 }
            "minor-faults" = { code = 5 }
            "major-faults" = { code = 6 }
            [[metric]]
            name = "faults_a_switch"
            unit = "faults"
            help = "Page faults of a switch"
            formula = "page-faults / context-switches"
            "#,
        )
        .unwrap()
    }

    /// Starts the software events; returns `None` if not even these can be counted here.
    fn started() -> Option<RunningCounters> {
        match RunningCounters::open(Path::new("/"), vec![software()], Vec::new()) {
            Ok(counters) => Some(counters),
            Err(why) => {
                eprintln!("skipped: because {why}");
                None
            }
        }
    }

    /// C program that does what the bytes on its input request: page faults, sleeps, or a child
    /// with page faults.
    const PROGRAM: &str = r"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void touch(int n) {
    char *p = mmap(0, n * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < n; i++) p[i * 4096L] = 1;
    munmap(p, n * 4096L);
}
int main(void) {
    char what;
    while (read(0, &what, 1) == 1) {
        if (what == 'f') touch(300);
        if (what == 's') for (int i = 0; i < 20; i++) usleep(1000);
        if (what == 'c') { if (!fork()) { touch(200); _exit(0); } wait(0); }
        if (write(1, &what, 1) != 1) return 1;
    }
    return 0;
}
";

    /// Returns the kernel's accounting of a process once it waits: page faults, including those of
    /// children that it waited for, and its own context switches.
    fn accounted(pid: u32) -> (u64, u64) {
        loop {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
            let fields: Vec<&str> = stat[stat.rfind(')').unwrap() + 2..].split(' ').collect();
            if fields[0] != "S" {
                std::thread::yield_now();
                continue;
            }
            let faults = fields[7..11].iter().map(|n| n.parse::<u64>().unwrap()).sum();
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let switches = status.lines().filter(|l| l.contains("_ctxt_switches"));
            let number = |l: &str| l.split_once(':').unwrap().1.trim().parse::<u64>().unwrap();
            return (faults, switches.map(number).sum());
        }
    }

    #[test]
    fn a_program_and_its_children_are_counted_as_the_kernel_accounts_them() {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("p.c"), folder.path().join("p"));
        std::fs::write(&source, PROGRAM).unwrap();
        let compiled = Command::new("cc").arg("-o").args([&program, &source]).status();
        if !compiled.is_ok_and(|c| c.success()) {
            eprintln!("skipped: because there is no C compiler");
            return;
        }
        let Some(mut counters) = started() else { return };
        let piped = Stdio::piped;
        let mut child = Command::new(&program).stdin(piped()).stdout(piped()).spawn().unwrap();
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let pid = child.id();
        let mut tell = |what: &[u8]| {
            to.write_all(what).unwrap();
            from.read_exact(&mut vec![0; what.len()]).unwrap();
            accounted(pid)
        };
        // Once without counting, so that the program has reached its waiting point.
        let before = tell(b"f");
        counters.begin();
        let alone = tell(b"fs");
        counters.end();
        let count = |counters: &RunningCounters, name: &str| {
            let begin = counters.begin.as_ref().unwrap()[name];
            counters.end.as_ref().unwrap()[name].since(begin).value
        };
        assert_eq!(count(&counters, "page-faults"), alone.0 - before.0);
        assert!(alone.0 - before.0 >= 300);
        assert_eq!(count(&counters, "context-switches"), alone.1 - before.1);
        assert!(alone.1 - before.1 >= 20);
        // Now with a child, whose faults the kernel adds to its parent's when the child has been
        // waited for.
        let with_child = tell(b"c");
        counters.end();
        assert_eq!(count(&counters, "page-faults"), with_child.0 - before.0);
        assert!(with_child.0 - alone.0 >= 200);
        let counted = counters.stop().unwrap();
        drop(to);
        assert!(child.wait().unwrap().success());
        assert_eq!(counted.events.len(), 5);
        assert!(counted.events.iter().all(|e| e.enabled_ns > 0 && e.enabled_ns == e.running_ns));
        let value =
            |name: &str| counted.events.iter().find(|e| e.name == name).unwrap().value as f64;
        assert_eq!(value("page-faults"), value("minor-faults") + value("major-faults"));
        assert_eq!(
            counted.metrics[0].value,
            Some(value("page-faults") / value("context-switches"))
        );
        assert_eq!(counted.notes, Vec::<String>::new());
    }

    #[test]
    fn a_count_that_shared_its_counter_is_scaled_and_says_so() {
        let reading =
            |value, enabled_ns, running_ns| CounterReading { value, enabled_ns, running_ns };
        let mut counts = Readings::from([
            ("a".to_owned(), reading(100, 1000, 250)),
            ("b".to_owned(), reading(100, 1000, 1000)),
        ]);
        assert_eq!(counts["a"].scaled(), Some(400.0));
        let notes = shared(&counts);
        assert!(notes.len() == 1 && notes[0].contains("at least 25 %"), "{notes:?}");
        counts.insert("c".to_owned(), reading(0, 1000, 0));
        assert_eq!(counts["c"].scaled(), None);
        assert!(shared(&counts)[1].contains("no counter was free: c"));
    }

    #[test]
    fn without_counters_it_says_what_is_missing() {
        match RunningCounters::start(Path::new("/"), &()) {
            Ok(_) => eprintln!("skipped: because this machine has counters"),
            Err(why) => {
                assert!(why.reason.starts_with("perf_event_open: "), "{why}");
                assert!(why.reason.contains("PMU") || why.reason.contains("root"), "{why}");
            }
        }
    }
}

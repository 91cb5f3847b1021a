//! Monitor of the threads of programs that this process started: where their time went, and which
//! resources they used.
//!
//! A thread's subject is its name and not its id, so that trials and treatments can be compared:
//! `PROCESS/THREAD`, and `PROCESS/THREAD (2)` for the second that has the name at the same time.
//! Only the busiest threads are kept. Unlike with other monitors, a sample allocates, since the
//! number of threads may change at any time.

use std::collections::{BTreeSet, HashMap};

use crate::tasks::{Task, TaskSelection, Tasks};
use crate::{Chart, Field, FieldRole, FirstSeries, Monitor, MonitorSpec, Recorder, Tree};

/// Name of the monitor.
pub const NAME: &str = "tasks";
/// Subject of the sum over all threads.
pub const ALL: &str = "all";
/// Number of threads kept per tick: those with most CPU time since they began.
const MOST: usize = 20;
/// Maximum number of subjects of a sampler: a program may give each of its threads a new name.
const SUBJECTS: usize = 500;

static TIME: Chart = Chart::each("Time of threads");

/// Description of the monitor `tasks`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: NAME,
    help: "Time and resource use of each thread of the trial's program, from /proc and taskstats: \
           the columns of `assay stat --tasks`. `all` does not include it: an experiment must name \
           it, `monitors = [\"all\", \"tasks\"]`. The 20 threads with the most CPU time are kept \
           at each tick. A thread that ends between two ticks is not seen after the first of them.",
    subjects: "`all`, the sum of all threads, and the busiest threads by name (`program`, \
               `program/thread`, `program/thread (2)`)",
    fields: &[
        time("user", "Time in user mode, relative to one CPU").drawn(&TIME, "user"),
        time("system", "Time in the kernel, relative to one CPU").drawn(&TIME, "system"),
        time("waited_for_cpu", "Runnable while other threads used the CPUs")
            .lower()
            .drawn(&TIME, "waiting for a CPU"),
        time("waited_for_disk", "Waited for block I/O").drawn(&TIME, "waiting for a disk"),
        time("waited_for_memory", "Waited for memory: swap-in, reclaim, compaction")
            .lower()
            .drawn(&TIME, "waiting for memory"),
        time("asleep", "The rest: asleep, or waiting for something else").drawn(&TIME, "asleep"),
        Field::new("voluntary_switches", "1/s", "Voluntary switches: it waited"),
        Field::new("involuntary_switches", "1/s", "Involuntary switches: it lost the CPU"),
        Field::new("minor_faults", "1/s", "Page faults without I/O"),
        Field::new("major_faults", "1/s", "Page faults with I/O").lower(),
        Field::new("resident", "B", "Resident memory of its process at the end of the interval"),
        Field::new("read", "B/s", "Data read from storage"),
        Field::new("written", "B/s", "Data to be written to storage"),
    ],
    open: |tree| Ok(Box::new(Threads::open(tree)) as Box<dyn Monitor>),
};

const fn time(name: &'static str, help: &'static str) -> Field {
    Field::new(name, "%", help).role(FieldRole::TimeShare)
}

type Values = [f64; 13];

/// A thread that existed at the last tick.
#[derive(Debug)]
struct PreviousThread {
    base: String,
    /// Number among the threads that have the same name at the same time, from 1.
    number: u32,
    /// CPU time since the thread first appeared, seconds.
    cpu_s: f64,
    tick: u64,
}

/// Numbers in use by the threads that share a name.
#[derive(Debug, Default)]
struct Numbers {
    free: BTreeSet<u32>,
    most: u32,
}

#[derive(Debug)]
struct Threads {
    tasks: Tasks,
    seen: HashMap<(u32, u32), PreviousThread>,
    names: HashMap<String, Numbers>,
    series: HashMap<String, FirstSeries>,
    tick: u64,
    last_ns: Option<u64>,
    /// True if a tick had more threads than are kept (`left_out`), or if the limit of subjects was
    /// reached (`unnamed`).
    left_out: bool,
    unnamed: bool,
}

impl Threads {
    fn open(tree: &Tree) -> Self {
        let now = assay_system::clock::monotonic_ns();
        Threads {
            tasks: Tasks::open(&tree.path(""), TaskSelection::Children, true, now),
            seen: HashMap::new(),
            names: HashMap::new(),
            series: HashMap::new(),
            tick: 0,
            last_ns: None,
            left_out: false,
            unnamed: false,
        }
    }

    /// Matches the tasks with known threads, and numbers new ones.
    fn meet(&mut self, tasks: &[Task], seconds: f64) {
        self.tick += 1;
        let mut new = Vec::new();
        for task in tasks {
            let (key, base) = (key(task), base(task));
            match self.seen.get_mut(&key) {
                Some(seen) if seen.base == base => {
                    seen.tick = self.tick;
                    seen.cpu_s += task.cpu() * seconds;
                }
                _ => new.push((key, base, task.cpu() * seconds)),
            }
        }
        // Numbers of threads that ended become free for those that began.
        let (tick, names) = (self.tick, &mut self.names);
        self.seen.retain(|_, seen| {
            if seen.tick < tick
                && let Some(numbers) = names.get_mut(&seen.base)
            {
                numbers.free.insert(seen.number);
            }
            seen.tick == tick
        });
        names.retain(|_, numbers| numbers.free.len() < numbers.most as usize);
        new.sort_by_key(|n| n.0);
        for (key, base, cpu_s) in new {
            let numbers = names.entry(base.clone()).or_default();
            let number = numbers.free.pop_first().unwrap_or_else(|| {
                numbers.most += 1;
                numbers.most
            });
            self.seen.insert(key, PreviousThread { base, number, cpu_s, tick });
        }
    }

    fn put(&mut self, t_ns: u64, subject: String, values: &Values, out: &mut Recorder) {
        let room = self.series.len() < SUBJECTS;
        let series = match self.series.get(&subject) {
            Some(series) => *series,
            None if room => {
                let series = out.intern(NAME, &subject, SPEC.fields);
                self.series.insert(subject, series);
                series
            }
            None => {
                self.unnamed = true;
                return;
            }
        };
        out.push(t_ns, series, values);
    }
}

impl Monitor for Threads {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        let mut tasks = self.tasks.sample(t_ns);
        // Activity before the first sample belongs to no interval.
        let Some(last) = self.last_ns.replace(t_ns) else { return };
        let seconds = t_ns.saturating_sub(last) as f64 / 1e9;
        self.meet(&tasks, seconds);
        if tasks.is_empty() {
            return;
        }
        self.put(t_ns, ALL.to_owned(), &sum(&tasks), out);
        let seen = &self.seen;
        let cpu = |t: &Task| seen.get(&key(t)).map_or(0.0, |s| s.cpu_s);
        tasks.sort_by(|a, b| cpu(b).total_cmp(&cpu(a)).then_with(|| key(a).cmp(&key(b))));
        self.left_out |= tasks.len() > MOST;
        for task in tasks.iter().take(MOST) {
            if let Some(subject) = self.seen.get(&key(task)).map(subject) {
                self.put(t_ns, subject, &values(task), out);
            }
        }
    }

    fn not_seen(&self) -> Vec<String> {
        let mut all = self.tasks.notes().to_vec();
        if self.left_out {
            all.push(format!(
                "at some tick of the run, perhaps outside of this trial, more than {MOST} threads \
                 ran at once: such a tick has those with the most CPU time, `{ALL}` has all"
            ));
        }
        if self.unnamed {
            all.push(format!(
                "threads have over {SUBJECTS} names: those with later names are in `{ALL}` only"
            ));
        }
        all
    }
}

fn key(task: &Task) -> (u32, u32) {
    (task.pid, task.tid.unwrap_or(task.pid))
}

/// Returns the base name of a thread: its process's name, followed by its own if that differs.
fn base(task: &Task) -> String {
    let plain = |name: &str| -> String {
        name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
    };
    match task.process.as_deref() {
        Some(process) if process != task.program => {
            format!("{}/{}", plain(process), plain(&task.program))
        }
        _ => plain(&task.program),
    }
}

fn subject(seen: &PreviousThread) -> String {
    if seen.number == 1 && seen.base != ALL {
        seen.base.clone()
    } else {
        format!("{} ({})", seen.base, seen.number)
    }
}

fn values(t: &Task) -> Values {
    let known = |value: Option<f64>| value.unwrap_or(f64::NAN);
    [
        t.user * 100.0,
        t.system * 100.0,
        known(t.waited_for_cpu) * 100.0,
        known(t.waited_for_disk) * 100.0,
        known(t.waited_for_memory) * 100.0,
        known(t.asleep) * 100.0,
        known(t.voluntary_switches),
        known(t.involuntary_switches),
        t.minor_faults,
        t.major_faults,
        t.resident_bytes as f64,
        known(t.read_bytes),
        known(t.written_bytes),
    ]
}

/// Returns the sum over all threads; NaN if it is unknown for one of them. Resident memory counts
/// once per process, since threads share it.
fn sum(tasks: &[Task]) -> Values {
    const RESIDENT: usize = 10;
    let mut all: Values = [0.0; 13];
    let mut processes: HashMap<u32, u64> = HashMap::new();
    for task in tasks {
        for (sum, value) in all.iter_mut().zip(values(task)) {
            *sum += value;
        }
        processes.insert(task.pid, task.resident_bytes);
    }
    all[RESIDENT] = processes.values().map(|b| *b as f64).sum();
    all
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::super::fake::{Fake, value};
    use super::*;

    /// Writes a child of this process with named threads to a fake `proc`.
    fn child(fake: &Fake, pid: u32, name: &str, threads: &[(u32, &str, u64)]) {
        let stat = |id: u32, name: &str, user: u64| {
            format!(
                "{id} ({name}) S {} 1 1 0 -1 0 7 0 0 0 {user} 0 0 0 20 0 {} 0 5 0 100 0\n",
                std::process::id(),
                threads.len()
            )
        };
        fake.write(&format!("proc/{pid}/stat"), &stat(pid, name, 0));
        for (tid, thread, user) in threads {
            fake.write(&format!("proc/{pid}/task/{tid}/stat"), &stat(*tid, thread, *user));
        }
    }

    // Beyond the ids of this machine, since the kernel's accounting would otherwise answer for a
    // real task.
    const A: u32 = 4_000_000_000;

    fn subjects(rows: &[(String, String, f64)]) -> Vec<&str> {
        let mut all: Vec<&str> = rows.iter().map(|r| r.0.as_str()).collect();
        all.dedup();
        all
    }

    #[test]
    fn threads_have_names_and_their_numbers_are_used_again() {
        let fake = Fake::new(&[]);
        let mut watch = fake.open(&SPEC).unwrap();
        assert!(watch.after(1).is_empty() && watch.after(1).is_empty(), "nobody is there");
        child(&fake, A, "srv", &[(A, "srv", 0), (A + 1, "io", 0), (A + 2, "io", 0)]);
        // Threads that already existed at the last look have no base yet.
        watch.after(1);
        child(&fake, A, "srv", &[(A, "srv", 0), (A + 1, "io", 10), (A + 2, "io", 50)]);
        let rows = watch.after(1);
        assert_eq!(subjects(&rows), [ALL, "srv/io (2)", "srv/io", "srv"], "busiest first");
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        let percent = |ticks_used: f64| 100.0 * ticks_used / ticks;
        assert!((value(&rows, "srv/io (2)", "user") - percent(50.0)).abs() < 1e-9);
        assert!((value(&rows, ALL, "user") - percent(60.0)).abs() < 1e-9);
        // Counted once, since the threads of a process share its memory.
        assert_eq!(value(&rows, ALL, "resident"), value(&rows, "srv", "resident"));
        assert!(value(&rows, "srv", "asleep").is_nan() && value(&rows, ALL, "asleep").is_nan());
        // The first of the two ends, and another begins.
        std::fs::remove_dir_all(fake.root().join(format!("proc/{A}/task/{}", A + 1))).unwrap();
        child(&fake, A, "srv", &[(A, "srv", 0), (A + 2, "io", 90), (A + 3, "io", 0)]);
        watch.after(1);
        child(&fake, A, "srv", &[(A, "srv", 0), (A + 2, "io", 90), (A + 3, "io", 4)]);
        let rows = watch.after(1);
        assert!((value(&rows, "srv/io", "user") - percent(4.0)).abs() < 1e-9, "{rows:?}");
    }

    #[test]
    fn only_the_busiest_are_kept_with_a_note() {
        let fake = Fake::new(&[]);
        let mut watch = fake.open(&SPEC).unwrap();
        watch.after(1);
        let threads = |used: u64| -> Vec<(u32, &str, u64)> {
            (0..30).map(|i| (A + i, "w", u64::from(i) * used)).collect()
        };
        child(&fake, A, "w", &threads(0));
        watch.after(1);
        child(&fake, A, "w", &threads(1));
        let rows = watch.after(1);
        assert_eq!(subjects(&rows).len(), MOST + 1);
        assert!(subjects(&rows).contains(&"w (30)") && !subjects(&rows).contains(&"w (2)"));
        let notes = watch.monitor.not_seen();
        assert!(notes.iter().any(|n| n.contains("more than 20 threads")), "{notes:?}");
    }

    #[test]
    fn a_program_that_runs_is_seen() {
        let mut monitor = (SPEC.open)(&Tree::new(std::path::Path::new("/"))).unwrap();
        let mut out = Recorder::default();
        monitor.sample(assay_system::clock::monotonic_ns(), &mut out);
        // Started like the programs of trials.
        let mut command = std::process::Command::new("sleep");
        let mut child = command.arg("60").process_group(0).spawn().unwrap();
        // Waits until the child has executed `sleep`.
        let comm = format!("/proc/{}/comm", child.id());
        while std::fs::read_to_string(&comm).unwrap().trim() != "sleep" {
            std::thread::yield_now();
        }
        monitor.sample(assay_system::clock::monotonic_ns(), &mut out);
        child.kill().unwrap();
        child.wait().unwrap();
        let set = out.samples();
        let sleeper = set.series.iter().find(|s| s.subject.starts_with("sleep"));
        let sleeper = sleeper.unwrap_or_else(|| panic!("{:?}", set.series));
        assert_eq!(set.points(NAME, &sleeper.subject, "user").len(), 1);
    }
}

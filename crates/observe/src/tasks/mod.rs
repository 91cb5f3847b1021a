//! Processes and threads: where each spent its time since the last look, and which resources it
//! used. A look reads, per task, one file for the counters and one for I/O, and makes one query to
//! the kernel's accounting (taskstats).

mod files;
mod table;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use assay_system::program_parent;
use assay_system::taskstats::{TaskAccounting, Taskstats};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use files::{ProcFiles, Stat};
pub use table::{header, line};

/// Selection of the tasks to observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSelection {
    Machine,
    /// These processes and all their descendants.
    Processes(Vec<u32>),
    /// Processes that this process starts in process groups of their own, as the programs of trials
    /// are, and their descendants. A command that assay runs only for information (`java -version`)
    /// stays in assay's own group and is excluded.
    Children,
    /// Processes of this control group (given by its folder) and of its subgroups.
    Group(PathBuf),
}

/// A process or thread during an interval. Times are shares of one CPU's time (1.0 is one CPU);
/// `None` if the kernel does not report the value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    pub pid: u32,
    /// Thread id; `None` for the process with all its threads.
    pub tid: Option<u32>,
    /// Name of the process or thread.
    pub program: String,
    /// Name of the process, if this is a thread.
    pub process: Option<String>,
    /// State at the end of the interval, as the kernel's letter.
    pub state: char,
    pub threads: u32,
    /// Time in user mode.
    pub user: f64,
    /// Time in kernel mode.
    pub system: f64,
    /// Time spent runnable while others had the CPUs.
    pub waited_for_cpu: Option<f64>,
    /// Time spent waiting for block I/O.
    pub waited_for_disk: Option<f64>,
    /// Time spent waiting for memory: swap-in, reclaim, compaction.
    pub waited_for_memory: Option<f64>,
    /// Remaining time of all its threads: asleep.
    pub asleep: Option<f64>,
    /// Voluntary context switches per second: the task waited.
    pub voluntary_switches: Option<f64>,
    /// Involuntary context switches per second: the task was preempted.
    pub involuntary_switches: Option<f64>,
    /// Page faults without I/O, per second.
    pub minor_faults: f64,
    /// Page faults with I/O, per second.
    pub major_faults: f64,
    /// Resident memory at the end of the interval (for a thread, that of its process).
    pub resident_bytes: u64,
    /// Bytes per second read from storage.
    pub read_bytes: Option<f64>,
    /// Bytes per second to be written to storage.
    pub written_bytes: Option<f64>,
}

impl Task {
    /// Returns the time on CPUs, in user and kernel mode.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

#[derive(Debug, Clone, Copy)]
struct TaskCounters {
    user_ticks: u64,
    system_ticks: u64,
    minor_faults: u64,
    major_faults: u64,
    accounted: Option<TaskAccounting>,
    io: Option<[u64; 2]>,
}

impl TaskCounters {
    /// Returns the counters of a task at its start; those that are unknown now were unknown then.
    fn at_start(now: &TaskCounters) -> Self {
        TaskCounters {
            user_ticks: 0,
            system_ticks: 0,
            minor_faults: 0,
            major_faults: 0,
            accounted: now.accounted.map(|_| TaskAccounting::default()),
            io: now.io.map(|_| [0, 0]),
        }
    }
}

/// Number of looks after which every process is read again.
const FORGET: u32 = 64;

/// Identity of a task: ids are reused, so the start time is a part of it.
type TaskKey = (u32, Option<u32>, u64);

/// Observes the selected tasks, look by look.
#[derive(Debug)]
pub struct Tasks {
    of: TaskSelection,
    by_thread: bool,
    /// Processes that existed at the last look and are not selected. A process does not become
    /// selected later, so they are not read again.
    others: HashSet<u32>,
    looks: u32,
    files: ProcFiles,
    taskstats: Option<Taskstats>,
    delays: bool,
    notes: Vec<String>,
    last: HashMap<TaskKey, TaskCounters>,
    last_ns: Option<u64>,
    last_boot_ticks: u64,
    ticks: f64,
    page: u64,
}

impl Tasks {
    /// Takes the base of the first interval; `root` contains `proc`.
    pub fn open(root: &Path, of: TaskSelection, by_thread: bool, now_ns: u64) -> Self {
        let mut files = ProcFiles::new(root);
        let mut notes = Vec::new();
        let taskstats = Taskstats::open().map_err(|e| notes.push(e.to_string())).ok();
        if taskstats.is_none() {
            notes.push(if by_thread {
                "without taskstats the waits of threads are unknown, except for a CPU".to_owned()
            } else {
                "without taskstats the waits of tasks are unknown; for processes with several \
                 threads, so are switches and waits for a CPU (--threads shows them)"
                    .to_owned()
            });
        }
        let delays = taskstats.is_some() && files.accounts_delays();
        if taskstats.is_some() && !delays {
            notes.push(
                "the kernel does not account waits for disk and memory: sysctl \
                 kernel.task_delayacct=1 turns that on for tasks started later"
                    .to_owned(),
            );
        }
        let mut tasks = Tasks {
            of,
            by_thread,
            others: HashSet::new(),
            looks: 0,
            files,
            taskstats,
            delays,
            notes,
            last: HashMap::new(),
            last_ns: None,
            last_boot_ticks: 0,
            ticks: rustix::param::clock_ticks_per_second() as f64,
            page: rustix::param::page_size() as u64,
        };
        tasks.sample(now_ns);
        tasks
    }

    /// Returns the values that are unavailable here, with reasons.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the tasks since the last look, the one with most CPU time first. A task that began
    /// in between counts with all its time; one that ended is missing.
    pub fn sample(&mut self, now_ns: u64) -> Vec<Task> {
        let seconds = self
            .last_ns
            .replace(now_ns)
            .and_then(|last| now_ns.checked_sub(last))
            .map(|ns| ns as f64 / 1e9)
            .filter(|s| *s > 0.0);
        let boot = clock_gettime(ClockId::Boottime);
        let boot_ticks = ((boot.tv_sec as f64 + boot.tv_nsec as f64 / 1e9) * self.ticks) as u64;
        let since = std::mem::replace(&mut self.last_boot_ticks, boot_ticks);
        let mut now = HashMap::with_capacity(self.last.len());
        let mut all = Vec::new();
        for (pid, stat) in self.selected() {
            if self.by_thread {
                for tid in self.files.threads(pid) {
                    // The `stat` of a single-threaded process is the same as that of its thread.
                    let own = if stat.threads == 1 && tid == pid {
                        Some(stat.clone())
                    } else {
                        self.files.stat(pid, Some(tid))
                    };
                    if let Some(own) = own {
                        self.one(
                            pid,
                            Some((tid, &stat.program)),
                            &own,
                            seconds,
                            since,
                            &mut now,
                            &mut all,
                        );
                    }
                }
            } else {
                self.one(pid, None, &stat, seconds, since, &mut now, &mut all);
            }
        }
        self.last = now;
        all.sort_by(|a, b| {
            b.cpu().total_cmp(&a.cpu()).then_with(|| (a.pid, a.tid).cmp(&(b.pid, b.tid)))
        });
        all
    }

    #[allow(clippy::too_many_arguments)] // shared by the two branches of `look`
    fn one(
        &mut self,
        pid: u32,
        thread: Option<(u32, &str)>,
        stat: &Stat,
        seconds: Option<f64>,
        since: u64,
        now: &mut HashMap<TaskKey, TaskCounters>,
        all: &mut Vec<Task>,
    ) {
        let tid = thread.map(|t| t.0);
        let counters = self.counters(pid, tid, stat);
        let key = (pid, tid, stat.start_ticks);
        let before = self
            .last
            .get(&key)
            .copied()
            .or_else(|| (stat.start_ticks >= since).then(|| TaskCounters::at_start(&counters)));
        now.insert(key, counters);
        if let Some((before, seconds)) = before.zip(seconds) {
            let process = thread.map(|t| t.1.to_owned());
            all.push(Task { process, ..self.task(pid, tid, stat, &before, &counters, seconds) });
        }
    }

    fn counters(&mut self, pid: u32, tid: Option<u32>, stat: &Stat) -> TaskCounters {
        let accounted = match &mut self.taskstats {
            Some(stats) => match tid {
                Some(tid) => stats.thread(tid).ok(),
                None => stats.process(pid).ok(),
            },
            // These files describe one thread only.
            None if tid.is_some() || stat.threads == 1 => {
                let run = self.files.schedstat(pid, tid);
                let switches = self.files.switches(pid, tid);
                run.zip(switches).map(|([run_ns, cpu_wait_ns], [voluntary, involuntary])| {
                    TaskAccounting {
                        run_ns,
                        cpu_wait_ns,
                        voluntary,
                        involuntary,
                        ..TaskAccounting::default()
                    }
                })
            }
            None => None,
        };
        TaskCounters {
            user_ticks: stat.user_ticks,
            system_ticks: stat.system_ticks,
            minor_faults: stat.minor_faults,
            major_faults: stat.major_faults,
            accounted,
            io: self.files.io(pid, tid),
        }
    }

    fn task(
        &self,
        pid: u32,
        tid: Option<u32>,
        stat: &Stat,
        before: &TaskCounters,
        now: &TaskCounters,
        seconds: f64,
    ) -> Task {
        let ticks = |b: u64, n: u64| n.saturating_sub(b) as f64 / self.ticks / seconds;
        let rate = |b: u64, n: u64| n.saturating_sub(b) as f64 / seconds;
        let accounted = before.accounted.zip(now.accounted);
        let of = |which: fn(&TaskAccounting) -> u64| {
            accounted.map(|(b, n)| which(&n).saturating_sub(which(&b)) as f64 / seconds)
        };
        let part = |which| of(which).map(|ns| ns / 1e9);
        // The sum is exact, but user and system time are in clock ticks.
        let (mut user, mut system) = (
            ticks(before.user_ticks, now.user_ticks),
            ticks(before.system_ticks, now.system_ticks),
        );
        if let Some(run) = part(|a| a.run_ns) {
            let all = user + system;
            let share = if all > 0.0 { user / all } else { 1.0 };
            (user, system) = (run * share, run * (1.0 - share));
        }
        let waited_for_cpu = part(|a| a.cpu_wait_ns);
        let delays = |which| part(which).filter(|_| self.delays);
        let (disk, memory) = (delays(|a| a.disk_ns), delays(|a| a.memory_ns));
        let threads = if tid.is_some() { 1 } else { stat.threads };
        let asleep = match (waited_for_cpu, disk, memory) {
            (Some(cpu), Some(disk), Some(memory)) => {
                Some((f64::from(threads) - user - system - cpu - disk - memory).max(0.0))
            }
            _ => None,
        };
        let io = before.io.zip(now.io);
        Task {
            pid,
            tid,
            program: stat.program.clone(),
            process: None,
            state: stat.state,
            threads,
            user,
            system,
            waited_for_cpu,
            waited_for_disk: disk,
            waited_for_memory: memory,
            asleep,
            voluntary_switches: of(|a| a.voluntary),
            involuntary_switches: of(|a| a.involuntary),
            minor_faults: rate(before.minor_faults, now.minor_faults),
            major_faults: rate(before.major_faults, now.major_faults),
            resident_bytes: stat.resident_pages * self.page,
            read_bytes: io.map(|(b, n)| rate(b[0], n[0])),
            written_bytes: io.map(|(b, n)| rate(b[1], n[1])),
        }
    }

    /// Returns the selected processes with their `stat`, read once.
    fn selected(&mut self) -> Vec<(u32, Stat)> {
        let pids = match &self.of {
            TaskSelection::Group(folder) => of_group(folder),
            _ => self.files.processes(),
        };
        let roots: Vec<u32> = match &self.of {
            TaskSelection::Machine | TaskSelection::Group(_) => Vec::new(),
            TaskSelection::Processes(pids) => pids.clone(),
            TaskSelection::Children => vec![program_parent()],
        };
        // A process id may be reused, though hardly between two looks.
        if self.looks.is_multiple_of(FORGET) {
            self.others.clear();
        }
        self.looks = self.looks.wrapping_add(1);
        let mut others = HashSet::with_capacity(self.others.len());
        let mut all: Vec<(u32, Stat)> = Vec::new();
        for pid in pids {
            if self.others.contains(&pid) {
                others.insert(pid);
            } else if let Some(stat) = self.files.stat(pid, None) {
                all.push((pid, stat));
            }
        }
        if roots.is_empty() {
            return all;
        }
        let own = program_parent();
        let mut found: HashSet<u32> = match self.of {
            TaskSelection::Children => started(&all, own).collect(),
            _ => roots.into_iter().collect(),
        };
        loop {
            let before = found.len();
            let parents = all.iter().filter(|(_, stat)| found.contains(&stat.parent));
            let more: Vec<u32> = parents.map(|(pid, _)| *pid).collect();
            found.extend(more);
            if found.len() == before {
                break;
            }
        }
        // A child of this process may be about to move to a group of its own.
        let never = |p: &&(u32, Stat)| !found.contains(&p.0) && p.0 != own && p.1.parent != own;
        others.extend(all.iter().filter(never).map(|p| p.0));
        self.others = others;
        all.retain(|(pid, _)| found.contains(pid));
        all
    }
}

/// Returns the processes that `parent` started in process groups of their own.
fn started(all: &[(u32, Stat)], parent: u32) -> impl Iterator<Item = u32> {
    let own = all.iter().find(|(pid, _)| *pid == parent).map(|(_, stat)| stat.group);
    let apart = move |stat: &Stat| stat.parent == parent && Some(stat.group) != own;
    all.iter().filter(move |(_, stat)| apart(stat)).map(|(pid, _)| *pid)
}

/// Returns the processes of a control group and of its subgroups.
pub fn of_group(folder: &Path) -> Vec<u32> {
    let mut pids = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        pids.extend(text.lines().filter_map(|l| l.parse::<u32>().ok()).filter(|pid| *pid > 0));
        let below = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(below.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
    }
    pids
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a fake `proc` with one single-threaded process.
    fn write(root: &Path, user: u64, faults: u64, read: u64) {
        let folder = root.join("proc/4000000000");
        std::fs::create_dir_all(folder.join("task/4000000000")).unwrap();
        let stat = format!(
            "4000000000 (p q) S 1 1 1 0 -1 0 {faults} 0 2 0 {user} 20 0 0 20 0 1 0 10 0 418 0\n"
        );
        for place in [folder.clone(), folder.join("task/4000000000")] {
            std::fs::write(place.join("stat"), &stat).unwrap();
            std::fs::write(
                place.join("io"),
                format!("rchar: 1\nread_bytes: {read}\nwrite_bytes: 0\n"),
            )
            .unwrap();
        }
    }

    #[test]
    fn what_changes_is_a_rate_and_what_is_not_reported_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 100, 7, 0);
        let mut tasks = Tasks::open(root.path(), TaskSelection::Machine, false, 1_000_000_000);
        write(root.path(), 150, 17, 4096);
        let all = tasks.sample(3_000_000_000);
        let [task] = all.as_slice() else { panic!("{all:?}") };
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        assert!((task.user - 50.0 / ticks / 2.0).abs() < 1e-9 && task.system == 0.0, "{task:?}");
        assert_eq!((task.program.as_str(), task.state), ("p q", 'S'));
        assert_eq!((task.minor_faults, task.read_bytes), (5.0, Some(2048.0)));
        // The kernel has no accounting of this fake process.
        assert_eq!((task.waited_for_cpu, task.asleep, task.voluntary_switches), (None, None, None));
    }

    #[test]
    fn only_children_in_groups_of_their_own_are_a_trials_programs() {
        use std::os::unix::process::CommandExt as _;

        let clock = assay_system::clock::monotonic_ns;
        let sleep = || {
            let mut command = std::process::Command::new("sleep");
            command.arg("60");
            command
        };
        let (mut asked, mut run) =
            (sleep().spawn().unwrap(), sleep().process_group(0).spawn().unwrap());
        let tasks = Tasks::open(Path::new("/"), TaskSelection::Children, false, clock());
        let seen: Vec<u32> = tasks.last.keys().map(|k| k.0).collect();
        for child in [&mut asked, &mut run] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(seen.contains(&run.id()) && !seen.contains(&asked.id()), "{seen:?}");
        assert!(!seen.contains(&std::process::id()));
    }

    #[test]
    fn this_process_works_and_its_child_waits() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let clock = assay_system::clock::monotonic_ns;
        let own = TaskSelection::Processes(vec![std::process::id()]);
        let mut tasks = Tasks::open(Path::new("/"), own, false, clock());
        let began = clock();
        let mut sum = 0u64;
        while clock() - began < 300_000_000 {
            sum = std::hint::black_box(sum.wrapping_mul(31) + 1);
        }
        let all = tasks.sample(clock());
        child.kill().unwrap();
        child.wait().unwrap();
        let of = |pid: u32| all.iter().find(|t| t.pid == pid).unwrap();
        let (own, sleeper) = (of(std::process::id()), of(child.id()));
        assert!(own.cpu() > 0.0 && own.cpu() > sleeper.cpu(), "{own:?} {sleeper:?}");
        assert!(sleeper.cpu() < 0.5 && sleeper.program == "sleep");
        let threads = Tasks::open(
            Path::new("/"),
            TaskSelection::Processes(vec![std::process::id()]),
            true,
            clock(),
        );
        assert!(threads.last.keys().any(|k| k.1.is_some()));
    }
}

//! The profiler at work: probes, memory maps, and at the end the profile made of both.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use assay_profile::{Builder, Frame, Kind, Loss, Profile, State, ThreadTime, reason};

use super::ProfileRequest;
use super::abi::{COMM, Config, DEPTH, Group, NO_ROOM, Stack, Task, Window, counter, state};
use super::maps::Changes;
use super::probes::Probes;
use super::spaces::Spaces;
use super::symbols::Symbols;
use crate::NotAvailable;
use crate::follow::Whose;
use crate::processes::{numbers, one_namespace, processes, thread_name, with_descendants};

/// Looks at programs.
pub(super) struct Profiler {
    probes: Probes,
    changes: Changes,
    spaces: Spaces,
    window: Window,
    rate_hz: f64,
    off_cpu: bool,
    began_ns: u64,
    began: SystemTime,
    ended_ns: Option<u64>,
    root: PathBuf,
}

impl Profiler {
    pub fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        one_namespace()?;
        let mut spaces = Spaces::new(ask.whose == Whose::All);
        let own = std::process::id();
        let config = Config {
            period_ns: (1e9 / ask.rate_hz) as u64,
            root: if ask.whose == Whose::Children { own } else { 0 },
            all: u8::from(ask.whose == Whose::All),
            off_cpu: u8::from(ask.off_cpu),
            ..Config::default()
        };
        let began = SystemTime::now();
        // First what happens, then what is there, so that nothing is missed between.
        let changes = Changes::open()?;
        let mut probes = Probes::start(root, config, ask.rate_hz)?;
        let began_ns = assay_sut::clock::monotonic_ns();
        match &ask.whose {
            Whose::Children => spaces.follow(own),
            Whose::Processes(pids) => {
                for pid in with_descendants(pids)? {
                    follow(&mut probes, &mut spaces, pid, ask.off_cpu);
                }
            }
            Whose::All => {
                for pid in processes() {
                    spaces.follow(pid);
                    if ask.off_cpu {
                        tell(&mut probes, pid);
                    }
                }
            }
        }
        Ok(Profiler {
            probes,
            changes,
            spaces,
            window: Window::default(),
            rate_hz: ask.rate_hz,
            off_cpu: ask.off_cpu,
            began_ns,
            began,
            ended_ns: None,
            root: root.to_owned(),
        })
    }

    /// Takes up what happened to processes; wanted every few hundredths of a second.
    pub fn poll(&mut self) {
        for change in self.changes.take(false) {
            self.spaces.take(change);
        }
    }

    /// The measured part begins now.
    pub fn begin(&mut self) {
        self.window.begin_ns = assay_sut::clock::monotonic_ns();
        self.window.end_ns = 0;
        self.probes.set_window(self.window);
    }

    /// It ends now.
    pub fn end(&mut self) {
        self.window.end_ns = assay_sut::clock::monotonic_ns();
        self.probes.set_window(self.window);
    }

    /// Ends the looking.
    pub fn stop(&mut self) {
        if self.ended_ns.is_none() {
            self.ended_ns = Some(assay_sut::clock::monotonic_ns());
            self.probes.detach();
            for change in self.changes.take(true) {
                self.spaces.take(change);
            }
        }
    }

    /// What was seen.
    pub fn profile(&self) -> Profile {
        let end = match self.window.end_ns {
            0 => self.ended_ns.unwrap_or(self.began_ns),
            end => end,
        };
        let begin = self.window.begin_ns.max(self.began_ns);
        let n = |what| self.probes.count(what);
        let mut profile = Profile {
            method: if self.probes.cycles {
                "eBPF, sampled by hardware cycles".to_owned()
            } else {
                "eBPF, sampled by the CPU clock (this machine counts no cycles)".to_owned()
            },
            rate_hz: Some(self.rate_hz),
            span_ns: end.checked_sub(begin),
            off_cpu: self.off_cpu,
            unit: "ns".to_owned(),
            loss: Loss {
                samples: n(counter::LOST_GROUPS),
                ns: n(counter::LOST_NS),
                stacks: n(counter::LOST_STACKS),
                threads: n(counter::LOST_TASKS),
                mappings: self.changes.lost,
            },
            ..Profile::default()
        };
        let mut gather = Gather {
            symbols: Symbols::new(&self.root, &self.spaces, self.began),
            stacks: self.probes.stacks(),
            kernel: HashMap::new(),
            user: HashMap::new(),
            builder: Builder::default(),
            cpu: HashMap::new(),
            deep: 0,
        };
        let measured = u8::from(self.window.begin_ns > 0);
        for (group, amount) in self.probes.groups() {
            if group.measured == measured {
                gather.add(&group, amount.n, amount.ns);
            }
        }
        for (_, task) in self.probes.tasks() {
            self.still(&task, end, &mut gather);
        }
        let Gather { symbols, builder, cpu, deep, .. } = gather;
        profile.notes = symbols.notes();
        if deep > 0 {
            profile.notes.push(format!(
                "{deep} stacks are as deep as the kernel tells of ({DEPTH} functions): their outermost \
                 functions are missing"
            ));
        }
        profile.cpu = cpu.into_iter().map(|(thread, ns)| ThreadTime { thread, ns }).collect();
        profile.cpu.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.thread.cmp(&b.thread)));
        builder.finish(&mut profile);
        profile
    }

    /// What a thread that is still there has been doing since the probes saw it last.
    fn still(&self, task: &Task, end: u64, gather: &mut Gather<'_>) {
        let clip = |from: u64, to: u64| to.min(end).saturating_sub(from.max(self.window.begin_ns));
        let group = Group {
            kernel_stack: task.kernel_stack,
            user_stack: task.user_stack,
            tgid: task.tgid,
            generation: task.generation,
            comm: task.comm,
            state: task.state,
            ..Group::default()
        };
        if task.state == state::ON_CPU {
            let group = Group { state: state::ON_CPU_EXACT, ..group };
            gather.add(&group, 1, clip(task.since_ns, end));
            return;
        }
        let woken = if task.woken_ns > 0 { task.woken_ns } else { end };
        gather.add(&group, 1, clip(task.since_ns, woken));
        gather.add(&Group { state: state::RUNNABLE, ..group }, 1, clip(woken, end));
    }
}

/// A profile while it is put together.
struct Gather<'s> {
    symbols: Symbols<'s>,
    stacks: HashMap<u64, Stack>,
    /// Frames of a kernel's stack, outermost first.
    kernel: HashMap<u64, Vec<u32>>,
    /// The same of a program's.
    user: HashMap<(u32, u32, u64, bool), Vec<u32>>,
    builder: Builder,
    cpu: HashMap<String, u64>,
    deep: u64,
}

impl Gather<'_> {
    fn add(&mut self, group: &Group, count: u64, ns: u64) {
        if ns == 0 {
            return;
        }
        let thread = thread_name(&group.comm);
        if group.state == state::ON_CPU_EXACT {
            *self.cpu.entry(thread).or_default() += ns;
            return;
        }
        let on_cpu = group.state == state::ON_CPU;
        let mut frames = self.user(group, on_cpu && group.kernel_stack == 0);
        let kernel = self.kernel(group.kernel_stack, on_cpu);
        let state = match group.state {
            state::ON_CPU => State::OnCpu,
            state::RUNNABLE => State::Runnable,
            state::BEFORE => State::Unknown,
            other => {
                let names: Vec<String> = self
                    .raw(group.kernel_stack)
                    .filter_map(|ip| self.symbols.kernel(ip).name)
                    .collect();
                reason(&names.iter().map(String::as_str), other == state::IO_WAIT)
            }
        };
        frames.extend(kernel);
        if frames.is_empty() || group.user_stack == NO_ROOM || group.kernel_stack == NO_ROOM {
            let lost = group.user_stack == NO_ROOM || group.kernel_stack == NO_ROOM;
            let name = if lost { "[stack lost: no room]" } else { "[no stack]" };
            let frame =
                Frame { name: Some(name.to_owned()), module: String::new(), kind: Kind::User };
            frames = vec![self.builder.frame(frame)];
        }
        self.builder.add(&thread, state, frames, count, ns);
    }

    /// The addresses of a stack, innermost first.
    fn raw(&self, stack: u64) -> impl Iterator<Item = u64> + '_ {
        let stack = self.stacks.get(&stack);
        stack.into_iter().flat_map(|s| s.ip.iter().copied().take(s.n as usize))
    }

    fn user(&mut self, group: &Group, exact: bool) -> Vec<u32> {
        let key = (group.tgid, group.generation, group.user_stack, exact);
        if let Some(frames) = self.user.get(&key) {
            return frames.clone();
        }
        let addresses: Vec<u64> = self.raw(group.user_stack).collect();
        self.deep += u64::from(addresses.len() == DEPTH);
        let mut frames = Vec::new();
        for (at, address) in addresses.iter().enumerate().rev() {
            let called = at > 0 || !exact;
            for frame in self.symbols.user(group.tgid, group.generation, *address, called) {
                frames.push(self.builder.frame(frame));
            }
        }
        self.user.insert(key, frames.clone());
        frames
    }

    fn kernel(&mut self, stack: u64, on_cpu: bool) -> Vec<u32> {
        if let Some(frames) = self.kernel.get(&stack) {
            return frames.clone();
        }
        let mut frames: Vec<Frame> = self.raw(stack).map(|ip| self.symbols.kernel(ip)).collect();
        // What switches threads, and the profiler in it, stands innermost in every wait and says nothing.
        if !on_cpu {
            let switches = |f: &Frame| {
                let name = f.name.as_deref().unwrap_or_default();
                ["__schedule", "schedule", "preempt_schedule_irq"].contains(&name)
            };
            if let Some(at) = frames.iter().rposition(switches) {
                frames.drain(..=at);
            }
        }
        frames.reverse();
        let numbers: Vec<u32> = frames.into_iter().map(|f| self.builder.frame(f)).collect();
        self.kernel.insert(stack, numbers.clone());
        numbers
    }
}

/// Follows a process that is there.
fn follow(probes: &mut Probes, spaces: &mut Spaces, pid: u32, off_cpu: bool) {
    spaces.follow(pid);
    probes.follow(pid);
    if off_cpu {
        tell(probes, pid);
    }
}

/// Says of a process's threads that they have been doing something unknown until now.
fn tell(probes: &mut Probes, pid: u32) {
    let now = assay_sut::clock::monotonic_ns();
    for tid in numbers(&format!("/proc/{pid}/task")) {
        let text = std::fs::read(format!("/proc/{pid}/task/{tid}/comm")).unwrap_or_default();
        let mut comm = [0; COMM];
        let length = text.iter().position(|b| *b == b'\n').unwrap_or(text.len()).min(COMM - 1);
        comm[..length].copy_from_slice(&text[..length]);
        let task = Task { since_ns: now, tgid: pid, comm, state: state::BEFORE, ..Task::default() };
        probes.tell(tid, &task);
    }
}

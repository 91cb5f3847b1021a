//! Profiling without privileges: the kernel's own samples of this user's processes
//! (`perf_event_open`), on CPU only. Stacks arrive one by one and are aggregated here.

use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use assay_system::program_parent;
use assay_traces::profile::{Loss, Profile};
use assay_traces::translation::perf_event::Attributes;

use super::abi::{COMM as NAME, DEPTH, RawSample, STACK_BYTES, StackGroup};
use super::gather::ProfileBuilder;
use super::looking::RunningProfiler;
use super::maps::{COMM, FORK, ProcessChange, change, paranoid};
use super::spaces::Spaces;
use super::symbols::Symbols;
use super::unwound::{SKIPPED_CALLERS, UnwoundStacks};
use super::{ProfileRequest, Unwind};
use crate::NotAvailable;
use crate::ebpf::Window;
use crate::io::perf_ring::{CpuRing, cpus, number};
use crate::process_filter::ProcessFilter;
use crate::processes::{cpu_time, name_now, with_descendants};
use crate::sampling::scan::numbers;

const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const SAMPLE: u32 = 9;
/// Content of a sample, in this order: address, process and thread, time, stack by frame pointers;
/// for unwinding also registers and a part of the stack.
const HOLDS: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 5;
const HOLDS_STACK: u64 = 1 << 12 | 1 << 13;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const SAMPLE_ID_ALL: u64 = 1 << 18;
/// Smallest address in a call chain that is a marker for what follows.
const MARKS: u64 = -4095i64 as u64;
const MARK_USER: u64 = -512i64 as u64;

/// Kernel's numbers of the sampled registers, in the order of [`RawSample`]'s registers.
#[cfg(target_arch = "x86_64")]
const ORDER: &[u32] = &[23, 22, 21, 20, 6, 1, 19, 18, 17, 16, 0, 2, 3, 4, 5, 0, 8, 0, 0, 7];
#[cfg(target_arch = "aarch64")]
const ORDER: &[u32] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32,
];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ORDER: &[u32] = &[];

fn wanted_registers() -> u64 {
    ORDER.iter().fold(0, |bits, n| bits | 1 << n)
}

/// Profiler of this user's programs.
pub(super) struct Sampler {
    rings: Vec<CpuRing>,
    spaces: Spaces,
    symbols: Symbols,
    unwound: UnwoundStacks,
    names: HashMap<u32, [u8; NAME]>,
    waiting: Vec<(u64, ProfileEvent)>,
    window: Window,
    ask: ProfileRequest,
    /// Process id of assay, whose own samples are discarded.
    own: Option<u32>,
    /// User and system time of the programs at the beginning and at the end of the measurement
    /// window.
    cpu_ns: [Option<[u64; 2]>; 2],
    kernel: bool,
    lost: u64,
    began_ns: u64,
    ended_ns: Option<u64>,
    /// Reason why eBPF is not used.
    instead: String,
}

enum ProfileEvent {
    Change(ProcessChange),
    Name { tid: u32, name: [u8; NAME], executes: bool },
    Thread { tid: u32, parent: u32 },
    Sample { tid: u32, raw: Box<RawSample>, kernel: Vec<u64> },
}

impl Sampler {
    /// Opens the rings; `instead` is the reason why eBPF is not used.
    pub fn start(
        root: &Path,
        ask: &ProfileRequest,
        instead: &NotAvailable,
    ) -> Result<Self, NotAvailable> {
        let own = program_parent();
        let mut spaces = Spaces::new(false);
        let began = SystemTime::now();
        let (pids, own) = match &ask.whose {
            ProcessFilter::Children => (vec![own], Some(own)),
            ProcessFilter::Processes(pids) => (with_descendants(pids)?, None),
            ProcessFilter::All => return Err(instead.clone()),
        };
        let mut threads = Vec::new();
        for pid in &pids {
            threads.extend(numbers(format!("/proc/{pid}/task")));
        }
        let open = |excluded: u64| -> std::io::Result<Vec<CpuRing>> {
            let mut event = Attributes::new(SOFTWARE, CPU_CLOCK);
            event.sample_period = (1e9 / ask.rate_hz) as u64;
            event.sample_type = HOLDS;
            event.flags = excluded | EXCLUDE_HYPERVISOR | SAMPLE_ID_ALL;
            if ask.unwind != Unwind::FramePointers && !ORDER.is_empty() {
                event.sample_type |= HOLDS_STACK;
                event.sample_regs_user = wanted_registers();
                event.sample_stack_user = STACK_BYTES as u32;
            }
            cpus().into_iter().map(|cpu| CpuRing::open_samples(cpu, &threads, &event)).collect()
        };
        let (rings, kernel) = match open(0) {
            Ok(rings) => (rings, true),
            Err(_) => {
                (open(EXCLUDE_KERNEL).map_err(|e| refused(&e, instead, threads.len()))?, false)
            }
        };
        let began_ns = assay_system::clock::monotonic_ns();
        for pid in pids {
            spaces.follow(pid);
        }
        Ok(Sampler {
            rings,
            spaces,
            symbols: Symbols::new(root, began),
            unwound: UnwoundStacks::new((1e9 / ask.rate_hz) as u64, ask.room),
            names: HashMap::new(),
            waiting: Vec::new(),
            window: Window::default(),
            ask: ask.clone(),
            own,
            cpu_ns: [cpu_time(&ask.whose), None],
            kernel,
            lost: 0,
            began_ns,
            ended_ns: None,
            instead: instead.to_string(),
        })
    }

    fn look(&mut self, until: u64) {
        for ring in &mut self.rings {
            let waiting = &mut self.waiting;
            self.lost +=
                ring.records(|kind, flags, record| waiting.extend(seen(kind, flags, record)));
        }
        self.waiting.sort_by_key(|w| w.0);
        let ready = self.waiting.partition_point(|w| w.0 < until);
        let ready: Vec<_> = self.waiting.drain(..ready).collect();
        for (time, seen) in ready {
            self.take(time, seen);
        }
    }

    fn take(&mut self, time: u64, seen: ProfileEvent) {
        match seen {
            ProfileEvent::Change(change) => self.spaces.take(change),
            ProfileEvent::Name { tid, name, executes } => {
                self.names.insert(tid, name);
                if executes {
                    self.spaces.take(ProcessChange::Exec { pid: tid });
                }
            }
            ProfileEvent::Thread { tid, parent } => {
                if let Some(name) = self.names.get(&parent).copied() {
                    self.names.insert(tid, name);
                }
            }
            ProfileEvent::Sample { tid, mut raw, kernel } => {
                let pid = raw.group.tgid;
                let measured = self.window.begin_ns > 0 && time >= self.window.begin_ns;
                if self.own == Some(pid) || self.window.end_ns > 0 && time >= self.window.end_ns {
                    return;
                }
                raw.group.measured = u8::from(measured);
                raw.group.generation = self.spaces.generation_of(pid);
                raw.group.comm = *self.names.entry(tid).or_insert_with(|| name_now(pid, tid));
                if !kernel.is_empty() {
                    raw.group.kernel_stack = self.unwound.keep(kernel);
                }
                if raw.stack.is_empty() {
                    self.unwound.count(raw.group, raw.frames);
                } else {
                    self.unwound.unwind(*raw, &self.spaces);
                }
            }
        }
    }
}

impl RunningProfiler for Sampler {
    fn poll(&mut self) {
        // The rings of the CPUs are read one after the other: events younger than the last read
        // must wait.
        let until = assay_system::clock::monotonic_ns().saturating_sub(2_000_000);
        self.look(until);
    }

    fn begin(&mut self) {
        self.window.begin();
        self.cpu_ns = [cpu_time(&self.ask.whose), None];
    }

    fn end(&mut self) {
        self.window.end();
        self.cpu_ns[1] = cpu_time(&self.ask.whose);
    }

    fn stop(&mut self) {
        if self.ended_ns.is_none() {
            self.ended_ns = Some(assay_system::clock::monotonic_ns());
            self.rings.iter().for_each(CpuRing::disable);
            self.look(u64::MAX);
        }
    }

    fn profile(&mut self) -> Profile {
        let end = self.window.end_or(self.ended_ns);
        let mut profile = Profile {
            method: "perf_event_open, this user's programs sampled by the CPU clock".to_owned(),
            rate_hz: Some(self.ask.rate_hz),
            span_ns: end.checked_sub(self.window.begin_ns.max(self.began_ns)),
            unit: "ns".to_owned(),
            loss: Loss { samples: self.lost, stacks: self.unwound.lost_stacks, ..Loss::default() },
            ..Profile::default()
        };
        let stacks = self.unwound.stacks().collect();
        let mut gather =
            ProfileBuilder::new(&mut self.symbols, &self.spaces, stacks, self.lost > 0);
        let measured = u8::from(self.window.begin_ns > 0);
        for (group, amount) in self.unwound.groups().filter(|(g, _)| g.measured == measured) {
            gather.add(&group, amount.n, amount.ns);
        }
        gather.finish(&mut profile);
        let [began, ended] = self.cpu_ns;
        if let (Some(was), Some(now)) = (began, ended.or_else(|| cpu_time(&self.ask.whose))) {
            let [user, system] = [0, 1].map(|i| now[i].saturating_sub(was[i]));
            profile.accounted_ns = Some(user + system);
            profile.loss.hidden_ns = if self.kernel { 0 } else { system };
        }
        profile.notes.extend(self.unwound.notes(&self.spaces, 0));
        if self.ask.unwind == Unwind::FramePointers && cfg!(target_arch = "aarch64") {
            profile.notes.push(SKIPPED_CALLERS.to_owned());
        }
        profile.notes.push(format!("waits and exact CPU time need eBPF: {}", self.instead));
        if !self.kernel {
            profile.notes.push(format!(
                "time in the kernel is not in this profile: kernel.perf_event_paranoid is {}, and \
                at most 1 shows it",
                paranoid()
            ));
        }
        profile
    }

    fn read(&self) -> usize {
        self.symbols.read()
    }
}

fn refused(e: &std::io::Error, instead: &NotAvailable, threads: usize) -> NotAvailable {
    let remedy = match e.raw_os_error() {
        Some(libc::EMFILE) => format!(
            "{threads} threads need as many open files on each CPU; raise the limit (ulimit -n), \
            or profile as root"
        ),
        Some(libc::EPERM) => {
            "the process is another user's, or this kernel's limit of locked memory \
                              (kernel.perf_event_mlock_kb) is reached"
                .to_owned()
        }
        Some(libc::EACCES) if paranoid().parse().is_ok_and(|level: i8| level <= 2) => {
            "the process is another user's: profile it as that user, or as root".to_owned()
        }
        _ => format!(
            "kernel.perf_event_paranoid is {}; with at most 2 users sample their own programs: \
             sysctl kernel.perf_event_paranoid=2",
            paranoid()
        ),
    };
    NotAvailable::because(format!("{instead}; without privileges, perf_event_open: {e} ({remedy})"))
}

/// Converts a record to an event with its time; `None` for records that are not needed.
fn seen(kind: u32, flags: u16, record: &[u8]) -> Option<(u64, ProfileEvent)> {
    let u32_at = |at: usize| number(record, at, 4) as u32;
    if kind == SAMPLE {
        return sample(record);
    }
    let time = number(record, record.len().checked_sub(8)?, 8);
    if kind == COMM && record.len() > 32 {
        let tid = u32_at(12);
        let mut name = [0; NAME];
        let text = &record[16..record.len() - 16];
        let length = text.iter().position(|b| *b == 0).unwrap_or(text.len()).min(NAME - 1);
        name[..length].copy_from_slice(&text[..length]);
        let executes = matches!(change(kind, flags, record), Some((_, ProcessChange::Exec { .. })));
        return Some((time, ProfileEvent::Name { tid, name, executes }));
    }
    if kind == FORK && record.len() >= 32 && u32_at(8) == u32_at(12) {
        return Some((time, ProfileEvent::Thread { tid: u32_at(16), parent: u32_at(20) }));
    }
    change(kind, flags, record).map(|(time, change)| (time, ProfileEvent::Change(change)))
}

fn sample(record: &[u8]) -> Option<(u64, ProfileEvent)> {
    let word = |at: usize| number(record, at, 8);
    let (tgid, tid, time) = (number(record, 16, 4) as u32, number(record, 20, 4) as u32, word(24));
    let n = usize::try_from(word(32)).ok()?.min(record.len() / 8);
    let mut at = 40;
    let (mut user, mut kernel) = (Vec::new(), Vec::new());
    let mut of_user = false;
    for address in (0..n).map(|i| word(at + 8 * i)) {
        match address {
            MARK_USER => of_user = true,
            MARKS.. => of_user = false,
            _ if of_user && user.len() < DEPTH => user.push(address),
            _ if !of_user => kernel.push(address),
            _ => {}
        }
    }
    at += 8 * n;
    let group = StackGroup { tgid, ..StackGroup::default() };
    let mut raw = RawSample { group, registers: [0; 34], base: 0, stack: Vec::new(), frames: user };
    // Kind of the registers: 2 for a 64-bit program, 0 without registers.
    let kind = word(at);
    if record.len() >= at + 16 && kind > 0 {
        let all = wanted_registers();
        for (to, of) in raw.registers.iter_mut().zip(ORDER) {
            *to = word(at + 8 + 8 * (all & ((1 << of) - 1)).count_ones() as usize);
        }
        at += 8 + 8 * all.count_ones() as usize;
        let size = word(at) as usize;
        let used = (word(at + 8 + size.min(record.len())) as usize).min(size);
        if let (Some(stack), 2) = (record.get(at + 8..at + 8 + used), kind) {
            raw.base = raw.registers[if cfg!(target_arch = "aarch64") { 31 } else { 19 }];
            stack.clone_into(&mut raw.stack);
        }
    }
    Some((time, ProfileEvent::Sample { tid, raw: Box::new(raw), kernel }))
}

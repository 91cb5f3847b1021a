//! The eBPF profiler: runs the probes, follows memory maps, and finally builds the profile from
//! both.

use std::path::Path;
use std::time::SystemTime;

use assay_system::program_parent;
use assay_traces::profile::{Loss, Profile};

use super::abi::{FollowedThread, ProfileConfig, RawSample, StackGroup, counter, state};
use super::gather::ProfileBuilder;
use super::looking::RunningProfiler;
use super::maps::Changes;
use super::probes::ProfileProbes;
use super::sampler::Sampler;
use super::spaces::Spaces;
use super::symbols::Symbols;
use super::unwound::{Pointers, SKIPPED_CALLERS, UnwoundStacks};
use super::{ProfileRequest, SHORT_NS, Unwind};
use crate::NotAvailable;
use crate::ebpf::{Window, count, unload};
use crate::process_filter::ProcessFilter;
use crate::processes::{one_namespace, processes, with_descendants};

/// Profiler that uses the eBPF probes.
struct Profiler {
    probes: ProfileProbes,
    changes: Changes,
    spaces: Spaces,
    symbols: Symbols,
    /// Samples copied since the last poll.
    waiting: Vec<RawSample>,
    unwound: UnwoundStacks,
    unwind: Unwind,
    window: Window,
    rate_hz: f64,
    off_cpu: bool,
    began_ns: u64,
    ended_ns: Option<u64>,
}

/// Starts the best available profiler: the eBPF probes, else the kernel's samples of this user's
/// programs.
pub(super) fn start(
    root: &Path,
    ask: &ProfileRequest,
) -> Result<Box<dyn RunningProfiler>, NotAvailable> {
    match Profiler::start(root, ask) {
        Ok(profiler) => Ok(Box::new(profiler)),
        Err(why) => Ok(Box::new(Sampler::start(root, ask, &why)?)),
    }
}

impl Profiler {
    fn start(root: &Path, ask: &ProfileRequest) -> Result<Self, NotAvailable> {
        one_namespace()?;
        let mut spaces = Spaces::new(ask.whose == ProcessFilter::All);
        let own = program_parent();
        let config = ProfileConfig {
            period_ns: (1e9 / ask.rate_hz) as u64,
            short_ns: SHORT_NS,
            root: if ask.whose == ProcessFilter::Children { own } else { 0 },
            all: u8::from(ask.whose == ProcessFilter::All),
            off_cpu: u8::from(ask.off_cpu),
            ..ProfileConfig::default()
        };
        let began = SystemTime::now();
        // Record changes first, then list the existing state, so that nothing between is missed.
        let changes = Changes::open()?;
        let mut probes = ProfileProbes::start(root, config, ask)?;
        let began_ns = assay_system::clock::monotonic_ns();
        match &ask.whose {
            ProcessFilter::Children => spaces.follow(own),
            ProcessFilter::Processes(pids) => {
                for pid in with_descendants(pids)? {
                    spaces.follow(pid);
                    probes.follow(pid);
                }
            }
            ProcessFilter::All => processes().into_iter().for_each(|pid| spaces.follow(pid)),
        }
        if ask.off_cpu && ask.whose != ProcessFilter::Children {
            probes.iterate("there")?;
        }
        Ok(Profiler {
            probes,
            changes,
            spaces,
            symbols: Symbols::new(root, began),
            waiting: Vec::new(),
            unwound: UnwoundStacks::new(config.period_ns, ask.room),
            unwind: ask.unwind,
            window: Window::default(),
            rate_hz: ask.rate_hz,
            off_cpu: ask.off_cpu,
            began_ns,
            ended_ns: None,
        })
    }

    fn look(&mut self, last: bool) {
        // Samples copied before the last poll: the maps of their programs are known by now.
        let mut raws = std::mem::replace(&mut self.waiting, self.probes.raws());
        for change in self.changes.take(last) {
            self.spaces.take(change);
        }
        if last {
            raws.append(&mut self.waiting);
        }
        for raw in raws {
            let stack = raw.group.user_stack;
            if self.unwound.unwind(raw, &self.spaces) == Pointers::Whole
                && self.unwind == Unwind::Auto
            {
                self.probes.is_whole(stack);
            }
        }
    }
}

impl RunningProfiler for Profiler {
    fn poll(&mut self) {
        self.look(false);
    }

    fn begin(&mut self) {
        self.window.begin();
        self.window.hand_to(&mut self.probes.ebpf);
    }

    fn end(&mut self) {
        self.window.end();
        self.window.hand_to(&mut self.probes.ebpf);
    }

    fn stop(&mut self) {
        if self.ended_ns.is_none() {
            self.probes.look_at_waiting();
            self.ended_ns = Some(assay_system::clock::monotonic_ns());
            unload(&mut self.probes.ebpf);
            self.look(true);
        }
    }

    fn profile(&mut self) -> Profile {
        if self.ended_ns.is_none() {
            self.probes.look_at_waiting();
        }
        let end = self.window.end_or(self.ended_ns);
        let begin = self.window.begin_ns.max(self.began_ns);
        let n = |what| count(&self.probes.ebpf, what);
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
                stacks: n(counter::LOST_STACKS) + self.unwound.lost_stacks,
                threads: n(counter::LOST_TASKS),
                mappings: self.changes.lost,
                hidden_ns: 0,
            },
            ..Profile::default()
        };
        let mut gather = ProfileBuilder::new(
            &mut self.symbols,
            &self.spaces,
            self.probes.stacks().into_iter().chain(self.unwound.stacks()).collect(),
            self.changes.lost > 0,
        );
        let measured = u8::from(self.window.begin_ns > 0);
        for (group, amount) in self.probes.groups().into_iter().chain(self.unwound.groups()) {
            if group.measured == measured {
                gather.add(&group, amount.n, amount.ns);
            }
        }
        for (_, task) in self.probes.tasks() {
            still(&task, self.window.begin_ns, end, &mut gather);
        }
        gather.finish(&mut profile);
        profile.notes.extend(self.unwound.notes(&self.spaces, n(counter::LOST_UNWINDS)));
        if n(counter::SHORT_WAITS) > 0 {
            profile.notes.push(format!(
                "{} waits were shorter than {} µs; {} of them, sampled in proportion to their \
                 length, represent all: the time of their stacks is an estimate",
                n(counter::SHORT_WAITS),
                SHORT_NS / 1000,
                n(counter::CHOSEN_WAITS)
            ));
        }
        if self.unwind != Unwind::FramePointers && !self.probes.unwinds() {
            profile.notes.push(
                "stacks were unwound by frame pointers: DWARF needs Linux 5.15 on x86-64 or arm64"
                    .to_owned(),
            );
        }
        let pointers = self.unwind == Unwind::FramePointers || !self.probes.unwinds();
        if pointers && cfg!(target_arch = "aarch64") {
            profile.notes.push(SKIPPED_CALLERS.to_owned());
        }
        profile
    }

    fn read(&self) -> usize {
        self.symbols.read()
    }
}

/// Adds the time of a thread that still exists since the probes last saw it.
fn still(task: &FollowedThread, begin: u64, end: u64, gather: &mut ProfileBuilder<'_>) {
    let clip = |from: u64, to: u64| to.min(end).saturating_sub(from.max(begin));
    let group = StackGroup {
        kernel_stack: task.kernel_stack,
        user_stack: task.user_stack,
        tgid: task.tgid,
        generation: task.generation,
        comm: task.comm,
        state: task.state,
        ..StackGroup::default()
    };
    let exact = StackGroup { state: state::ON_CPU_EXACT, ..group };
    gather.add(&exact, 1, task.exact_ns[usize::from(begin > 0)]);
    if task.state == state::ON_CPU {
        gather.add(&exact, 1, clip(task.since_ns, end));
        return;
    }
    let woken = if task.woken_ns > 0 { task.woken_ns } else { end };
    gather.add(&group, 1, clip(task.since_ns, woken));
    gather.add(&StackGroup { state: state::RUNNABLE, ..group }, 1, clip(woken, end));
}

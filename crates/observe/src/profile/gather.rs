//! Builds a profile with function names from the aggregated groups of stacks.

use std::collections::HashMap;

use assay_traces::profile::{Builder, Frame, FrameKind, Profile, ThreadState, ThreadTime, reason};

use super::abi::{DEPTH, NO_ROOM, StackGroup, state};
use super::spaces::Spaces;
use super::symbols::Symbols;
use crate::processes::thread_name;

/// A profile under construction.
pub(super) struct ProfileBuilder<'s> {
    symbols: &'s mut Symbols,
    spaces: &'s Spaces,
    stacks: HashMap<u64, Box<[u64]>>,
    /// Frames of each kernel stack, outermost first.
    kernel: HashMap<u64, Vec<u32>>,
    /// Frames of each program stack, outermost first.
    user: HashMap<(u32, u32, u64, bool), Vec<u32>>,
    builder: Builder,
    cpu: HashMap<String, u64>,
    deep: u64,
    mappings_lost: bool,
}

impl<'s> ProfileBuilder<'s> {
    /// Starts a profile; `stacks` maps stack ids to addresses, innermost first.
    pub fn new(
        symbols: &'s mut Symbols,
        spaces: &'s Spaces,
        stacks: HashMap<u64, Box<[u64]>>,
        mappings_lost: bool,
    ) -> Self {
        symbols.begin();
        ProfileBuilder {
            symbols,
            spaces,
            stacks,
            kernel: HashMap::new(),
            user: HashMap::new(),
            builder: Builder::default(),
            cpu: HashMap::new(),
            deep: 0,
            mappings_lost,
        }
    }

    /// Adds the time of a group.
    pub fn add(&mut self, group: &StackGroup, count: u64, ns: u64) {
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
            state::ON_CPU => ThreadState::OnCpu,
            state::RUNNABLE => ThreadState::Runnable,
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
                Frame { name: Some(name.to_owned()), module: String::new(), kind: FrameKind::User };
            frames = vec![self.builder.frame(&frame)];
        }
        self.builder.add(&thread, state, frames, count, ns);
    }

    /// Returns the addresses of a stack, innermost first.
    fn raw(&self, stack: u64) -> impl Iterator<Item = u64> + '_ {
        self.stacks.get(&stack).into_iter().flat_map(|s| s.iter().copied())
    }

    fn user(&mut self, group: &StackGroup, exact: bool) -> Vec<u32> {
        let key = (group.tgid, group.generation, group.user_stack, exact);
        if let Some(frames) = self.user.get(&key) {
            return frames.clone();
        }
        let mut addresses: Vec<u64> = self.raw(group.user_stack).collect();
        // A register that is not a frame pointer leads to data, often in circles.
        if !self.mappings_lost
            && let Some(data) = self.spaces.first_data(group.tgid, group.generation, &addresses)
        {
            addresses.truncate(data);
        }
        self.deep += u64::from(addresses.len() == DEPTH);
        let mut frames = Vec::new();
        for (at, address) in addresses.iter().enumerate().rev() {
            let called = at > 0 || !exact;
            let of = (group.tgid, group.generation);
            for frame in self.symbols.user(self.spaces, of, *address, called) {
                frames.push(self.builder.frame(&frame));
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
        // The scheduler's functions, and the profiler within them, are innermost in every wait and
        // carry no information.
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
        let numbers: Vec<u32> = frames.iter().map(|f| self.builder.frame(f)).collect();
        self.kernel.insert(stack, numbers.clone());
        numbers
    }

    /// Writes stacks, notes and CPU times to a profile.
    pub fn finish(self, profile: &mut Profile) {
        profile.notes = self.symbols.notes(self.spaces);
        if self.deep > 0 {
            profile.notes.push(format!(
                "{} stacks reached the depth limit ({DEPTH} functions): their outermost functions \
                 are missing",
                self.deep
            ));
        }
        profile.cpu = self.cpu.into_iter().map(|(thread, ns)| ThreadTime { thread, ns }).collect();
        profile.cpu.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.thread.cmp(&b.thread)));
        self.builder.finish(profile);
    }
}
